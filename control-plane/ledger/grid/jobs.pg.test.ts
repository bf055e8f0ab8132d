import { eventually, silentLog, startStoresWithOwnRedis } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
import type { RepeatedJob } from '../../shared/repeat.ts';
import type { ZoneSource } from './config.ts';
import { startGridJobs } from './jobs.ts';
import type { RefreshOutcome } from './refresh.ts';

const sweden: ZoneSource = { zone: 'SWE', source: 'electricity-maps', place: 'SE' };
const britain: ZoneSource = { zone: 'GBR', source: 'neso', place: '' };

const stores = forFile(startStoresWithOwnRedis);
let asked: string[] = [];
const running: RepeatedJob[] = [];
beforeEach(async () => {
  await Promise.all(running.splice(0).map((job) => job.stop()));
  await stores.redis.flushall();
  asked = [];
});

async function start(
  sources: readonly ZoneSource[],
  outcome: () => RefreshOutcome,
  refreshMs = 60_000,
): Promise<RepeatedJob> {
  const job = await startGridJobs({
    redisUrl: stores.redis.options.path ?? '',
    sources,
    refreshMs,
    refresh: ({ zone }, span) => {
      asked.push(`${zone} ${span}`);
      return Promise.resolve(outcome());
    },
    log: silentLog,
    backoffMs: 20,
    tendEveryMs: 100,
  });
  running.push(job);
  return job;
}
const fine = (): RefreshOutcome => ({ stored: 1 });
const count = (name: string): number => asked.filter((each) => each === name).length;
const schedules = (): Promise<string[]> => stores.redis.zrange('{gw}:grid:repeat', '0', '-1');

test('each zone is asked at once, for now and for the day, by one of two instances', async () => {
  await start([sweden, britain], fine);
  await start([sweden, britain], fine);
  await eventually(() => asked.length >= 4);
  expect([...asked].sort()).toEqual(['GBR day', 'GBR latest', 'SWE day', 'SWE latest']);
});

test('a zone is asked again in each interval', async () => {
  await start([sweden], fine, 50);
  await eventually(() => count('SWE latest') >= 4);
  expect(count('SWE day')).toBe(1);
});

test('a failed attempt is repeated, until one succeeds', async () => {
  await start([sweden], () => (count('SWE latest') < 3 ? { refused: 'timeout', detail: 'x' } : fine()));
  await eventually(() => count('SWE latest') === 3);
});

test('a refused key is not tried again at once', async () => {
  await start([sweden], () => ({ refused: 'unauthorized', detail: 'status 401' }));
  await eventually(async () => (await stores.redis.zcard('{gw}:grid:failed')) === 2);
  expect([...asked].sort()).toEqual(['SWE day', 'SWE latest']);
});

test('a schedule that Redis lost is made again', async () => {
  await start([sweden], fine, 50);
  await eventually(() => count('SWE latest') >= 2);
  await stores.redis.flushall();
  const before = count('SWE latest');
  await eventually(() => count('SWE latest') >= before + 3);
});

test('a zone that is no longer configured leaves the schedule', async () => {
  const before = await start([sweden, britain], fine);
  await eventually(async () => (await schedules()).length === 4);
  await before.stop();
  await start([sweden], fine);
  await eventually(async () => (await schedules()).length === 2);
  expect((await schedules()).every((each) => each.startsWith('SWE/'))).toBe(true);
});

test('it goes on after Redis was away, and ends in order while it is away', async () => {
  const job = await start([sweden], fine, 50);
  await eventually(() => count('SWE latest') >= 2);
  await stores.stopRedis();
  await stores.startRedis();
  const before = count('SWE latest');
  await eventually(() => count('SWE latest') >= before + 2);
  await stores.stopRedis();
  await job.stop();
  await stores.startRedis();
});
