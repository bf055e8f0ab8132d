/** Calls with an `Idempotency-Key` while what knows of the key, or runs the call, fails: none runs twice without a word. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { gateway } from './broken-gateway.ts';
import type { Reply } from './client.ts';
import { expectComplete, expectDegraded } from './expect-reply.ts';
import { eventually } from './own-gateway.ts';

describe('idempotency keys', () => {
  function keyed(stream = false) {
    const marker = randomUUID();
    const sim = { 'idempotency-key': randomUUID(), 'x-sim-marker': marker };
    return {
      ask: (more: Readonly<Record<string, string>> = {}) => gateway.client.chat({ stream, sim: { ...sim, ...more } }),
      /** The provider keeps the reply until it is released. */
      askHeld: () => gateway.client.chat({ stream, sim: { ...sim, 'x-sim-hold': 'start' } }),
      release: () => gateway.client.release(marker),
      asked: () => gateway.client.reachedProvider(marker),
    };
  }
  const told = ({ headers }: Reply) => headers.get('idempotent-reexecuted');
  const replayed = ({ headers }: Reply) => headers.get('idempotent-replayed');

  test.each([false, true])(
    'a sidecar killed in the middle of a call frees its key, and who calls again is told (stream: %s)',
    async (stream) => {
      const { ask, asked, askHeld, release } = keyed(stream);
      const first = askHeld();
      await eventually('the provider to have the call', async () => (await asked()) === 1);
      gateway.kill('receipt-sidecar');
      await release();
      expectDegraded(await first);
      await gateway.whole();
      // It waits until the lease of the dead one is over.
      const again = await ask();
      expectComplete(again);
      expect([told(again), replayed(again)]).toEqual(['provider-may-have-been-asked', null]);
      const third = await ask();
      expect([third.text, replayed(third), told(third)]).toEqual([again.text, 'true', told(again)]);
      expect(await asked()).toBe(2);
    },
  );

  test.each([false, true])(
    'a call that runs again is told so, even if its own sidecar does not finish it (stream: %s)',
    async (stream) => {
      const { ask, asked, askHeld, release } = keyed(stream);
      expect((await ask({ 'x-sim-fault': 'status-400' })).status).toBe(400);
      const again = askHeld();
      await eventually('the provider to have the call', async () => (await asked()) === 2);
      gateway.kill('receipt-sidecar');
      await release();
      expectDegraded(await again);
      expect(told(await again)).toBe('provider-may-have-been-asked');
      await gateway.whole();
    },
  );

  test('without Valkey no call with a key runs, and all others do', async () => {
    const { ask, asked } = keyed();
    const expectUnavailable = (reply: Reply) =>
      expect([reply.status, reply.json]).toMatchObject([503, { error: { code: 'idempotency_unavailable' } }]);
    const go = gateway.pause('valkey');
    expectUnavailable(await ask());
    go();
    await gateway.whole();
    await gateway.killForGood('valkey');
    for (let times = 0; times < 3; times += 1) expectUnavailable(await ask());
    expectComplete(await gateway.client.chat());
    expect(await asked()).toBe(0);
    await gateway.start('valkey');
    await eventually('the key to be taken', async () => (await ask()).status === 200);
    expect(replayed(await ask())).toBe('true');
    expect(await asked()).toBe(1);
  });

  test('a reply that Valkey cannot take arrives, and who calls again is told', async () => {
    const { ask, asked, askHeld, release } = keyed();
    const first = askHeld();
    await eventually('the provider to have the call', async () => (await asked()) === 1);
    await gateway.killForGood('valkey');
    await release();
    expect((await first).status).toBe(200);
    await gateway.start('valkey');
    let again = await ask();
    await eventually('Valkey to be asked again', async () => {
      if (again.status === 503) again = await ask();
      return again.status !== 503;
    });
    expect([again.status, told(again)]).toEqual([200, 'provider-may-have-been-asked']);
    expect(await asked()).toBe(2);
  });
});
