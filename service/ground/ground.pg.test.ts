/** The questions as a real Valkey and a real Postgres answer them. */

import { readGround } from '@gw/prisma/ground';
import { openStatements } from '@gw/prisma/statements';
import { forFile } from '@gw/testing/for-file';
import { createDatabase } from '@gw/testing/prisma/postgres';
import { emptyValkey } from '@gw/testing/valkey';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { postgresGround } from './postgres.ts';
import { valkeyGround } from './valkey.ts';

const postgres = forFile(() => createDatabase('migrated'));

test('a Valkey says what it is, and when its settings change', async () => {
  const redis = new Redis(await emptyValkey());
  onTestFinished(async () => {
    await redis.config('SET', 'maxmemory-policy', 'noeviction');
    redis.disconnect();
  });
  const { look } = valkeyGround(() => [redis], false);
  const names = async () => (await look()).findings.map(({ name }) => name);
  const { facts } = await look();
  expect(facts).toMatchObject({
    server: expect.stringMatching(/^(valkey|redis) \d+\.\d/),
    mode: 'cluster',
    role: 'master',
  });
  expect(Math.abs(Number(facts.ahead_s))).toBeLessThan(2);
  // Stores of tests keep nothing, and are a node of a cluster.
  expect(await names()).toEqual(['valkey_cluster', 'valkey_persistence']);
  await redis.config('SET', 'maxmemory-policy', 'volatile-ttl');
  expect(await names()).toEqual(['valkey_cluster', 'valkey_eviction', 'valkey_persistence']);
});

test('each role of Postgres can say what it stands on', async () => {
  for (const role of ['ext_authz', 'people', 'customers', 'catalogue', 'ledger', 'reader'] as const) {
    const db = openStatements(postgres.as(role), { connections: 1 });
    onTestFinished(() => db.close());
    const { facts, findings } = await postgresGround(() => readGround(db)).look();
    expect(facts).toMatchObject({ role: `gw_${role}`, zone: 'UTC', read_only: false });
    expect(findings.map(({ name }) => name)).toEqual(['postgres_durability']);
  }
});

test('one without tables, and one that takes no writes', async () => {
  const empty = await createDatabase('empty');
  onTestFinished(() => empty.stop());
  const url = new URL(empty.url);
  url.searchParams.set('options', '-c default_transaction_read_only=on');
  const db = openStatements(url.href, { connections: 1 });
  onTestFinished(() => db.close());
  const { findings } = await postgresGround(() => readGround(db)).look();
  expect(findings.map(({ name }) => name)).toEqual(['postgres_read_only', 'postgres_durability', 'postgres_rights']);
});
