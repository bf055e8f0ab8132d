import { randomBytes, randomUUID } from 'node:crypto';
import { ChainCheck } from '@gw/contract/internal/audit-chain';
import type { PolicyEvent } from '@gw/contract/internal/policy-event';
import { deadPolicyEventStream, policyEventGroup, policyEventStream } from '@gw/contract/internal/redis';
import type { Database } from '@gw/prisma/client';
import { cases } from '@gw/testing/cases';
import { type Stores, silentLog, startStores } from '@gw/testing/control-plane/fixtures';
import fc from 'fast-check';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readAudit, readHead } from '../../people/audit/read.ts';
import { type FindingsOptions, openFindingsJob } from './findings-job.ts';
import { callsPerEntry, singlesAtMost } from './write-findings.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
}, 120_000);
afterAll(() => stores?.stop());
beforeEach(() => stores.redis.flushall());

const at = new Date('2026-11-21T09:00:00.000Z');
let accounts = 0;
/** Its log has no entry yet. */
async function newAccount(): Promise<string> {
  const id = `acct_found_${++accounts}`;
  await stores.db.account.create({ data: { id, name: id, tier: 'audit' } });
  return id;
}

const eventOf = (accountId: string, changes: Partial<PolicyEvent> = {}): PolicyEvent => ({
  id: randomUUID(),
  at: '2026-11-21T08:59:59.123Z',
  account_id: accountId,
  key_id: 'no-such-key1',
  request_id: randomUUID(),
  action: 'block',
  code: 'dual_use_screen_block',
  rule_ids: ['nerve-agents'],
  policy_version: 3,
  policy_sha256: 'a'.repeat(64),
  text_salt: randomBytes(16).toString('hex'),
  text_sha256: randomBytes(32).toString('hex'),
  ...changes,
});
const add = async (...events: unknown[]) => {
  for (const event of events)
    await stores.redis.xadd(policyEventStream, '*', 'event', typeof event === 'string' ? event : JSON.stringify(event));
};
const job = (changes: Partial<FindingsOptions> = {}) =>
  openFindingsJob({
    db: stores.db,
    redis: stores.redis,
    now: () => at,
    log: silentLog,
    consumer: randomUUID(),
    ...changes,
  });
const logOf = (accountId: string) => readAudit(stores.db, accountId, { order: 'asc', limit: 10_000 });
interface Finding {
  readonly code: string;
  readonly calls: readonly { readonly event: string; readonly at: string; readonly text_sha256: string }[];
}
const callsOf = async (accountId: string) => (await logOf(accountId)).flatMap(({ after }) => (after as Finding).calls);
async function expectChainToVerify(accountId: string): Promise<void> {
  const check = new ChainCheck();
  for (const entry of await logOf(accountId)) check.next(entry);
  expect(check.end(await readHead(stores.db, accountId))).toEqual([]);
}
const left = () => stores.redis.xlen(policyEventStream);

test('a finding becomes one entry of the account, in the name of its key, and leaves the stream', async () => {
  const accountId = await newAccount();
  const hash = new Uint8Array(32);
  await stores.db.apiKey.create({
    data: { publicId: 'findkey00001', accountId, name: 'deploy', hash, pepperVersion: 1, scopes: [] },
  });
  const blocked = eventOf(accountId, { key_id: 'findkey00001' });
  const flagged = eventOf(accountId, { action: 'flag', code: 'acceptable_use_violation', request_id: null });
  await add(blocked, flagged);
  await job()();
  const { id: event, text_salt, text_sha256, request_id } = blocked;
  expect(await logOf(accountId)).toMatchObject([
    {
      action: 'policy.blocked',
      target: 'policy:3',
      at: at.toISOString(),
      request_id,
      before: null,
      actor: { kind: 'api_key', id: 'findkey00001', name: 'deploy' },
      after: {
        code: 'dual_use_screen_block',
        rule_ids: ['nerve-agents'],
        policy_version: 3,
        policy_sha256: 'a'.repeat(64),
        calls: [{ event, at: blocked.at, request_id, text_salt, text_sha256 }],
      },
    },
    { action: 'policy.flagged', request_id: null, actor: { id: 'no-such-key1', name: null } },
  ]);
  expect(await left()).toBe(0);
  expect(await stores.redis.xpending(policyEventStream, policyEventGroup)).toMatchObject([0, null, null, null]);
  await expectChainToVerify(accountId);
});

test('a flood is written in few entries, call by call, and its chain verifies', async () => {
  const accountId = await newAccount();
  const flood = Array.from({ length: 450 }, () => eventOf(accountId));
  const others = Array.from({ length: singlesAtMost }, () => eventOf(accountId, { rule_ids: ['other'] }));
  await add(...flood, ...others);
  await job()();
  const entries = await logOf(accountId);
  expect(entries.map(({ after }) => (after as Finding).calls.length)).toEqual([
    ...[callsPerEntry, callsPerEntry, callsPerEntry, callsPerEntry, 50],
    ...others.map(() => 1),
  ]);
  expect(new Set((await callsOf(accountId)).map(({ event }) => event))).toEqual(
    new Set([...flood, ...others].map(({ id }) => id)),
  );
  await expectChainToVerify(accountId);
});

