import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PostgresFacts } from '@gw/contract/internal/ground';
import { Registry } from 'prom-client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openTroubles } from '../health/troubles.ts';
import type { Foundation } from './foundation.ts';
import { openGround } from './ground.ts';
import { postgresGround } from './postgres.ts';
import { spoolGround } from './spool.ts';
import { valkeyGround } from './valkey.ts';

const fit = {
  redis_version: '7.2.4',
  valkey_version: '9.1.2',
  redis_mode: 'standalone',
  cluster_enabled: '0',
  maxmemory: '0',
  maxmemory_policy: 'noeviction',
  role: 'master',
  connected_slaves: '0',
  aof_enabled: '1',
};
const clock = { now: () => 1_000_000, steady: () => 0 };
type ChangedInfo = Readonly<Record<string, string | undefined>>;
const server = (info: ChangedInfo = {}, aheadS = 0) => {
  const lines = Object.entries({ ...fit, ...info }).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}:${value}`,
  );
  const time = [String(1000 - aheadS), '0'];
  return { call: async (command: string) => (command === 'INFO' ? `# Server\r\n${lines.join('\r\n')}\r\n` : time) };
};
const valkey = (info?: ChangedInfo, aheadS?: number): Foundation =>
  valkeyGround(() => [server(info, aheadS)], false, clock);
const facts: PostgresFacts = {
  version: 170_004,
  role: 'gw_ledger',
  zone: 'UTC',
  isReadOnly: false,
  unsafe: [],
  mayRead: true,
  now: 1_000_000,
};
const postgres = (found: Partial<PostgresFacts> | string = {}): Foundation =>
  postgresGround(async () => (typeof found === 'string' ? found : { ...facts, ...found }), clock);

const names = async (foundation: Foundation) =>
  (await foundation.look()).findings.map(({ name, refuses }) => `${name}${refuses ? ' refused' : ''}`);

test.each<[string, Foundation, string[]]>([
  ['a Valkey as it should be', valkey(), []],
  ['a Redis 7.0', valkey({ valkey_version: undefined, redis_version: '7.0.15' }), []],
  ['a Redis 6.2', valkey({ valkey_version: undefined, redis_version: '6.2.14' }), ['valkey_version refused']],
  ['a cluster', valkey({ redis_mode: 'cluster', cluster_enabled: '1' }), ['valkey_cluster refused']],
  ['a Sentinel', valkey({ redis_mode: 'sentinel' }), ['valkey_sentinel refused']],
  ['one that throws data away', valkey({ maxmemory_policy: 'volatile-lru' }), ['valkey_eviction refused']],
  ['a replica', valkey({ role: 'slave', aof_enabled: '0' }), ['valkey_replica']],
  ['one that keeps nothing', valkey({ aof_enabled: '0' }), ['valkey_persistence']],
  ['one that its replica keeps', valkey({ aof_enabled: '0', connected_slaves: '1' }), []],
  ['clocks that are 2 s apart', valkey({}, 2), []],
  ['a clock that is 3 s ahead', valkey({}, 3), ['valkey_clock']],
  ['a clock that is 90 s behind', valkey({}, -90), ['valkey_clock']],
  ['a Postgres as it should be', postgres(), []],
  ['Postgres 14', postgres({ version: 140_012 }), ['postgres_version refused']],
  ['a standby', postgres({ isReadOnly: true }), ['postgres_read_only']],
  ['one that loses commits', postgres({ unsafe: ['fsync'] }), ['postgres_durability']],
  ['one without tables', postgres({ mayRead: false }), ['postgres_rights']],
  ['another time', postgres({ now: 1_090_000 }), ['postgres_clock']],
  ['sessions that are of no use', postgres('A pooler …'), ['postgres_session refused']],
])('%s', async (_, foundation, expected) => {
  expect(await names(foundation)).toEqual(expected);
});

test('half of the round trip is not taken for a wrong clock', async () => {
  let ms = 0;
  const slow = { now: () => 1_000_000 + ms, steady: () => ms };
  const late = postgresGround(async () => {
    ms += 4000;
    return { ...facts, now: 1_002_000 };
  }, slow);
  expect(await late.look()).toMatchObject({ aheadS: 0, findings: [] });
});

