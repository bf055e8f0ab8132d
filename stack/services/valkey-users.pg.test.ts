/** Each part is a user of Valkey that reaches the keys of its work alone. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RedisUser, redisOwner, redisUserName, redisUsers } from '@gw/contract/internal/redis-users';
import { openLog } from '@gw/service/log';
import { redisTime } from '@gw/service/redis';
import { openRedisWriter } from '@gw/service/redis-writer';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Service } from './service.ts';
import { startValkey, valkeyUrlAs } from './valkey.ts';

const passwords = {
  owner: 'o'.repeat(32),
  ext_authz: 'e'.repeat(32),
  sidecar: 's'.repeat(32),
  control_plane: 'c'.repeat(32),
};
let dir: string;
let valkey: Service;
let owner: Redis;
const open = (user: string, password: string) =>
  new Redis(valkeyUrlAs(valkey.url, user, password), { maxRetriesPerRequest: 0, retryStrategy: () => null });

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'gw-valkey-'));
  valkey = await startValkey({ dir, log: () => {}, durable: false }, passwords);
  owner = open(redisOwner, passwords.owner);
});
afterAll(async () => {
  owner?.disconnect();
  await valkey?.stop();
  rmSync(dir, { recursive: true, force: true });
});

test('nobody gets in without a user, or with the password of another, and the file has no password', async () => {
  const file = join(dir, 'users.acl');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  for (const password of Object.values(passwords)) expect(readFileSync(file, 'utf8')).not.toContain(password);
  const strangers = [
    new Redis(valkey.url, { maxRetriesPerRequest: 0, retryStrategy: () => null }),
    open(redisUserName('control_plane'), passwords.sidecar),
  ];
  for (const stranger of strangers) {
    stranger.on('error', () => {});
    await expect(stranger.get('gw:snapshot')).rejects.toThrow(/NOAUTH|WRONGPASS|closed/);
    stranger.disconnect();
  }
});

test('the lean connection of the hot path is a user too', async () => {
  const url = valkeyUrlAs(valkey.url, redisUserName('sidecar'), passwords.sidecar);
  const writer = openRedisWriter({ url, log: openLog('test', 'silent'), commandTimeoutMs: 2000 });
  await writer.untilReady(5000);
  expect(await writer.send(['SET', 'gw:live', 'x'])).toEqual(['OK']);
  await expect(writer.send(['SET', 'gw:snapshot', '{}'])).rejects.toThrow('NOPERM');
  writer.stop();
});

test.each(['sidecar', 'control_plane'] as const)('%s may ask for the time of the ledger', async (user) => {
  const redis = open(redisUserName(user), passwords[user]);
  onTestFinished(() => redis.disconnect());
  expect(Math.abs((await redisTime(redis)) - Date.now())).toBeLessThan(60_000);
});

type Attack = readonly [what: string, command: readonly string[], whose: readonly RedisUser[]];
const controlPlane = ['control_plane'] as const;
const entry = ['*', 'entry', '{}'];

/** Each is the work of some users, and an attack by any other. */
const attacks: readonly Attack[] = [
  ['forge the catalogue', ['SET', 'gw:snapshot', '{}'], controlPlane],
  ['forge the version of the catalogue', ['SET', '{gw:snapshot}:version', '9'], controlPlane],
  ['take the catalogue away', ['DEL', 'gw:snapshot'], controlPlane],
  ['replace it by another key', ['RENAME', 'gw:limit:x', 'gw:snapshot'], controlPlane],
  ['replace it by a copy', ['COPY', 'gw:limit:x', 'gw:snapshot', 'REPLACE'], controlPlane],
  ['forge it by a script', ['EVAL', "return redis.call('SET', KEYS[1], 'x')", '1', 'gw:snapshot'], controlPlane],
  [
    'forge it by a script that does not name it',
    ['EVAL', "return redis.call('SET', 'gw:snapshot', 'x')", '0'],
    controlPlane,
  ],
  ['move the generation of keys', ['SET', 'gw:{keys}:generation', '1'], controlPlane],
  ['take receipts out of the stream', ['XDEL', 'gw:ledger', '1-1'], controlPlane],
  ['cut the stream off', ['XTRIM', 'gw:ledger', 'MAXLEN', '0'], controlPlane],
  ['take the stream away', ['DEL', 'gw:ledger'], controlPlane],
  [
    'cut the stream off by a script',
    ['EVAL', "return redis.call('XTRIM', KEYS[1], 'MAXLEN', 0)", '1', 'gw:ledger'],
    controlPlane,
  ],
  ['say that a receipt is ingested', ['XACK', 'gw:ledger', 'ingest', '1-1'], controlPlane],
  ['read set-aside receipts', ['XRANGE', '{gw:ledger}:dead', '-', '+'], controlPlane],
  ['take logins their pause', ['DEL', 'gw:{login}:address:x'], controlPlane],
  ['queue a job', ['LPUSH', '{gw}:packs:wait', 'x'], controlPlane],
  ['read the stream of receipts', ['XRANGE', 'gw:ledger', '-', '+'], ['sidecar', 'control_plane']],
  ['read kept replies', ['HGETALL', 'gw:idempotency:{a}:d'], ['sidecar', 'control_plane']],
  ['free a slot', ['ZREM', 'gw:slots:{a}', 's'], ['sidecar', 'control_plane']],
  ['change what a budget has used', ['HSET', 'gw:budgets:{a}:2026-11', 'used:x', '0'], ['sidecar', 'control_plane']],
  ['hide failed verifications', ['DEL', 'gw:{keys}:failed'], ['ext_authz', 'control_plane']],
  ['read a receipt on its way', ['GET', '{gw:ledger}:receipt:x'], ['sidecar', 'control_plane']],
  ['add a receipt to the stream', ['XADD', 'gw:ledger', ...entry], redisUsers],
  // No rule tells it from the one before.
  ['cut the stream off while adding to it', ['XADD', 'gw:ledger', 'MAXLEN', '0', ...entry], redisUsers],
  ['count a call', ['HSET', 'gw:limit:{a}:calls', 'n', '1'], redisUsers],
  ['empty the store', ['FLUSHALL'], []],
  ['list all keys', ['KEYS', '*'], []],
  ['read the commands of others', ['MONITOR'], []],
  ['change a setting', ['CONFIG', 'SET', 'maxmemory', '1'], []],
  ['become somebody else', ['ACL', 'SETUSER', 'gw_sidecar', '~*'], []],
  ['end a connection', ['CLIENT', 'KILL', 'TYPE', 'normal'], []],
  ['save a copy of everything', ['BGSAVE'], []],
  ['end the server', ['SHUTDOWN'], []],
  ['send everything elsewhere', ['REPLICAOF', '10.0.0.1', '6379'], []],
  ['take scripts away', ['SCRIPT', 'FLUSH'], []],
  ['leave a function behind', ['FUNCTION', 'FLUSH'], []],
  ['read somebody else’s keys', ['GET', 'other'], []],
];

describe.each(redisUsers)('as %s', (user) => {
  let redis: Redis;
  beforeAll(() => {
    redis = open(redisUserName(user), passwords[user]);
  });
  afterAll(() => redis?.disconnect());

  test.each(attacks)('nobody can %s whose work it is not', async (_, [command = '', ...words], whose) => {
    await owner.set('gw:limit:x', 'x');
    const said = await redis.call(command, ...words).then(
      () => 'done',
      (error: Error) => error.message,
    );
    const denied = expect.stringMatching(/NOPERM|No permissions|ACL failure/);
    expect(said).toEqual(whose.includes(user) ? expect.not.stringMatching(/NOPERM|permission|ACL/) : denied);
  });
});