test('what is not an event, or of no account, goes to the dead list once, and holds up nothing', async () => {
  const accountId = await newAccount();
  const good = eventOf(accountId);
  const bad = [
    'not json',
    { ...good, text_salt: 'the text itself' },
    eventOf(accountId, { request_id: 'a\0b' }),
    eventOf('acct_nobody'),
  ];
  await add(...bad, good);
  await stores.redis.xadd(policyEventStream, '*', 'other', 'field');
  await job()();
  expect(await callsOf(accountId)).toMatchObject([{ event: good.id }]);
  expect(await left()).toBe(0);
  const dead = await stores.redis.xrange(deadPolicyEventStream, '-', '+');
  expect(dead.map(([, fields]) => fields[3]).sort()).toEqual([
    ...Array.from({ length: 4 }, () => 'it is not an event'),
    'there is no such account',
  ]);
  expect(dead.map(([, fields]) => fields[1])).toContain('not json');
});

test('a Valkey whose memory is full is emptied of findings, and what is set aside waits there until there is room', async () => {
  const accountId = await newAccount();
  await job({ consumer: 'one' })();
  await add(...Array.from({ length: 501 }, () => 'not json'), eventOf(accountId));
  await stores.redis.config('SET', 'maxmemory', '1');
  const run = job({ consumer: 'one' });
  try {
    await expect(run()).rejects.toThrow('EXECABORT');
    expect(await callsOf(accountId)).toHaveLength(1);
    expect([await left(), await stores.redis.xlen(deadPolicyEventStream)]).toEqual([501, 0]);
  } finally {
    await stores.redis.config('SET', 'maxmemory', '0');
  }
  await run();
  expect([await left(), await stores.redis.xlen(deadPolicyEventStream)]).toEqual([0, 501]);
});

test('an account whose log cannot be written holds up no other, and is written as soon as it can be', async () => {
  const [stuck, well] = [await newAccount(), await newAccount()];
  await add(...Array.from({ length: 600 }, () => eventOf(stuck)), eventOf(well));
  const failing = failingFor(stores.db, stuck);
  const run = job({ db: failing.db });
  await expect(run()).rejects.toThrow('no space for this account');
  expect(await callsOf(well)).toHaveLength(1);
  expect(await left()).toBe(600);
  await add(eventOf(well));
  await expect(run()).rejects.toThrow('no space for this account');
  expect(await callsOf(well)).toHaveLength(2);
  failing.mend();
  await run();
  expect(new Set((await callsOf(stuck)).map(({ event }) => event)).size).toBe(600);
  expect([await callsOf(stuck).then(({ length }) => length), await left()]).toEqual([600, 0]);
});

test('findings that were made before the group was, and after Redis came back empty, are written', async () => {
  const accountId = await newAccount();
  const run = job();
  await add(eventOf(accountId));
  await run();
  await stores.redis.flushall();
  await add(eventOf(accountId));
  await expect(run()).rejects.toThrow('NOGROUP');
  await run();
  expect(await callsOf(accountId)).toHaveLength(2);
});

/**
 * The steps at which a job can die: as it has read, as it has written (the commit got through, the news did not), and
 * between the two commands that take out. Jobs run side by side, and the dead ones' entries are taken over.
 */
test('each finding is written exactly once, wherever jobs die and however often it is handed over', async () => {
  const deaths = fc.constantFrom('xreadgroup', 'commit', 'xdel', null);
  const lives = fc.array(fc.tuple(deaths, deaths), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(lives, fc.integer({ min: 1, max: 30 }), fc.nat({ max: 5 }), async (pairs, count, twice) => {
      await stores.redis.flushall();
      const owners = [await newAccount(), await newAccount()] as const;
      const events = Array.from({ length: count }, (_, i) => eventOf(owners[i % 2 === 0 ? 0 : 1]));
      await add(...events, ...events.slice(0, twice));
      for (const pair of pairs)
        await Promise.all(
          pair.map((death) =>
            job({
              db: dyingDatabase(stores.db, death),
              redis: dyingRedis(stores.redis, death),
              abandonedAfterMs: 0,
            })().catch(() => {}),
          ),
        );
      await job({ abandonedAfterMs: 0 })();
      const written = [...(await callsOf(owners[0])), ...(await callsOf(owners[1]))].map(({ event }) => event);
      expect(written.sort()).toEqual(events.map(({ id }) => id).sort());
      expect(await left()).toBe(0);
      for (const owner of owners) await expectChainToVerify(owner);
    }),
    { numRuns: cases(100, 20) },
  );
});

type Death = 'xreadgroup' | 'commit' | 'xdel' | null;

/** The connection of a process that dies before the reply of the command reaches it. */
function dyingRedis(redis: Redis, death: Death): Redis {
  if (death !== 'xreadgroup' && death !== 'xdel') return redis;
  return new Proxy(redis, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (name === death)
        return async (...args: unknown[]) => {
          await Reflect.apply(value as (...args: unknown[]) => Promise<unknown>, target, args);
          throw new Error('killed');
        };
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function dyingDatabase(db: Database, death: Death): Database {
  if (death !== 'commit') return db;
  return new Proxy(db, {
    get: (target, name) => {
      if (name === '$transaction')
        return async (...args: Parameters<Database['$transaction']>) => {
          await target.$transaction(...args);
          throw new Error('killed');
        };
      return Reflect.get(target, name);
    },
  });
}

/** Transactions that touch the account fail until it is mended. */
function failingFor(db: Database, accountId: string) {
  let fails = true;
  const failing = new Proxy(db, {
    get: (target, name) => {
      if (name !== '$transaction') return Reflect.get(target, name);
      return (work: (tx: object) => Promise<unknown>, options: object) =>
        target.$transaction(async (tx) => {
          const result = await work(tx);
          const [found] = await tx.$queryRaw<unknown[]>`SELECT 1 FROM audit WHERE chain = ${accountId} LIMIT 1`;
          if (fails && found !== undefined) throw new Error('no space for this account');
          return result;
        }, options);
    },
  });
  return {
    db: failing,
    mend: () => {
      fails = false;
    },
  };
}