test('what is wrong at any primary of a cluster is found at each look, and the clock that is furthest away counts', async () => {
  const inCluster = { redis_mode: 'cluster', cluster_enabled: '1' };
  const primaries = [
    server(inCluster),
    server({ ...inCluster, maxmemory_policy: 'allkeys-lru' }, -90),
    server({ ...inCluster, maxmemory_policy: 'allkeys-lru', aof_enabled: '0' }, 1),
  ];
  const cluster = valkeyGround(() => primaries, true, clock);
  expect(await names(cluster)).toEqual(['valkey_eviction refused', 'valkey_clock', 'valkey_persistence']);
  expect(await cluster.look()).toMatchObject({ aheadS: -90, facts: { ahead_s: -90, primaries: 3 } });
  const unknown = valkeyGround(() => [], true, clock);
  await expect(unknown.look()).rejects.toThrow();
});

const log = () => ({ info: vi.fn(), warn: vi.fn() });

test('a part starts on nothing that cannot work, and says why in a sentence for each', async () => {
  const to = log();
  const troubles = openTroubles(to, () => 0);
  const opening = openGround([valkey({ redis_mode: 'cluster' }), postgres({ version: 130_000 })], {
    troubles,
    log: to,
  });
  await expect(opening).rejects.toThrow(
    /^This Valkey is a node of a cluster. Write redis\+cluster:.* are found\. This is Postgres 13\. The gateway needs 15 or later, so upgrade it\.$/,
  );
  expect(to.info.mock.calls[0]?.[0]).toMatchObject({
    ground: { valkey: { server: 'valkey 9.1.2', mode: 'cluster' }, postgres: { version: 130_000 } },
  });
});

test('what changes while a part runs is told by health, metric and log, and the part goes on', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const to = log();
  const troubles = openTroubles(to, () => 0);
  let policy: string | null = null;
  const changing: Foundation = {
    name: 'valkey',
    look: () => (policy === null ? Promise.reject(new Error('away')) : valkey({ maxmemory_policy: policy }, 1).look()),
  };
  const ground = await openGround([changing], { troubles, log: to });
  onTestFinished(() => ground.stop());
  expect(to.info.mock.calls).toEqual([[{ ground: { valkey: 'unavailable' } }, 'looked at what this part stands on']]);
  policy = 'noeviction';
  await vi.advanceTimersByTimeAsync(60_000);
  expect(to.info).toHaveBeenCalledTimes(2);
  expect(troubles.current()).toEqual({});
  policy = 'allkeys-lru';
  await vi.advanceTimersByTimeAsync(60_000);
  expect(troubles.current()).toEqual({
    valkey_eviction: expect.stringMatching(/maxmemory-policy allkeys-lru.*Set it to noeviction/),
  });
  expect(to.warn).toHaveBeenCalledTimes(1);
  const registry = new Registry();
  ground.register(registry);
  troubles.register(registry);
  const metrics = await registry.metrics();
  expect(metrics).toContain('gw_degraded{cause="valkey_eviction"} 1');
  expect(metrics).toContain('gw_clock_skew_seconds{store="valkey"} 1');
  policy = 'noeviction';
  await vi.advanceTimersByTimeAsync(60_000);
  expect(troubles.current()).toEqual({});
});

test('a spool is a folder that can be written and synced, and leaves nothing there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-ground-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { facts: found, findings } = await spoolGround(join(folder, 'spool')).look();
  expect(found).toMatchObject({ folder: join(folder, 'spool'), free_mib: expect.any(Number) });
  expect(findings.filter(({ refuses }) => refuses)).toEqual([]);
  expect(readdirSync(join(folder, 'spool'))).toEqual([]);
  writeFileSync(join(folder, 'file'), '');
  const [finding] = (await spoolGround(join(folder, 'file')).look()).findings;
  expect(finding).toMatchObject({ name: 'spool_write', refuses: true });
  expect(finding?.sentence).toContain('EEXIST');
});
