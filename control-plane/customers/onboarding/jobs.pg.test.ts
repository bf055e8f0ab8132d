import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  eventually,
  type StoresWithOwnRedis,
  silentLog,
  startStoresWithOwnRedis,
} from '@gw/testing/control-plane/fixtures';
import {
  applicant,
  bringTo,
  declaration,
  policy,
  root,
  startTestOnboarding,
  synthetic,
  type TestOnboarding,
} from '@gw/testing/control-plane/onboarding';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { RepeatedJob } from '../../shared/repeat.ts';
import { noLists, type ScreeningSettings } from '../screening/config.ts';
import { type OnboardingJobsOptions, startOnboardingJobs } from './jobs.ts';

let stores: StoresWithOwnRedis;
let running: TestOnboarding;
let dir: string;
const jobs: RepeatedJob[] = [];
beforeAll(async () => {
  stores = await startStoresWithOwnRedis();
  running = await startTestOnboarding(stores);
  dir = mkdtempSync(join(tmpdir(), 'gwscreen-'));
}, 120_000);
afterEach(async () => {
  await Promise.all(jobs.splice(0).map((job) => job.stop()));
  await eventually(async () => (await running.stores.redis.flushall()) === 'OK');
});
afterAll(async () => {
  await running?.stop();
  rmSync(dir, { recursive: true, force: true });
});

function start(settings: ScreeningSettings = synthetic, changes: Partial<OnboardingJobsOptions> = {}): RepeatedJob {
  const job = startOnboardingJobs({
    db: running.stores.db,
    now: () => running.clock.now,
    log: silentLog,
    redisUrl: running.stores.redis.options.path ?? '',
    onboarding: running.onboarding,
    policy,
    settings,
    firstPauseMs: 50,
    tendEveryMs: 100,
    stalledMs: 500,
    ...changes,
  });
  jobs.push(job);
  return job;
}

async function declared(): Promise<string> {
  const id = (await running.post(root, applicant())).json().account_id;
  await running.post(`${root}/${id}/declaration`, declaration());
  return id;
}
const stageOf = async (id: string): Promise<string> => (await running.get(`${root}/${id}`)).json().stage;
const screenings = async (id: string): Promise<number> =>
  (await running.get(`${root}/${id}`))
    .json()
    .steps.filter((step: { action: string }) => step.action.startsWith('pass_')).length;

test('nobody has to start it: an application that was declared is screened, once, also by two instances', async () => {
  start();
  start();
  const ids = await Promise.all([declared(), declared(), declared()]);
  for (const id of ids) await eventually(async () => (await stageOf(id)) === 'contract_pending');
  for (const id of ids) expect(await screenings(id)).toBe(2);
  // Nothing is left that would run again.
  await eventually(async () => (await running.stores.redis.keys('{gw}:screening:acct_*')).length === 0);
});

test('nobody has to start it for an account that was renamed either', async () => {
  const id = await bringTo(running, 'complete');
  const { account } = running.stores.db;
  start(synthetic, { renamedEveryMs: 100 });
  await account.update({ where: { id }, data: { name: 'Zarya Metall' } });
  await eventually(async () => (await account.findUniqueOrThrow({ where: { id } })).state === 'suspended');
});

test('without an application to be screened Redis is not touched, also not for one with a match that waits for people', async () => {
  const id = (await running.post(root, applicant({ name: 'Borealis Munitions' }))).json().account_id;
  await running.post(`${root}/${id}/declaration`, declaration());
  await running.screen(id);
  expect(await stageOf(id)).toBe('sanctions_match');
  let looked = 0;
  const db = new Proxy(running.stores.db, {
    get: (target, name, receiver) => {
      if (name === '$queryRaw') looked += 1;
      return Reflect.get(target, name, receiver);
    },
  });
  start(synthetic, { db });
  await eventually(() => looked >= 6);
  expect(await running.stores.redis.keys('{gw}:screening:*')).toEqual([]);
});

test('a list that is missing is tried again until it is there; until then the application waits and says why', async () => {
  const path = join(dir, 'names.csv');
  start({ ...noLists, lists: [{ path, format: 'names-csv', leastEntries: 1, leastNames: 1 }] });
  const id = await declared();
  await eventually(async () => (await running.get(`${root}/${id}`)).json().sanctions_screening?.outcome === 'waits');
  expect(await stageOf(id)).toBe('sanctions_screening');
  writeFileSync(`${path}.new`, 'id,name\n1,Somebody Else\nend,1\n');
  renameSync(`${path}.new`, path);
  expect(existsSync(path)).toBe(true);
  await eventually(async () => (await stageOf(id)) === 'contract_pending');
});

test('a job whose worker has died in the middle is taken up by another', async () => {
  const id = await declared();
  let begun = 0;
  // Stands still inside of the screening, and never comes back.
  const standing = new Promise<never>(() => {});
  start(synthetic, {
    onboarding: {
      ...running.onboarding,
      recordUse: () => {
        begun += 1;
        return standing;
      },
    },
  });
  await eventually(() => begun === 1);
  expect(await stageOf(id)).toBe('use_screening');
  // Its lease of the job is taken away, as it runs out with a process.
  const locks = (): Promise<string[]> => running.stores.redis.keys('{gw}:screening:*:lock');
  await eventually(async () => (await locks()).length === 1);
  start();
  const ended = eventually(async () => {
    for (const lock of await locks()) if (begun === 1) await running.stores.redis.del(lock);
    return (await stageOf(id)) === 'contract_pending';
  });
  await ended;
  expect(await screenings(id)).toBe(2);
  // It would wait for its own job without end.
  jobs.splice(0, 1);
});

test('a queue that Redis lost between two steps is made again from Postgres', async () => {
  const path = join(dir, 'later.csv');
  start(
    { ...noLists, lists: [{ path, format: 'names-csv', leastEntries: 1, leastNames: 1 }] },
    { firstPauseMs: 600_000 },
  );
  const id = await declared();
  await eventually(async () => (await stageOf(id)) === 'sanctions_screening');
  await eventually(async () => (await running.stores.redis.zcard('{gw}:screening:delayed')) === 1);
  writeFileSync(path, 'id,name\n1,Somebody Else\nend,1\n');
  // The next attempt is ten minutes away; a new job is not.
  await running.stores.redis.flushall();
  await eventually(async () => (await stageOf(id)) === 'contract_pending');
});

test('it goes on after Redis was away, and ends in order while it is away', async () => {
  const job = start();
  await stores.stopRedis();
  const id = await declared();
  await stores.startRedis();
  await eventually(async () => (await stageOf(id)) === 'contract_pending');
  await stores.stopRedis();
  await job.stop();
  await stores.startRedis();
});
