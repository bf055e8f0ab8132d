/** Operators change the catalogue while customers call: none of the calls is lost. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiOf, removeEntries } from '../operator-api.ts';
import { additionsOf, collect, eventually, messages, openAi, receiptOf, stack } from '../sdk/gateway.ts';

const model = 'busy/m-1';
const regions = ['busy-a', 'busy-b'];

const deployment = (region: string, at: number) => {
  const models = { [model]: 'sim-small' };
  return { id: region, provider: 'simulator', region, models, pue: 1.1 + at / 10 };
};
const operator = apiOf(stack);
const each = (kind: string) => regions.map((code) => `${kind}/${code}`);
const clear = () => removeEntries(operator, ...each('deployments'), `models/${model}`, ...each('regions'));

beforeAll(async () => {
  await clear();
  const size = { active_parameters_b: 8, total_parameters_b: 8 };
  await operator.send('POST', '/operator/v1/models', { id: model, owned_by: 'busy', kind: 'chat', ...size });
  for (const [preference, code] of regions.entries())
    await operator.send('POST', '/operator/v1/regions', {
      code,
      name: code,
      country: 'FR',
      grid_zone: 'FRA',
      preference: 90 + preference,
    });
  await operator.send('POST', '/operator/v1/deployments', deployment('busy-b', 1));
  await eventually('the first call', () => ask().catch(() => null));
});
afterAll(clear);

const ask = async (): Promise<string> =>
  String(
    receiptOf(await openAi(stack.keys.enterprise).chat.completions.create({ model, messages, max_tokens: 2 })).region,
  );

/**
 * A reply of some six seconds, in the region that is about to go. Resolves when it has begun, with a wait for its end that
 * says where its receipt places it.
 */
async function slowStream(): Promise<() => Promise<string>> {
  const request = { model, messages, max_tokens: 12, stream: true as const, gw: { region: 'busy-a' } };
  const headers = { 'x-sim-tokens-per-second': '2' };
  const stream = await openAi(stack.keys.enterprise).chat.completions.create(request, { headers });
  const chunks = collect(stream);
  return async () => {
    const receipts = (await chunks).flatMap((chunk) => additionsOf(chunk).gw ?? []);
    expect(receipts).toMatchObject([{ status: 'complete', completion_tokens: 12 }]);
    return String(receipts[0]?.region);
  };
}

test('a region comes, is degraded, comes back and goes: every call of the model is answered, where it should be', async () => {
  const lost: string[] = [];
  let last = '';
  let running = true;
  const customer = async () => {
    while (running)
      await ask().then(
        (region) => {
          last = region;
        },
        (error) => lost.push(String(error)),
      );
  };
  const customers = [1, 2, 3, 4].map(customer);
  const served = (region: string) => eventually(`calls in ${region}`, async () => (last === region ? true : null));
  await served('busy-b');
  await operator.send('POST', '/operator/v1/deployments', deployment('busy-a', 0));
  await served('busy-a');
  await operator.send('PATCH', '/operator/v1/regions/busy-a', { status: 'degraded' });
  await served('busy-b');
  await operator.send('PATCH', '/operator/v1/regions/busy-a', { status: 'active' });
  await served('busy-a');
  const slowRegion = await slowStream();
  await operator.send('DELETE', '/operator/v1/deployments/busy-a');
  await served('busy-b');
  expect(await slowRegion()).toBe('busy-a');
  running = false;
  await Promise.all(customers);
  expect(lost).toEqual([]);
});
