/** Which calls Envoy asks ext-authz about although there are leases. */
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { leaseLifeMs, leasePauseMs } from '@gw/contract/internal/lease';
import { leasedBody, leaseOf, leaseTimes, leasingEnvoy, newKey, withTimes } from '@gw/testing/envoy/leases';
import { describe, expect, it } from 'vitest';

const envoy = leasingEnvoy();

describe('the check of the key decides', () => {
  it.each([
    ['there is none', async () => null],
    ['the question for one fails', () => Promise.reject(new Error('is broken'))],
    ['it has no calls', async () => leaseOf(0)],
    ['it cannot be read', async () => ({ ...leaseOf(1), calls: Number.NaN })],
  ])('where %s, and none is asked for again in a while', async (_, answer) => {
    envoy.lease = answer;
    const key = newKey();
    expect(await envoy.inTurn(6, key)).toEqual(Array(6).fill('checked'));
    expect(envoy.leasesAsked).toBe(1);
    await delay(leaseTimes.pauseMs);
    await envoy.inTurn(3, key);
    expect(envoy.leasesAsked).toBe(2);
  });

  it('of a key that it refuses', async () => {
    envoy.lease = async () => null;
    const key = `Bearer bad-${newKey()}`;
    for (let each = 0; each < 4; each += 1) expect((await envoy.call(key)).status).toBe(401);
    expect(envoy.asked.filter((each) => each === `check ${key}`)).toHaveLength(4);
  });

  it.each([
    ['a body whose bytes count', { sent: 'x'.repeat(64 * 1024) }],
    ['a key that nobody has, in length', { key: `Bearer ${'x'.repeat(300)}` }],
  ])('of %s', async (_, { key = newKey(), sent = leasedBody }: { key?: string; sent?: string }) => {
    envoy.lease = async () => leaseOf(1000);
    for (let each = 0; each < 4; each += 1) expect((await envoy.call(key, {}, sent)).caller).toBe('checked');
    expect(envoy.asked).toEqual(Array(4).fill(`check ${key}`));
  });

  it('of a call that names two keys, of which the first one has a lease', async () => {
    envoy.lease = async () => leaseOf(1000);
    const key = newKey();
    await envoy.inTurn(2, key);
    envoy.asked = [];
    const status = await new Promise((resolve, reject) => {
      const headers = ['Host', 'gw', 'Authorization', key, 'Authorization', 'bad', 'Content-Length', '2'];
      const options = { port: envoy.port, host: '127.0.0.1', method: 'POST', path: '/v1/chat/completions', headers };
      const outgoing = request(options, (reply) => {
        reply.resume();
        resolve(reply.statusCode);
      });
      outgoing.on('error', reject);
      outgoing.end('{}');
    });
    expect(status).toBe(401);
    expect(envoy.asked).toEqual([`check ${key},bad`]);
  });

  it('of a body without a length', async () => {
    envoy.lease = async () => leaseOf(1000);
    const key = newKey();
    for (let each = 0; each < 4; each += 1) {
      const sent = new ReadableStream({
        start: (controller) => {
          controller.enqueue(Buffer.from(leasedBody));
          controller.close();
        },
      });
      expect((await envoy.call(key, {}, sent)).caller).toBe('checked');
    }
    expect(envoy.asked).toEqual(Array(4).fill(`check ${key}`));
  });

  it('of many keys that nobody has, and soon no lease is asked for any more', async () => {
    envoy.lease = async () => null;
    const flood = Array.from({ length: 60 }, newKey);
    const rare = withTimes({ pauseMs: 8000 });
    const other = await envoy.another(rare);
    await envoy.on(other, async () => {
      for (const key of flood) expect(await envoy.inTurn(2, key)).toEqual(['checked', 'checked']);
      expect(envoy.leasesAsked).toBe(20);
      // Earlier questions without an answer are forgotten.
      await delay(8000);
      envoy.lease = async () => leaseOf(3);
      expect(await envoy.inTurn(2, newKey())).toEqual(['checked', 'leased']);
    });
  });

  it('of reads', async () => {
    envoy.lease = async () => leaseOf(1000);
    const key = newKey();
    for (let each = 0; each < 3; each += 1)
      await (await fetch(`http://127.0.0.1:${envoy.port}/v1/models`, { headers: { authorization: key } })).text();
    expect(envoy.asked).toEqual(Array(3).fill(`check ${key}`));
  });

  it('of a key that is not busy', async () => {
    envoy.lease = async () => leaseOf(1000);
    const soon = withTimes({ lifeMs: leaseLifeMs, busyMs: 1, pauseMs: leasePauseMs, patienceMs: 300 });
    const other = await envoy.another(soon);
    const key = newKey();
    await envoy.on(other, async () => {
      for (let each = 0; each < 3; each += 1) {
        expect((await envoy.call(key)).caller).toBe('checked');
        await delay(20);
      }
    });
  });

  it('where ext-authz does not say in time', async () => {
    envoy.lease = () => new Promise(() => undefined);
    const hasty = withTimes({ patienceMs: 50 });
    const key = newKey();
    const other = await envoy.another(hasty);
    await envoy.on(other, async () => expect(await envoy.inTurn(3, key)).toEqual(['checked', 'checked', 'checked']));
    expect(envoy.leasesAsked).toBe(1);
  });

  it('of all, where leases are off', async () => {
    envoy.lease = async () => leaseOf(1000);
    const without = await envoy.another(withTimes(), false);
    const key = newKey();
    await envoy.on(without, async () => expect(await envoy.inTurn(5, key)).toEqual(Array(5).fill('checked')));
    expect(envoy.asked).toEqual(Array(5).fill(`check ${key}`));
  });
});
