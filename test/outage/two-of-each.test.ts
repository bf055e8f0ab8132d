/**
 * Two instances of ext-authz and of the sidecar, under 32 connections: one that dies costs nobody a call but those that it
 * held, and one that stands still none that began after Envoy has noticed.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Instance, instancesOf } from './instances.ts';
import { eventually, type OwnGateway, startOwnGateway } from './own-gateway.ts';
import { type SteadyCall, type SteadyLoad, startLoad } from './steady-load.ts';

/** So that each connection has a call under way nearly all the time; `./gw test long` does the same with calls at full speed. */
const heldMs = 400;
let gateway: OwnGateway;
const from = new Date();

beforeAll(async () => {
  gateway = await startOwnGateway({ instances: 2 });
});
afterAll(() => gateway?.stop());

type Service = 'ext-authz' | 'receipt-sidecar';
const look = (service: Service) => instancesOf(gateway.stack, service);
const allIn = (instances: readonly Instance[]) => instances.length === 2 && instances.every(({ isIn }) => isIn);

/** Until the second instance has answered `calls` calls more. */
async function secondHasAnswered(service: Service, calls: number): Promise<void> {
  const before = (await look(service))[1]?.calls ?? 0;
  await eventually(
    `calls for the second ${service}`,
    async () => ((await look(service))[1]?.calls ?? 0) >= before + calls,
  );
}

async function secondIsIn(service: Service, isIn: boolean): Promise<void> {
  const state = isIn ? 'in' : 'out';
  await eventually(`the second ${service} to be ${state}`, async () => (await look(service))[1]?.isIn === isIn);
}

const outcomes = (calls: readonly SteadyCall[]) => {
  const counts = new Map<string, number>();
  for (const { outcome } of calls) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return Object.fromEntries(counts);
};

/** `kill -9` of the second instance; returns when it is back and answers calls again. */
async function killSecond(service: Service): Promise<number> {
  const killedMs = performance.now();
  gateway.kill(`${service}-2`);
  await eventually(`${service}-2 to be started again`, () => gateway.stack.part(`${service}-2`).pid !== null);
  await eventually(`both ${service}`, async () => allIn(await look(service)));
  await secondHasAnswered(service, 20);
  return killedMs;
}

async function underLoad<T>(
  change: (load: SteadyLoad) => Promise<T>,
): Promise<{ lost: readonly SteadyCall[]; result: T }> {
  const load = startLoad(gateway.stack, heldMs);
  try {
    await Promise.all([secondHasAnswered('ext-authz', 32), secondHasAnswered('receipt-sidecar', 32)]);
    const result = await change(load);
    const lost = await load.stop();
    console.log(`${load.ended.length} calls; lost: ${JSON.stringify(outcomes(lost))}`);
    return { lost, result };
  } finally {
    await load.stop();
  }
}

test('one sidecar of two killed loses the calls that it held, and is taken back after its restart', async () => {
  const { lost, result: killedMs } = await underLoad(() => killSecond('receipt-sidecar'));
  // What began later had a connection to a dead one at worst, and went to the other.
  expect(lost.filter(({ beganMs }) => beganMs > killedMs)).toEqual([]);
  expect(lost.length).toBeLessThanOrEqual(32);
});

test('one ext-authz of two killed loses nothing: its questions are asked again', async () => {
  const { lost } = await underLoad(() => killSecond('ext-authz'));
  expect(lost).toEqual([]);
});

test('a sidecar that stands still gets no call once Envoy has noticed, and calls again when it goes on', async () => {
  const { lost, result: noticedMs } = await underLoad(async () => {
    const goOn = gateway.pause('receipt-sidecar-2');
    await secondIsIn('receipt-sidecar', false);
    const noticed = performance.now();
    const load = (await look('receipt-sidecar'))[0]?.calls ?? 0;
    await eventually('calls over the other', async () => ((await look('receipt-sidecar'))[0]?.calls ?? 0) > load + 50);
    goOn();
    await secondIsIn('receipt-sidecar', true);
    await secondHasAnswered('receipt-sidecar', 20);
    return noticed;
  });
  expect(lost.filter(({ beganMs }) => beganMs > noticedMs)).toEqual([]);
});

test('an ext-authz that stands still delays calls and loses none', async () => {
  const { lost } = await underLoad(async () => {
    const goOn = gateway.pause('ext-authz-2');
    await secondIsIn('ext-authz', false);
    const load = (await look('ext-authz'))[0]?.calls ?? 0;
    await eventually('calls over the other', async () => ((await look('ext-authz'))[0]?.calls ?? 0) > load + 50);
    goOn();
    await secondIsIn('ext-authz', true);
    await secondHasAnswered('ext-authz', 20);
  });
  expect(lost).toEqual([]);
});

test('an orderly restart of one of each loses nothing', async () => {
  const { lost } = await underLoad(async () => {
    for (const service of ['receipt-sidecar', 'ext-authz'] as const) {
      await gateway.stack.part(`${service}-2`).restart();
      await eventually(`both ${service}`, async () => allIn(await look(service)));
      await secondHasAnswered(service, 20);
    }
  });
  expect(lost).toEqual([]);
});

test('broken streams leave one receipt each, which says who broke it, whichever sidecar Envoy tells', async () => {
  const ask = async (error: Record<string, string>, breakOff: boolean): Promise<string> => {
    const leaving = new AbortController();
    const response = await fetch(`${gateway.stack.publicUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.stack.keys.enterprise}`,
        'content-type': 'application/json',
        'x-sim-tokens': '40',
        'x-sim-tokens-per-second': '40',
        'x-sim-marker': randomUUID(),
        ...error,
      },
      body: JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'Hello' }], stream: true }),
      signal: leaving.signal,
    });
    const id = response.headers.get('x-gw-receipt-id') ?? '';
    await response.body?.getReader().read();
    if (breakOff) leaving.abort();
    return id;
  };
  const each = <T>(make: () => Promise<T>) => Promise.all(Array.from({ length: 8 }, make));
  const left = await each(() => ask({}, true));
  const cut = await each(() => ask({ 'x-sim-fault': 'cut' }, false));
  const stored = await gateway.ledger.receipts([...left, ...cut]);
  const statusOf = (id: string) => (stored.get(id) as { status: string }).status;
  expect(left.map(statusOf)).toEqual(left.map(() => 'client_aborted'));
  expect(cut.map(statusOf)).toEqual(cut.map(() => 'upstream_error'));
  const { rows, ids } = await gateway.ledger.count(from);
  expect(rows).toBe(ids);
});
