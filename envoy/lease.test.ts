/** Which calls Envoy lets in by a lease, and which it asks about: a running Envoy, and services that answer just enough. */
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { callerAttribute, callerField } from '@gw/contract/internal/identity';
import { type Lease, leaseBusyMs, leaseLifeMs, leasePauseMs } from '@gw/contract/internal/lease';
import { serveEnvoy } from '@gw/grpc/server';
import type { EnvoyServices, ProcessingRequest, RpcServer } from '@gw/grpc/service';
import { type EnvoyAlone, startEnvoyAlone } from '@gw/testing/envoy/alone';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

/** Longer than a machine stands still. */
const times = { lifeMs: 3000, busyMs: 60_000, pauseMs: 3000, patienceMs: 10_000 };
const replaced = {
  [`= ${leaseLifeMs}, ${leaseBusyMs}, ${leasePauseMs}, 300`]: `= ${Object.values(times).join(', ')}`,
};
const token = 'a-token-of-the-tests-that-is-long-enough';
const dir = mkdtempSync(join(tmpdir(), 'gw-lease-'));
const listen = (name: string) => `unix:${join(dir, `${name}.sock`)}`;
/** What ext-authz was asked, in its order. */
let asked: string[] = [];
/** What it answers when it is asked for a lease. */
let lease: (authorization: string) => Promise<Lease | null> = async () => null;

const extAuthz: EnvoyServices = {
  check: async ({ attributes }) => {
    const key = attributes?.request?.http?.headers?.authorization ?? '';
    asked.push(`check ${key}`);
    if (key.includes('bad')) return { status: { code: 7 }, deniedResponse: { status: { code: 401 as const } } };
    const decided = { header: { key: 'x-gw-limits-decided', value: '1' } };
    return {
      status: { code: 0 },
      okResponse: { headersToRemove: ['authorization'], headers: [decided] },
      dynamicMetadata: { [callerField]: '{"who":"checked"}' },
    };
  },
  grantLease: async ({ authorization, scope }) => {
    asked.push(`lease ${scope} ${authorization}`);
    return lease(authorization);
  },
};

/** Answers each call with what it was told of it. */
const sidecar: EnvoyServices = {
  openProcessor: ({ answer, fail }) => ({
    message: ({ attributes, requestHeaders }: ProcessingRequest) => {
      const told = Object.values(attributes ?? {}).flatMap(
        ({ fields }) => fields?.[callerAttribute]?.stringValue ?? [],
      );
      const names = (requestHeaders?.headers?.headers ?? []).map(({ key }) => key ?? '');
      if (names.includes('x-sidecar-fails')) return fail(new Error('fails'));
      const body = JSON.stringify({ caller: JSON.parse(told[0] ?? '{}').who, names });
      answer({ immediateResponse: { status: { code: 200 }, body: Buffer.from(body), details: 'gw_test' } });
    },
    close: () => undefined,
  }),
};

/** Of these services; with other times, or without leases. */
const startEnvoy = (replace: Readonly<Record<string, string>> = replaced, leases = true) =>
  startEnvoyAlone({ extAuthz: [listen('a')], receiptSidecar: [listen('r')], leases }, replace, {
    GW_INTERNAL_TOKEN: token,
  });

let services: RpcServer[];
let envoy: EnvoyAlone;
beforeAll(async () => {
  const serve = (name: string, offered: EnvoyServices) =>
    serveEnvoy({ listen: listen(name), internalToken: token }, offered, () => undefined);
  services = await Promise.all([serve('a', extAuthz), serve('r', sidecar)]);
  envoy = await startEnvoy(replaced);
}, 60_000);
beforeEach(() => {
  asked = [];
});
afterAll(async () => {
  // A script that fails writes a line, and the check decides: nobody would notice otherwise.
  expect(envoy?.log()).not.toContain('[lua]');
  await envoy?.stop();
  await Promise.all((services ?? []).map((service) => service.close(100)));
  rmSync(dir, { recursive: true, force: true });
});

