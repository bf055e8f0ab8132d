import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PolicyEvent, policyEventSchema } from '@gw/contract/internal/policy-event';
import { policyEventStream } from '@gw/contract/internal/redis';
import { openRedis, untilReady } from '@gw/service/redis';
import type { Service } from '@gw/stack/services/service';
import { startValkey } from '@gw/stack/services/valkey';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openSpool } from '../ledger/spool.ts';
import { openPolicyEvents, type PolicyEvents } from './policy-events.ts';

const log = pino({ level: 'silent' });
let dir: string;
let valkey: Service;
let redis: Redis;
let events: PolicyEvents;

const spoolFolder = () => join(dir, 'spool');
/** A busy machine must not decide which store takes an event: that Redis is away is told by the client of Redis. */
const patient = { patienceMs: 60_000, redisBoundMs: 60_000 };
const open = async () =>
  openPolicyEvents({ redis, spool: await openSpool(spoolFolder(), 'here'), log, tendEveryMs: 50, ...patient });

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'gwpolicyevents-'));
  valkey = await startValkey({ dir: join(dir, 'valkey'), log: () => {} });
  redis = openRedis(valkey.url, log, { commandTimeoutMs: 1000 });
  await untilReady(redis, 5000);
  events = await open();
});
afterEach(async () => {
  await events.stop();
  redis.disconnect();
  await valkey.stop();
  rmSync(dir, { recursive: true, force: true });
});

const event = (): PolicyEvent => ({
  id: randomUUID(),
  at: '2026-01-02T03:04:05.678Z',
  account_id: 'acct',
  key_id: 'key',
  request_id: null,
  action: 'block',
  code: 'dual_use_screen_block',
  rule_ids: ['rule'],
  policy_version: 1,
  policy_sha256: '0'.repeat(64),
  text_salt: '1'.repeat(32),
  text_sha256: '2'.repeat(64),
});
const inStream = async (): Promise<PolicyEvent[]> =>
  (await redis.xrange(policyEventStream, '-', '+')).map(([, [field, text]]) => {
    expect(field).toBe('event');
    return policyEventSchema.parse(JSON.parse(text ?? ''));
  });
const waitFor = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 40_000, interval: 20 });
const linesOnDisk = () => readdirSync(spoolFolder()).length;

test('what was found is in the stream when the answer may leave', async () => {
  const found = event();
  await events.record(found);
  expect(await inStream()).toEqual([found]);
  expect(linesOnDisk()).toBe(0);
});

test('Redis that is emptied gets again what was not written down yet', async () => {
  const found = [event(), event()];
  for (const each of found) await events.record(each);
  await redis.flushall();
  await waitFor(async () => expect(await inStream()).toEqual(found));
});

test('nothing is lost while Redis is away: it waits on disk, and is in the stream once Redis is back', async () => {
  await events.record(event());
  await valkey.stop();
  const away = Array.from({ length: 20 }, event);
  await Promise.all(away.map((each) => events.record(each)));
  expect(events.counts()).toEqual({ kept: 0, lost: 0 });
  expect(linesOnDisk()).toBe(1);
  valkey = await startValkey({ dir: join(dir, 'valkey'), log: () => {} });
  await waitFor(async () => {
    const ids = (await inStream()).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(away.map(({ id }) => id)));
  });
  await waitFor(async () => expect(linesOnDisk()).toBe(0));
});

test('what a process that died left on disk is in the stream after the next start', async () => {
  await valkey.stop();
  const left = event();
  await events.record(left);
  await events.stop();
  valkey = await startValkey({ dir: join(dir, 'valkey'), log: () => {} });
  await untilReady(redis, 15_000);
  events = await open();
  await waitFor(async () => expect((await inStream()).map(({ id }) => id)).toContain(left.id));
});

test('while neither Redis nor the disk takes it, it waits in memory', async () => {
  rmSync(spoolFolder(), { recursive: true });
  writeFileSync(spoolFolder(), 'in the way');
  await valkey.stop();
  const found = event();
  await events.record(found);
  expect(events.counts()).toEqual({ kept: 1, lost: 0 });
  rmSync(spoolFolder());
  mkdirSync(spoolFolder());
  valkey = await startValkey({ dir: join(dir, 'valkey'), log: () => {} });
  await waitFor(async () => expect((await inStream()).map(({ id }) => id)).toContain(found.id));
  await waitFor(async () => expect(events.counts()).toEqual({ kept: 0, lost: 0 }));
});
