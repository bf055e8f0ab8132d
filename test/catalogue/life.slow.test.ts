/**
 * The life of a provider in the catalogue, from the outside: what the documentation tells operators to type takes effect on
 * calls, receipts and lists while the gateway runs, and is undone again.
 */
import { readFileSync } from 'node:fs';
import { modelListSchema, regionSchema } from '@gw/contract/catalogue';
import { type Receipt, receiptSchema } from '@gw/contract/receipt';
import type { CallFacts } from '@gw/methodology/assess';
import { openDatabase } from '@gw/prisma/client';
import { inCheckout } from '@gw/stack/checkout';
import { factsOf, rowsOf } from '@gw/testing/control-plane/calls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { run } from '../cli/gateway-of-its-own.ts';
import { apiOf, operatorVariables, removeEntries } from '../operator-api.ts';
import { additionsOf, eventually, get, messages, openAi, receiptOf, stack } from '../sdk/gateway.ts';

const model = 'acme/m-1';
const page = readFileSync(inCheckout('docs/catalogue.md'), 'utf8');
const [, block = ''] = /^```sh\n([\s\S]*?)^```/m.exec(page) ?? [];
// The provider of the page is the simulator here, by the one name that it knows, and takes no credential.
const lines = block
  .replaceAll('https://llm.example.com/v1', `${stack.simulatorUrl}/v1`)
  .replaceAll(' --credential ACME', '')
  .replaceAll('m-1-instruct', 'sim-small')
  .trim()
  .split('\n');
const operator = apiOf(stack);
const env = { ...process.env, ...operatorVariables(stack) };

async function shell(line: string): Promise<string> {
  const { code, err, out } = await run('sh', ['-c', line], env);
  expect(code, `${line}: ${err}`).toBe(0);
  return out;
}
const line = (beginning: string): string => {
  const found = lines.find((each) => each.startsWith(`./gw admin ${beginning}`));
  if (found === undefined) throw new Error(`The page has no line ${beginning}.`);
  return found;
};
const typed = (beginning: string) => shell(line(beginning));

const call = (region?: string) =>
  openAi().chat.completions.create({ model, messages, max_tokens: 8, ...(region && { gw: { region } }) });
/** `200`, or the code of the error. */
const outcome = (region?: string): Promise<string> =>
  call(region).then(
    () => '200',
    (error) => String(error.code),
  );
const becomes = (wanted: string, region?: string) =>
  eventually(`a call to be answered with ${wanted}`, async () => ((await outcome(region)) === wanted ? true : null));
const stored = async (id: string): Promise<Receipt> => receiptSchema.parse((await get(`/v1/gw/receipts/${id}`)).body);

/** The facts of each version. */
async function storedFacts(id: string): Promise<(CallFacts | null)[]> {
  const db = openDatabase(stack.databaseUrl, { connections: 1 });
  try {
    return await factsOf(db, await rowsOf(db, id));
  } finally {
    await db.$disconnect();
  }
}

/** Other tests write into the operators' chain too: what counts is what came since. */
const auditSchema = z.object({ data: z.array(z.object({ seq: z.number(), action: z.string() })) });

/** Even after a run that was cut off. */
const clear = () =>
  removeEntries(
    operator,
    ...['deployments/acme-pl', 'models/acme/m-1', 'models/acme/m-2', 'regions/pl-east', 'providers/acme'],
  );
beforeAll(clear);
afterAll(clear);

