/** To whom a lease is given, and for how many calls. */
import { randomBytes } from 'node:crypto';
import { generateApiKey, hashApiKey } from '@gw/contract/internal/api-key';
import { callerField } from '@gw/contract/internal/identity';
import { leaseLifeMs } from '@gw/contract/internal/lease';
import type { FoundKey } from '@gw/prisma/find-key';
import { decisionOf } from '@gw/service/limits/decision';
import { storedKey } from '@gw/testing/ext-authz/stored-key';
import { expect, test } from 'vitest';
import { callerOf, limitsText } from './caller.ts';
import { KeyCache } from './keys/key-cache.ts';
import { makeGrantLease } from './lease.ts';

const pepper = Buffer.alloc(32, 7);
const { plaintext, publicId } = generateApiKey(randomBytes);
const now = Date.parse('2026-11-21T09:00:00Z');
const stored = storedKey({ publicId, hash: hashApiKey(plaintext, pepper), scopes: ['inference:write'] });
const ofKey = {
  limits: { ratePerS: 5, burst: 10, perDay: 5000, streams: null, tokensPerMinute: null, tokensPerDay: null },
};

interface GrantCase {
  readonly key?: Partial<FoundKey> | null | Error;
  readonly authorization?: string;
  readonly scope?: string;
  /** Calls left in the bucket and in the day, for each level; null: unknown. */
  readonly left?: readonly (readonly [remaining: number, remainingDay: number | null])[] | null;
}

/** Gives leases, and records which keys it noted as used. */
function granting({ key = {}, left = [[200, 1e5]] }: GrantCase, instances = 1) {
  const used: string[] = [];
  const clock = { ms: now };
  const find = async () => {
    if (key instanceof Error) throw key;
    return key === null ? null : { ...stored, ...key };
  };
  const grant = makeGrantLease({
    cache: new KeyCache({ find }, { now: () => 0, capacity: 10, graceMs: 1000, admit: () => 'look_up' }),
    peppers: { current: { version: 1, secret: pepper }, other: null },
    fits: () => true,
    renew: () => {},
    now: () => clock.ms,
    instances,
    notes: { used: (of) => used.push(of.publicId) },
    limiter: {
      left: async () => {
        const states = left?.map(([remaining, remainingDay]) => ({ remaining, nextTokenMs: 0, remainingDay }));
        return states ? decisionOf(0, 0, states, now) : null;
      },
    },
  });
  return { clock, grant, used };
}

async function ask({ authorization = `Bearer ${plaintext}`, scope = 'inference:write', ...asked }: GrantCase) {
  const { grant, used } = granting(asked);
  return { lease: await grant({ authorization, scope }), used };
}

test('a key with room has one, which says who calls as the check does, and what it draws on', async () => {
  const { lease, used } = await ask({});
  const limits =
    'x-ratelimit-limit-requests=200 x-ratelimit-remaining-requests=200 x-ratelimit-reset-requests=0 ' +
    'x-ratelimit-limit-day=100000 x-ratelimit-remaining-day=100000 x-ratelimit-reset-day=54000';
  expect(lease).toMatchObject({ calls: 10, accountId: stored.accountId, keyId: publicId, limits });
  expect(JSON.parse(lease?.caller ?? '')).toEqual({
    ...JSON.parse(callerOf(stored).fields[callerField] ?? ''),
    leased: limitsText(stored),
  });
  expect(used).toEqual([publicId]);
});

test.each<[string, number, GrantCase]>([
  ['of a bucket that is full', 10, { left: [[200, 1e5]] }],
  ['of a bucket that is large, but not more than fifty', 50, { left: [[1e6, 1e6]] }],
  ['of a bucket that is used up by a half', 5, { left: [[100, 1e5]] }],
  ['of a day that is nearly over', 2, { left: [[200, 40]] }],
  ['of no day', 10, { left: [[200, null]] }],
  [
    'of a key that has less than its account',
    3,
    {
      key: ofKey,
      left: [
        [200, 1e5],
        [60, 5000],
      ],
    },
  ],
])('%s: %i calls', async (_, calls, asked) => {
  expect((await ask(asked)).lease?.calls).toBe(calls);
});

test.each<[string, GrantCase]>([
  ['with little room in its bucket', { left: [[39, 1e5]] }],
  ['with little of its day', { left: [[200, 39]] }],
  [
    'whose account has room, and itself has none',
    {
      key: ofKey,
      left: [
        [200, 1e5],
        [10, 5000],
      ],
    },
  ],
  ['whose limits nobody knows', { left: null }],
  ['without the scope', { scope: 'inference:read' }],
  ['without any scope', { scope: '' }],
  ['of an account that is suspended', { key: { account: { ...stored.account, state: 'suspended' } } }],
  ['that is revoked', { key: { state: 'revoked' } }],
  ['that has expired', { key: { expiresAt: new Date(now) } }],
  ['that expires before a lease would', { key: { expiresAt: new Date(now + leaseLifeMs) } }],
  ['that does not exist', { key: null }],
  ['that is another one', { key: { hash: Buffer.alloc(32) } }],
  ['that no store can look up', { key: new Error('Postgres is away.') }],
  ['that is none', { authorization: 'Bearer nonsense' }],
  ['in another form', { authorization: plaintext }],
])('a key %s has none', async (_, asked) => {
  expect(await ask(asked)).toEqual({ lease: null, used: [] });
});

test('a key that expires after its lease has one', async () => {
  const { lease } = await ask({ key: { expiresAt: new Date(now + leaseLifeMs + 1) } });
  expect(lease?.calls).toBe(10);
});

test.each([1, 2])(
  'all leases of an account together are held to its rate, of %i instances by each to its share',
  async (instances) => {
    const { clock, grant } = granting({}, instances);
    const given = async () => {
      let calls = 0;
      for (let each = 0; each < 60; each += 1)
        calls += (await grant({ authorization: `Bearer ${plaintext}`, scope: 'inference:write' }))?.calls ?? 0;
      return calls * instances;
    };
    // However slowly the calls of a lease come, and whatever the limits have left meanwhile.
    expect(await given()).toBe(200);
    clock.ms += 2000;
    expect(await given()).toBe(100);
  },
);
