/** One customer's large bodies and replies are read, or refused as too many for now, and stop nobody else's calls. */
import { expect, it } from 'vitest';
import { accountsForFile } from '../sdk/test-account.ts';
import { chatPath, quick, type Reply, send, stack } from './ask.ts';
import { besideTinyCalls, turnsOver } from './long-turns.ts';
import { document, manyNumbers, mib, worstBodies } from './worst-bodies.ts';

const accounts = accountsForFile();

/**
 * 0.025 is promised and held by `test/long/long-turns.test.ts`, on a machine of its own: beside other tests a turn takes twice
 * of its time, since they take turns on the processor's caches too.
 */
const bound = '0.05';

function expectOutcome({ headers, status, text }: Reply, what: string): void {
  if (status === 503) {
    expect(JSON.parse(text).error, what).toMatchObject({ code: 'overloaded', type: 'inference_error' });
    expect(headers['retry-after'], what).toBe('1');
  } else expect([200, 400], `${what}: ${text.slice(0, 300)}`).toContain(status);
}

it('large bodies of the worst kinds are read or refused, and no tiny call of another account fails meanwhile', async () => {
  const [sender, other] = [await accounts.create({ perS: 1000 }), await accounts.create({ perS: 1000 })];
  // Their keys are known from here on, and what a first call has to compile is compiled.
  for (const key of [sender, other]) expect((await send({ key, headers: quick, body: document(10) })).status).toBe(200);
  const bodies = worstBodies.map(({ body, ...what }) => ({ ...what, body: body() }));
  const before = await turnsOver(bound, stack);
  const { value: ended, statuses } = await besideTinyCalls({ key: other }, () => {
    const large = bodies.map(async ({ body, name, path }) =>
      expectOutcome(await send({ key: sender, path, headers: quick, body }), name),
    );
    const batch = Array.from({ length: 30 }, async () =>
      expectOutcome(await send({ key: sender, path: chatPath, headers: quick, body: document(mib) }), 'a document'),
    );
    return Promise.allSettled([...large, ...batch]);
  });
  expect(ended.flatMap((each) => (each.status === 'rejected' ? [String(each.reason).slice(0, 300)] : []))).toEqual([]);
  expect(statuses.length).toBeGreaterThan(0);
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  expect(await turnsOver(bound, stack)).toEqual(before);
});

it('a reply of 50 MB of numbers is read and gets its receipt, and holds the loop of no service', async () => {
  const key = await accounts.create({ perS: 1000 });
  expect((await send({ key, headers: quick, body: document(10) })).status).toBe(200);
  const before = await turnsOver(bound, stack);
  const { value, statuses } = await besideTinyCalls({ key }, () =>
    send({ key, path: '/v1/embeddings', headers: quick, body: manyNumbers }),
  );
  const { headers, status, text } = value;
  expect(statuses.filter((each) => each !== 200)).toEqual([]);
  expect(status, text.slice(0, 300)).toBe(200);
  expect(text.length).toBeGreaterThan(40 * mib);
  expect(text.slice(-6000)).toContain(`"gw":{"id":"${headers['x-gw-receipt-id']}"`);
  expect(text.slice(-6000)).not.toContain('"tier":"degraded"');
  expect(await turnsOver(bound, stack)).toEqual(before);
});