test('what the page tells to type brings a provider into service, steers it, and takes it out again', async () => {
  const before = auditSchema.parse(JSON.parse(await shell('./gw admin audit list --limit 1 --json'))).data[0]?.seq ?? 0;
  await typed('providers add');
  await typed('regions add');
  await typed('models add');
  await typed('deployments add');
  await becomes('200');
  const reply = await call('pl-east');
  const receipt = receiptOf(reply);
  expect(receipt).toMatchObject({
    model,
    provider: 'acme',
    region: 'pl-east',
    grid_zone: 'POL',
    pue: 1.2,
    tier: 'parametric',
    grid_temporal_match: 'annual_fallback',
    status: 'complete',
  });
  expect(receipt.carbon_g).toBeGreaterThan(0);
  expect(additionsOf(reply).routing_trace).toMatchObject({
    policy: 'pinned',
    deployment: 'acme-pl',
    region: 'pl-east',
  });
  const listed = modelListSchema.parse((await get('/v1/models')).body).data.find(({ id }) => id === model);
  expect(listed).toMatchObject({ owned_by: 'acme', regions: ['pl-east'], tiers: ['proxy', 'parametric'] });

  await typed('regions set');
  await becomes('region_degraded', 'pl-east');
  expect(regionSchema.parse((await get('/v1/regions/pl-east')).body)).toMatchObject({ status: 'degraded' });
  await shell('./gw admin regions set pl-east --status active');
  await becomes('200', 'pl-east');

  await typed('deployments set');
  await becomes('invalid_model', 'pl-east');
  await typed('deployments remove');
  for (const entry of ['models remove acme/m-1', 'regions remove pl-east', 'providers remove acme'])
    await shell(`./gw admin ${entry}`);
  await eventually('the region to be gone', async () =>
    (await get('/v1/regions/pl-east')).status === 404 ? true : null,
  );
  // The calls of before keep their receipts.
  expect(await stored(receipt.id)).toEqual(receipt);
  const log = auditSchema.parse(JSON.parse(await shell('./gw admin audit list --limit 50 --json')));
  const actions = log.data.filter(({ seq }) => seq > before).map(({ action }) => action);
  expect(actions.filter((action) => /^(provider|region|model|deployment)\./.test(action)).reverse()).toEqual([
    ...['provider.added', 'region.added', 'model.added', 'deployment.added', 'region.changed', 'region.changed'],
    ...['deployment.changed', 'deployment.removed', 'model.removed', 'region.removed', 'provider.removed'],
  ]);
  expect(await shell('./gw admin audit verify')).toContain('no fault');
});

test('a receipt that was degraded for want of parameters is made again once the model has them', async () => {
  await typed('providers add');
  await typed('regions add');
  const id = 'acme/m-2';
  await operator.send('POST', '/operator/v1/models', { id, owned_by: 'acme', kind: 'chat' });
  const deployment = { id: 'acme-pl', provider: 'acme', region: 'pl-east', models: { [id]: 'sim-small' }, pue: 1.2 };
  await operator.send('POST', '/operator/v1/deployments', deployment);
  const ask = () => openAi().chat.completions.create({ model: id, messages, max_tokens: 8 });
  const first = receiptOf(await eventually('a call to be answered', () => ask().catch(() => null)));
  expect(first).toMatchObject({ tier: 'degraded', degraded_reason: 'model_parameters_unknown', recalculable: true });
  await operator.send('PATCH', '/operator/v1/models/acme/m-2', { active_parameters_b: 3, total_parameters_b: 30 });
  const second = await eventually('version 2', async () => {
    const receipt = await stored(first.id);
    return receipt.version === 2 ? receipt : null;
  });
  expect(second).toMatchObject({ tier: 'parametric', supersedes: 1, region: 'pl-east', pue: 1.2 });
  expect(second.energy_wh).toBeGreaterThan(0);
  const [before, after] = await storedFacts(first.id);
  const entered = { catalogueVersion: expect.any(Number), changedBy: 'operator op_first' };
  const site = { entry: entered, regionEntry: entered, pueEvidence: null };
  const grid = { edition: expect.stringContaining(' sha256:') };
  expect([before, after]).toMatchObject([
    { model: { entry: entered, parametersSource: null }, site, grid },
    { model: { entry: entered }, site, grid },
  ]);
  expect(Number(after?.model.entry?.catalogueVersion)).toBeGreaterThan(Number(before?.model.entry?.catalogueVersion));
});
