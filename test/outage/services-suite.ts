/**
 * Killed and paused services, with calls under way.
 *
 * Before a provider is asked a call ends in `overloaded`; afterwards its completion arrives, with a degraded receipt
 * if need be, and the ledger ends up with the very receipt that the client saw.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { leaseLifeMs } from '@gw/contract/internal/lease';
import type { Receipt } from '@gw/contract/receipt';
import { Prisma } from '@gw/prisma/client';
import { isLongRun } from '@gw/testing/cases';
import { firstVersions } from '@gw/testing/control-plane/calls';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { gateway } from './broken-gateway.ts';
import type { Call, Reply } from './client.ts';
import { expectComplete, expectDegraded, expectError, expectOverloaded } from './expect-reply.ts';
import { instancesOf } from './instances.ts';
import { eventually } from './own-gateway.ts';

describe('services that fail', () => {
  /** The receipts that clients saw in this file; the last test looks for them in the ledger. */
  const seen: Receipt[] = [];

  const note = (reply: Reply): Reply => {
    if (reply.receipt) seen.push(reply.receipt);
    return reply;
  };

  let markers = 0;
  const newMarker = () => {
    markers += 1;
    return `held-${markers}`;
  };

  /** Calls that the provider holds until they are released, and a promise that it has got them. */
  function held(start: (sim: Record<string, string>) => Promise<Reply>[]) {
    const marker = newMarker();
    const replies = start({ 'x-sim-hold': 'start', 'x-sim-marker': marker });
    const arrived = eventually(
      'the provider to have the calls',
      async () => (await gateway.client.reachedProvider(marker)) >= replies.length,
    );
    return { replies, arrived, release: () => gateway.client.release(marker) };
  }

  /** Calls that have got as far as a service that stands still. */
  async function inHands(service: 'ext-authz' | 'receipt-sidecar', start: () => Promise<Reply>[]) {
    const given = async () => (await instancesOf(gateway.stack, service)).reduce((sum, { calls }) => sum + calls, 0);
    const before = await given();
    const replies = start();
    await eventually('the service to have the calls', async () => (await given()) >= before + replies.length);
    return replies;
  }

  /** All endpoints, and the two that stream. */
  const everyKind = (sim: Record<string, string>): Promise<Reply>[] => {
    const { client } = gateway;
    return [
      client.chat({ sim }),
      client.completion({ sim }),
      client.embedding({ sim }),
      client.chat({ sim, stream: true }),
      client.completion({ sim, stream: true }),
    ];
  };

  const wordy = { 'x-sim-tokens': '60', 'x-sim-tokens-per-second': '40' };
  /** A slow stream during which `strike` happens once, after a few events; its second half comes after that. */
  async function struckStream(strike: () => void, sim: Call['sim'] = wordy): Promise<Reply> {
    const marker = newMarker();
    let struck = false;
    return gateway.client.chat({
      stream: true,
      sim: { ...sim, 'x-sim-hold': 'middle', 'x-sim-marker': marker },
      onText: (text) => {
        if (struck || text.split('\n\n').length < 8) return;
        struck = true;
        strike();
        // A provider that was struck itself hears nothing.
        gateway.client.release(marker).catch(() => undefined);
      },
    });
  }
  const undisturbed = () =>
    gateway.client.chat({ stream: true, sim: { 'x-sim-tokens': '60', 'x-sim-tokens-per-second': '0' } });

  describe('ext-authz', () => {
    /** Earlier leases admit calls without ext-authz. */
    const leasesEnd = () => delay(leaseLifeMs);

    test('killed with a call in its hands: refused by us, and no provider is asked', async () => {
      gateway.pause('ext-authz');
      await leasesEnd();
      const sim = { 'x-sim-marker': 'authz-killed' };
      const replies = await inHands('ext-authz', () => [gateway.client.chat({ sim })]);
      gateway.kill('ext-authz');
      for (const reply of await Promise.all(replies)) expectOverloaded(reply);
      expect(await gateway.client.reachedProvider('authz-killed')).toBe(0);
      await gateway.whole();
    });

    test('away: overloaded at each endpoint, JSON or stream; back: calls pass', async () => {
      await gateway.killForGood('ext-authz');
      await leasesEnd();
      for (const reply of await Promise.all(everyKind({}))) expectOverloaded(reply);
      expectOverloaded(await gateway.client.get('/v1/models'));
      await gateway.start('ext-authz');
    });

    test('standing still, as when it has too much to do: overloaded within Envoy’s patience, and calls pass when it goes on', async () => {
      const goOn = gateway.pause('ext-authz');
      await leasesEnd();
      expectOverloaded(await gateway.client.chat());
      goOn();
      await gateway.whole();
    });

    test('killed after the provider was asked: nothing happens to the call', async () => {
      const { replies, arrived, release } = held(everyKind);
      await arrived;
      gateway.kill('ext-authz');
      await release();
      for (const reply of await Promise.all(replies)) expectComplete(note(reply));
      await gateway.whole();
    });
  });

  describe('receipt-sidecar, before the provider is asked', () => {
    test('killed with a call in its hands: overloaded, and no provider is asked', async () => {
      gateway.pause('receipt-sidecar');
      const replies = await inHands('receipt-sidecar', () => everyKind({ 'x-sim-marker': 'sidecar-killed' }));
      gateway.kill('receipt-sidecar');
      for (const reply of await Promise.all(replies)) expectOverloaded(reply);
      expect(await gateway.client.reachedProvider('sidecar-killed')).toBe(0);
      await gateway.whole();
    });

    test('away: overloaded, and other routes pass; back: calls pass', async () => {
      await gateway.killForGood('receipt-sidecar');
      for (const reply of await Promise.all(everyKind({}))) expectOverloaded(reply);
      expect((await gateway.client.get('/v1/models')).status).toBe(200);
      await gateway.start('receipt-sidecar');
    });

    test('standing still: overloaded, no provider is asked, and calls pass when it goes on', async () => {
      const goOn = gateway.pause('receipt-sidecar');
      expectOverloaded(await gateway.client.chat({ sim: { 'x-sim-marker': 'sidecar-still' } }));
      goOn();
      await gateway.whole();
      expect(await gateway.client.reachedProvider('sidecar-still')).toBe(0);
    });

    if (isLongRun)
      test('standing still in the midst of many calls: who was told that nothing was sent has no receipt', async () => {
        const from = new Date();
        const given = async () => (await instancesOf(gateway.stack, 'receipt-sidecar'))[0]?.calls ?? 0;
        const refused: Reply[] = [];
        const answered: Reply[] = [];
        // Each at another moment: now and then it stands still in the very turn in which it hands calls over.
        // Where all calls were handed over first, which a quick sidecar does, it is struck again.
        for (let round = 0; round < 4 || (refused.length === 0 && round < 8); round += 1) {
          const before = await given();
          const asked = Array.from({ length: 80 }, () => gateway.client.chat({ stream: true }));
          while ((await given()) < before + 40) await delay(1);
          await delay(10 * (round % 4));
          const goOn = gateway.pause('receipt-sidecar');
          const replies = await Promise.all(asked);
          goOn();
          expect(replies.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
          refused.push(...replies.filter(({ status }) => status === 503));
          answered.push(...replies.filter(({ status }) => status === 200));
          await gateway.whole();
        }
        expect(refused.length).toBeGreaterThan(0);
        for (const reply of refused) expectOverloaded(reply);
        for (const reply of answered) note(reply);
        // It waits two seconds for the word of the access log.
        await delay(5000);
        const recorded = async () => {
          const rows = await firstVersions(gateway.db, Prisma.sql`r.created_at >= ${from}`);
          return new Set<string | null>(rows.map(({ body }) => body.request_id));
        };
        const requestIds = (some: readonly Reply[]) => some.map(({ headers }) => headers.get('x-request-id'));
        await eventually(
          'the receipts of the others',
          async () => {
            const known = await recorded();
            return requestIds(answered).every((name) => known.has(name));
          },
          60_000,
        );
        const known = await recorded();
        expect(requestIds(refused).filter((name) => name === null || known.has(name))).toEqual([]);
      });
  });

  describe('receipt-sidecar, after the provider was asked', () => {
    test('killed while the provider works: every completion arrives, with a degraded receipt', async () => {
      const plain = await Promise.all(everyKind({}));
      // The provider's own headers make no difference.
      const { replies, arrived, release } = held((sim) => everyKind({ ...sim, 'x-sim-fault': 'own-headers' }));
      await arrived;
      gateway.kill('receipt-sidecar');
      await release();
      for (const [at, reply] of (await Promise.all(replies)).entries()) {
        expectDegraded(note(reply));
        expect(reply.content).toBe(plain[at]?.content);
        if (reply.events.length > 0) expectReceiptBeforeDone(reply);
      }
      await gateway.whole();
    });

    test('away until the calls have ended: the same, and the ledger learns of it without the sidecar', async () => {
      const { replies, arrived, release } = held(everyKind);
      await arrived;
      await gateway.killForGood('receipt-sidecar');
      await release();
      const ids = (await Promise.all(replies)).map((reply) => expectDegraded(note(reply)));
      // Long before the leases are over: Envoy has told ext-authz too.
      const where = { id: { in: ids } };
      await eventually(
        'the ledger to know',
        async () => (await gateway.db.receipt.count({ where })) === ids.length,
        15_000,
      );
      await gateway.start('receipt-sidecar');
    });

    if (isLongRun)
      test('away until the calls have ended, and Valkey too since before they began: the ledger learns of it once Valkey is back', async () => {
        await gateway.killForGood('valkey');
        const failing = held((sim) => [gateway.client.chat({ sim: { ...sim, 'x-sim-fault': 'status-500' } })]);
        const { replies, arrived, release } = held(everyKind);
        await Promise.all([arrived, failing.arrived]);
        await gateway.killForGood('receipt-sidecar');
        await Promise.all([release(), failing.release()]);
        const ids = (await Promise.all(replies)).map((reply) => expectDegraded(note(reply)));
        // No receipt is in an error, but there was a call.
        const [failed] = await Promise.all(failing.replies);
        expect(failed).toMatchObject({ status: 502, receipt: null });
        ids.push(String(failed?.headers.get('x-gw-receipt-id')));
        await gateway.mend();
        const where = { id: { in: ids } };
        await eventually('the ledger to know', async () => (await gateway.db.receipt.count({ where })) === ids.length);
      }, 90_000);

    test('killed in the middle of a stream: no chunk is lost, and the receipt comes before [DONE]', async () => {
      const whole = note(await undisturbed());
      const reply = note(await struckStream(() => gateway.kill('receipt-sidecar')));
      expectDegraded(reply);
      expect(reply.content).toBe(whole.content);
      expectReceiptBeforeDone(reply);
      expect(reply.events.at(-1)).toMatchObject(namesOf(reply));
      await gateway.whole();
    });

    const unended = ['no-done', 'no-done,split'];
    if (isLongRun)
      test.each(unended)('the same where the stream ends without [DONE] (%s)', async (fault) => {
        const whole = await undisturbed();
        const sim = { ...wordy, 'x-sim-fault': fault };
        const reply = note(await struckStream(() => gateway.kill('receipt-sidecar'), sim));
        expectDegraded(reply);
        expect(reply.content).toBe(whole.content);
        expect(reply.events.at(-1)).toMatchObject({ ...namesOf(reply), gw: { id: reply.receipt?.id } });
        expect(reply.text).not.toContain('[DONE]');
        await gateway.whole();
      });

    test('standing still while the provider works: every completion arrives, with a degraded receipt', async () => {
      // From then on first attempts go straight to the provider.
      expectComplete(await gateway.client.chat());
      await delay(5100);
      const { replies, arrived, release } = held(everyKind);
      await arrived;
      const goOn = gateway.pause('receipt-sidecar');
      await release();
      const done = await Promise.all(replies);
      goOn();
      for (const reply of done) expectDegraded(note(reply));
      await gateway.whole();
    });

    if (isLongRun)
      test('standing still for less than Envoy’s patience: every call that it holds keeps its full receipt', async () => {
        const { replies, arrived, release } = held(everyKind);
        await arrived;
        const goOn = gateway.pause('receipt-sidecar');
        await release();
        // The sidecar hangs for four of the five seconds that Envoy waits from now on.
        await delay(4000);
        goOn();
        for (const reply of await Promise.all(replies)) expectComplete(note(reply));
      });

    // While the provider works, streams are among the calls too.
    if (isLongRun)
      test('standing still in the middle of a stream: no chunk is lost', async () => {
        const whole = await undisturbed();
        let goOn = () => {};
        const reply = note(
          await struckStream(() => {
            goOn = gateway.pause('receipt-sidecar');
          }),
        );
        goOn();
        expectDegraded(reply);
        expect(reply.content).toBe(whole.content);
        expectReceiptBeforeDone(reply);
        await gateway.whole();
      });
  });

  describe('control-plane', () => {
    test('killed in mid-call, and away: calls pass with their receipts; its own reads answer overloaded', async () => {
      const { replies, arrived, release } = held(everyKind);
      await arrived;
      await gateway.killForGood('control-plane');
      await release();
      for (const reply of await Promise.all(replies)) expectComplete(note(reply));
      for (const reply of await Promise.all(everyKind({}))) expectComplete(note(reply));
      expectOverloaded(await gateway.client.get('/v1/models'));
      await gateway.start('control-plane');
      await eventually('the models', async () => (await gateway.client.get('/v1/models')).status === 200);
    });
  });

  describe('the provider', () => {
    test('killed in mid-call, and away: upstream_error with a receipt that says so', async () => {
      const { replies, arrived } = held(everyKind);
      await arrived;
      await gateway.killForGood('simulator');
      for (const reply of await Promise.all(replies)) await expectUpstreamError(reply);
      await expectUpstreamError(await gateway.client.chat());
      await gateway.start('simulator');
    });

    test('killed in the middle of a stream: the stream breaks off, and a receipt counts what came', async () => {
      const reply = await struckStream(() => gateway.kill('simulator'));
      expect(reply).toMatchObject({ status: 200, broken: true, receipt: null });
      const id = reply.headers.get('x-gw-receipt-id') ?? '';
      await gateway.start('simulator');
      const stored = await gateway.ledger.receipts([id]);
      expect(stored.get(id)).toMatchObject({ id, status: 'upstream_error', usage_source: 'estimated' });
    });
  });

  // The ends of calls have one of these in each run.
  if (isLongRun)
    test('Envoy killed in mid-call: the connections break, and each call still leaves a receipt', async () => {
      const since = new Date();
      const { replies, arrived } = held(everyKind);
      await arrived;
      gateway.kill('envoy');
      for (const outcome of await Promise.allSettled(replies)) expect(outcome.status).toBe('rejected');
      await eventually('a receipt of each call', async () => {
        const { rows } = await gateway.ledger.count(since);
        return rows === replies.length;
      });
      await eventually('Envoy to be back', async () => (await gateway.client.get('/v1/models')).status === 200);
      await gateway.whole();
    });

  test('the ledger holds every receipt that a client saw in this file, as the client saw it', async () => {
    const stored = async () => {
      const found = await gateway.ledger.receipts(seen.map(({ id }) => id));
      return seen.map(({ id }) => found.get(id));
    };
    // Entries that a killed control plane had read are taken over after 30 s. Until then the ledger may hold the receipt of a
    // hung sidecar for a call whose client was shown another one.
    await expect.poll(stored, { interval: 500, timeout: 75_000 }).toEqual(seen);
  }, 170_000);

  /** Fields that all chunks of a stream share. */
  function namesOf({ events }: Reply) {
    const names = z.object({ id: z.string(), object: z.string(), created: z.number(), model: z.string() });
    return names.parse(events[0]);
  }

  function expectReceiptBeforeDone(reply: Reply): void {
    const events = reply.text.trimEnd().split('\n\n');
    expect(events.at(-1)).toBe('data: [DONE]');
    expect(events.at(-2)).toContain(reply.receipt?.id);
  }

  async function expectUpstreamError(reply: Reply): Promise<void> {
    expectError(reply, 502, 'inference_error', 'upstream_error');
    const id = reply.headers.get('x-gw-receipt-id') ?? '';
    const stored = await gateway.ledger.receipts([id]);
    expect(stored.get(id)).toMatchObject({
      id,
      status: 'upstream_error',
      degraded_reason: 'upstream_error_unmeasured',
    });
  }
});