const body = JSON.stringify({ model: 'm' });
async function call(key: string, headers: Readonly<Record<string, string>> = {}, sent: string | ReadableStream = body) {
  const reply = await fetch(`http://127.0.0.1:${envoy.port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: key, 'content-type': 'application/json', ...headers },
    body: sent,
    ...(typeof sent !== 'string' && { duplex: 'half' as const }),
  });
  const told = reply.status === 200 ? await reply.json() : {};
  const shown = ['limit-requests', 'remaining-day'].map((name) => reply.headers.get(`x-ratelimit-${name}`));
  return { status: reply.status, shown, ...(told as { caller?: string | null; names?: readonly string[] }) };
}
/** Calls go to another Envoy meanwhile, which is stopped then. */
async function on(other: EnvoyAlone, calls: () => Promise<void>): Promise<void> {
  const usual = envoy;
  envoy = other;
  try {
    await calls();
  } finally {
    envoy = usual;
    await other.stop();
  }
}
const leasesAsked = () => asked.filter((each) => each.startsWith('lease')).length;
let keys = 0;
const newKey = () => `Bearer key-${++keys}`;
const leaseOf = (calls: number): Lease => ({
  ...{ calls, accountId: 'acct', keyId: 'key' },
  limits: 'x-ratelimit-limit-requests=7 x-ratelimit-remaining-day=3',
  caller: JSON.stringify({ who: 'leased' }),
});
/** From now on who asks for a lease waits for it; returns what gives it. */
function holdLease(): (granted: Lease) => void {
  let grant: (granted: Lease) => void = () => undefined;
  const held = new Promise<Lease>((resolve) => {
    grant = resolve;
  });
  lease = () => held;
  return grant;
}
const inTurn = async (count: number, key: string) => {
  const callers: unknown[] = [];
  for (let each = 0; each < count; each += 1) callers.push((await call(key)).caller);
  return callers;
};

describe('a lease', () => {
  it('lets as many calls in as it says, and the next one asks for another', async () => {
    lease = async () => leaseOf(3);
    const key = newKey();
    expect(await inTurn(8, key)).toEqual(['checked', ...Array(7).fill('leased')]);
    const question = `lease inference:write ${key}`;
    expect(asked).toEqual([`check ${key}`, question, question, question]);
  });

  it('is over after its time', async () => {
    lease = async () => leaseOf(1000);
    const key = newKey();
    expect(await inTurn(3, key)).toEqual(['checked', 'leased', 'leased']);
    await delay(times.lifeMs);
    expect(await inTurn(2, key)).toEqual(['leased', 'leased']);
    expect(leasesAsked()).toBe(2);
  });

  it('is one of its key alone', async () => {
    lease = async () => leaseOf(1000);
    const [key, other] = [newKey(), newKey()];
    await inTurn(2, key);
    asked = [];
    expect((await call(other)).caller).toBe('checked');
    expect((await call(`${key} `)).caller).toBe('leased');
    expect((await call(`${key}x`)).caller).toBe('checked');
    expect(asked).toEqual([`check ${other}`, `check ${key}x`]);
  });

  it('takes the key off the call, as the check does, and says that its limits are decided', async () => {
    lease = async () => leaseOf(1000);
    const key = newKey();
    await inTurn(2, key);
    const { caller, names = [] } = await call(key, { 'x-gw-account-id': 'other', 'x-gw-limits-decided': 'no' });
    expect(caller).toBe('leased');
    expect(names).not.toContain('authorization');
    expect(names).not.toContain('x-gw-account-id');
    expect(names.filter((name) => name === 'x-gw-limits-decided')).toHaveLength(1);
  });

  it('says what was left of the limits where the sidecar cannot, and no other call does', async () => {
    lease = async () => leaseOf(1000);
    const key = newKey();
    const fails = { 'x-sidecar-fails': '1' };
    expect(await call(key, fails)).toEqual({ status: 500, shown: [null, null] });
    expect(await call(key, fails)).toEqual({ status: 500, shown: ['7', '3'] });
    expect(asked).toHaveLength(2);
  });

  it('is asked for while there are calls of the last one left, which lets in who does not wait for it', async () => {
    lease = async () => leaseOf(6);
    const key = newKey();
    expect(await inTurn(3, key)).toEqual(['checked', 'leased', 'leased']);
    expect(leasesAsked()).toBe(1);
    const grant = holdLease();
    const asking = call(key);
    await vi.waitUntil(() => leasesAsked() === 2, { timeout: times.lifeMs });
    expect(await inTurn(5, key)).toEqual([...Array(4).fill('leased'), 'checked']);
    grant(leaseOf(2));
    expect((await asking).caller).toBe('leased');
    lease = async () => null;
    expect(await inTurn(2, key)).toEqual(['leased', 'checked']);
    expect(leasesAsked()).toBe(3);
  });

  it('is left to its end where the next one is not given, and none is asked for again in a while', async () => {
    lease = async () => leaseOf(3);
    const key = newKey();
    await inTurn(2, key);
    lease = async () => null;
    expect(await inTurn(4, key)).toEqual(['leased', 'leased', 'checked', 'checked']);
    expect(leasesAsked()).toBe(2);
  });

  it('is over after its own time, whatever is left of it and of the one before', async () => {
    lease = async () => leaseOf(6);
    const key = newKey();
    expect(await inTurn(4, key)).toEqual(['checked', 'leased', 'leased', 'leased']);
    expect(leasesAsked()).toBe(2);
    await delay(times.lifeMs);
    lease = async () => null;
    expect(await inTurn(2, key)).toEqual(['checked', 'checked']);
    expect(leasesAsked()).toBe(3);
  });

  it('is over when it comes after its time, which begins with the question', async () => {
    lease = () => delay(times.lifeMs + 100).then(() => leaseOf(9));
    expect(await inTurn(2, newKey())).toEqual(['checked', 'checked']);
    const key = newKey();
    lease = async () => leaseOf(6);
    await inTurn(3, key);
    lease = () => delay(times.lifeMs + 100).then(() => leaseOf(9));
    expect((await call(key)).caller).toBe('checked');
    expect(leasesAsked()).toBe(3);
  });

  it('is none any more once the clock was set back, also for a call that asks for the next one meanwhile', async () => {
    const behind = "(handle:timestamp() - tonumber(handle:headers():get('x-behind') or '0'))";
    const other = await startEnvoy({ ...replaced, 'handle:timestamp()': behind });
    await on(other, async () => {
      lease = async () => leaseOf(6);
      const key = newKey();
      expect(await inTurn(3, key)).toEqual(['checked', 'leased', 'leased']);
      const grant = holdLease();
      const asking = call(key);
      await vi.waitUntil(() => leasesAsked() === 2, { timeout: times.lifeMs });
      expect((await call(key, { 'x-behind': '60000' })).caller).toBe('checked');
      grant(leaseOf(6));
      expect((await asking).caller).toBe('checked');
    });
  });

  it('is not asked for before the last one is over, if that will have calls left then', async () => {
    lease = async () => leaseOf(9);
    const key = newKey();
    await inTurn(3, key);
    await delay(times.lifeMs / 2);
    expect(await inTurn(3, key)).toEqual(Array(3).fill('leased'));
    expect(leasesAsked()).toBe(1);
  });

  it('is not asked for by calls beside the one that asks', async () => {
    const grant = holdLease();
    const key = newKey();
    await call(key);
    const asking = call(key);
    await vi.waitUntil(() => asked.length === 2);
    expect(await inTurn(3, key)).toEqual(['checked', 'checked', 'checked']);
    grant(leaseOf(2));
    expect((await asking).caller).toBe('leased');
    expect(leasesAsked()).toBe(1);
  });
});

describe('the check of the key decides', () => {
  it.each([
    ['there is none', async () => null],
    ['the question for one fails', () => Promise.reject(new Error('is broken'))],
    ['it has no calls', async () => leaseOf(0)],
    ['it cannot be read', async () => ({ ...leaseOf(1), calls: Number.NaN })],
  ])('where %s, and none is asked for again in a while', async (_, answer) => {
    lease = answer;
    const key = newKey();
    expect(await inTurn(6, key)).toEqual(Array(6).fill('checked'));
    expect(leasesAsked()).toBe(1);
    await delay(times.pauseMs);
    await inTurn(3, key);
    expect(leasesAsked()).toBe(2);
  });

  it('of a key that it refuses', async () => {
    lease = async () => null;
    const key = `Bearer bad-${newKey()}`;
    for (let each = 0; each < 4; each += 1) expect((await call(key)).status).toBe(401);
    expect(asked.filter((each) => each === `check ${key}`)).toHaveLength(4);
  });

  it.each([
    ['a body whose bytes count', { sent: 'x'.repeat(64 * 1024) }],
    ['a key that nobody has, in length', { key: `Bearer ${'x'.repeat(300)}` }],
  ])('of %s', async (_, { key = newKey(), sent = body }: { key?: string; sent?: string }) => {
    lease = async () => leaseOf(1000);
    for (let each = 0; each < 4; each += 1) expect((await call(key, {}, sent)).caller).toBe('checked');
    expect(asked).toEqual(Array(4).fill(`check ${key}`));
  });

  it('of a call that names two keys, of which the first one has a lease', async () => {
    lease = async () => leaseOf(1000);
    const key = newKey();
    await inTurn(2, key);
    asked = [];
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
    expect(asked).toEqual([`check ${key},bad`]);
  });

  it('of a body without a length', async () => {
    lease = async () => leaseOf(1000);
    const key = newKey();
    for (let each = 0; each < 4; each += 1) {
      const sent = new ReadableStream({
        start: (controller) => {
          controller.enqueue(Buffer.from(body));
          controller.close();
        },
      });
      expect((await call(key, {}, sent)).caller).toBe('checked');
    }
    expect(asked).toEqual(Array(4).fill(`check ${key}`));
  });

  it('of many keys that nobody has, and soon no lease is asked for any more', async () => {
    lease = async () => null;
    const flood = Array.from({ length: 60 }, newKey);
    const rare = { [Object.keys(replaced)[0] ?? '']: `= ${times.lifeMs}, ${times.busyMs}, 8000, ${times.patienceMs}` };
    const other = await startEnvoy(rare);
    await on(other, async () => {
      for (const key of flood) expect(await inTurn(2, key)).toEqual(['checked', 'checked']);
      expect(leasesAsked()).toBe(20);
      // What came in vain before is forgotten.
      await delay(8000);
      lease = async () => leaseOf(3);
      expect(await inTurn(2, newKey())).toEqual(['checked', 'leased']);
    });
  });

  it('of reads', async () => {
    lease = async () => leaseOf(1000);
    const key = newKey();
    for (let each = 0; each < 3; each += 1)
      await (await fetch(`http://127.0.0.1:${envoy.port}/v1/models`, { headers: { authorization: key } })).text();
    expect(asked).toEqual(Array(3).fill(`check ${key}`));
  });

  it('of a key that is not busy', async () => {
    lease = async () => leaseOf(1000);
    const soon = { [Object.keys(replaced)[0] ?? '']: `= ${leaseLifeMs}, 1, ${leasePauseMs}, 300` };
    const other = await startEnvoy(soon);
    const key = newKey();
    await on(other, async () => {
      for (let each = 0; each < 3; each += 1) {
        expect((await call(key)).caller).toBe('checked');
        await delay(20);
      }
    });
  });

  it('where ext-authz does not say in time', async () => {
    lease = () => new Promise(() => undefined);
    const hasty = { [Object.keys(replaced)[0] ?? '']: `= ${times.lifeMs}, ${times.busyMs}, ${times.pauseMs}, 50` };
    const key = newKey();
    const other = await startEnvoy(hasty);
    await on(other, async () => expect(await inTurn(3, key)).toEqual(['checked', 'checked', 'checked']));
    expect(leasesAsked()).toBe(1);
  });

  it('of all, where leases are off', async () => {
    lease = async () => leaseOf(1000);
    const without = await startEnvoy(replaced, false);
    const key = newKey();
    await on(without, async () => expect(await inTurn(5, key)).toEqual(Array(5).fill('checked')));
    expect(asked).toEqual(Array(5).fill(`check ${key}`));
  });
});
