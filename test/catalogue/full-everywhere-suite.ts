/** Two sidecars, of which Envoy tells any one why an attempt failed: where nobody was asked a call ends as that all the same. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { instancesOf } from '../outage/instances.ts';
import { eventually } from '../outage/own-gateway.ts';
import { gateway } from '../outage/paired-gateway.ts';
import { offerIn, startHeldProvider } from './held-provider.ts';

const errorBody = z.looseObject({ error: z.looseObject({ code: z.string() }) });

const lateWord = 'upstream_error with a receipt';

describe('two sidecars, and every deployment full', () => {
  const model = 'full/m';
  const [first, second] = ['full-a', 'full-b'];
  const providers = [startHeldProvider(), startHeldProvider()];

  /** Calls that steer the simulated provider tell nothing of how deployments are. */
  async function ask(options: object = {}) {
    const { keys, publicUrl } = gateway.stack;
    const response = await fetch(`${publicUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys.enterprise}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], gw: options }),
    });
    const reply: unknown = await response.json();
    const { status, headers } = response;
    return { status, reply, receipt: headers.get('x-gw-receipt-id') };
  }
  const answered = async () => (await instancesOf(gateway.stack, 'receipt-sidecar')).map(({ calls }) => calls);

  beforeAll(async () => {
    const deployment = { max_concurrent_requests: 1 };
    const places = await Promise.all(
      [first, second].map(async (region, at) => ({
        region,
        deployment,
        provider: { base_url: (await providers[at])?.origin },
      })),
    );
    await offerIn(model, places, gateway.stack);
    await eventually('both to answer', async () => {
      const tried = await Promise.all([first, second].map((region) => ask({ region })));
      return tried.every(({ status }) => status === 200);
    });
  });
  afterAll(async () => {
    for (const provider of providers) (await provider).stop();
  });

  test('a call is told so by either of them, without a receipt, and none rests for it', async () => {
    const [a, b] = await Promise.all(providers);
    for (const provider of [a, b]) provider?.hold();
    const held = [first, second].map((region) => ask({ region }));
    const before = await answered();
    try {
      await eventually('both to be held', () => a?.waiting() === 1 && b?.waiting() === 1);
      const told = new Map<string, number>();
      for (let call = 0; call < 300; call += 1) {
        const { reply, receipt } = await ask();
        const { code } = errorBody.parse(reply).error;
        const what = `${code}${receipt === null ? '' : ' with a receipt'}`;
        told.set(what, (told.get(what) ?? 0) + 1);
      }
      // Where the word of the first attempt takes longer than it is waited for, it counts as asked (docs/failure-modes.md).
      const { overloaded = 0, [lateWord]: late = 0, ...others } = Object.fromEntries(told);
      expect([overloaded + late, others]).toEqual([300, {}]);
      expect(late).toBeLessThan(10);
    } finally {
      for (const provider of [a, b]) provider?.release();
    }
    for (const call of held) expect(await call).toMatchObject({ status: 200 });
    for (const [at, calls] of (await answered()).entries()) expect(calls - (before[at] ?? 0)).toBeGreaterThan(100);
    // As many as each sidecar gets some of.
    for (let call = 0; call < 8; call += 1)
      expect(await ask()).toMatchObject({ status: 200, reply: { routing_trace: { region: first } } });
  });
});
