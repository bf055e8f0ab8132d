/** Two instances of ext-authz and of the sidecar, under 16 connections: one that dies costs nobody a call but those that it held. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from './own-gateway.ts';
import { type Pair, pairOf, type Service } from './pair.ts';
import { gateway } from './paired-gateway.ts';
import { type SteadyCall, type SteadyLoad, startLoad } from './steady-load.ts';

describe('two of each', () => {
  /**
   * Each connection has a call at the provider nearly all the time, and the machine has time for other tests; `./gw test long`
   * does the same at full speed, where ext-authz has calls in its hands too, and lets one stand still.
   */
  const heldMs = 400;
  const connections = 16;
  let pair: Pair;
  const from = new Date();

  beforeAll(async () => {
    pair = pairOf(gateway);
  });

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
    await pair.bothAnswer(service);
    return killedMs;
  }

  async function underLoad<T>(
    change: (load: SteadyLoad) => Promise<T>,
  ): Promise<{ lost: readonly SteadyCall[]; result: T }> {
    const load = startLoad(gateway.stack, heldMs, connections);
    try {
      await Promise.all([
        pair.secondHasAnswered('ext-authz', connections),
        pair.secondHasAnswered('receipt-sidecar', connections),
      ]);
      const result = await change(load);
      const lost = await load.stop();
      console.log(`${load.ended.length} calls; lost: ${JSON.stringify(outcomes(lost))}`);
      return { lost, result };
    } finally {
      await load.stop();
    }
  }

  test('one sidecar of two killed loses the calls that it held, one ext-authz nothing, and each is taken back', async () => {
    const { lost, result: killedMs } = await underLoad(async () => {
      const killed = await killSecond('receipt-sidecar');
      // Its questions are asked again.
      await killSecond('ext-authz');
      return killed;
    });
    // Later calls had at worst a connection to a dead instance, and went to the other one.
    expect(lost.filter(({ beganMs }) => beganMs > killedMs)).toEqual([]);
    expect(lost.length).toBeLessThanOrEqual(connections);
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
    // The second half comes to nobody: else a client that a busy machine keeps waiting leaves behind the end of its stream.
    const left = await each(() => ask({ 'x-sim-hold': 'middle' }, true));
    const cut = await each(() => ask({ 'x-sim-fault': 'cut' }, false));
    const stored = await gateway.ledger.receipts([...left, ...cut]);
    const statusOf = (id: string) => (stored.get(id) as { status: string }).status;
    expect(left.map(statusOf)).toEqual(left.map(() => 'client_aborted'));
    expect(cut.map(statusOf)).toEqual(cut.map(() => 'upstream_error'));
    const { rows, ids } = await gateway.ledger.count(from);
    expect(rows).toBe(ids);
  });
});
