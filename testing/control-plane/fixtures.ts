/** Real stores and ready-made receipts for the tests of the control plane. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Addresses } from '@gw/contract/errors';
import type { Receipt } from '@gw/contract/receipt';
import type { RoutingTrace } from '@gw/contract/routing-trace';
import { openLedgerSeals } from '@gw/control-plane/internals/ledger/integrity/open-seals';
import { openEntries } from '@gw/control-plane/internals/ledger/receipts/entries';
import { openSeals, type Seals } from '@gw/control-plane/internals/ledger/receipts/sealed-rows';
import { setAuditKeys } from '@gw/control-plane/internals/people/audit/seal';
import type { Databases } from '@gw/control-plane/internals/shared/context';
import { setNameKeys } from '@gw/control-plane/internals/shared/names/names';
import type { ObjectStore } from '@gw/control-plane/internals/shared/objects/objects';
import { type Database, openDatabase } from '@gw/prisma/client';
import { seed } from '@gw/prisma/internals/seed';
import { byControlPlaneRole } from '@gw/prisma/roles';
import { untilReady } from '@gw/service/redis';
import type { RedisWriter } from '@gw/service/redis-writer';
import { startValkey } from '@gw/stack/services/valkey';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { entryKeys, type LedgerEntry } from '../ledger-entry.ts';
import { createDatabase, startTestPostgres, type TestDatabase, type TestPostgres } from '../prisma/postgres.ts';
import { emptyValkey, readyWriter } from '../valkey.ts';
import { memoryObjects } from './memory-objects.ts';

export const silentLog = pino({ level: 'silent' });

/** A round of a check that begins now and rests nowhere. */
export const roundAtOnce = { fullS: 0, restFactor: 0, signal: new AbortController().signal };

/** Fails the test of whoever meets a fault of the program. */
export const noFaults = {
  fault: (kind: string, error: unknown): never => {
    throw new Error(`a fault of the program: ${kind}`, { cause: error });
  },
};

/** With which the tests seal the ledger. */
export const ledgerKeys = { current: { id: 1, secret: Buffer.alloc(32, 9) }, others: [] };

/** With which the tests wrap the keys of names. */
export const nameKeys = { current: { id: 1, secret: Buffer.alloc(32, 0xa3) }, others: [] };

/** For what has no stores at hand; they tell nobody what they find. */
export const testEntries = openEntries(entryKeys);

export const testSeals = openSeals({ keys: ledgerKeys, report: async () => {} });

export const addresses: Addresses = {
  baseUrl: 'https://gw.example',
  statusUrl: 'https://status.example',
  auditEmail: 'audit@example.com',
  securityEmail: 'security@example.com',
};

export interface Stores {
  readonly postgres: TestDatabase;
  /** With the rights of all parts together. */
  readonly db: Database;
  /** With the rights of each role of the control plane. */
  readonly databases: Databases;
  readonly redis: Redis;
  readonly redisUrl: string;
  /** The connection for claims of idempotency keys. */
  readonly claims: RedisWriter;
  /** With a key of the tests. What they find is noted, as by the service. */
  readonly seals: Seals;
  readonly objects: ObjectStore;
  /** Empties tables, also those that only grow. */
  empty(...tables: readonly string[]): Promise<void>;
  /** Runs a statement as the owner, with the triggers off. */
  tamper(statement: string): Promise<void>;
  /** A further connection. */
  connect(): Redis;
  stop(): Promise<void>;
}

/** With a Redis that no other file uses. */
export interface StoresWithOwnRedis extends Stores {
  stopRedis(): Promise<void>;
  /** Comes back empty. Resolves when all connections that are open have found it. */
  startRedis(): Promise<void>;
}

/** With a Postgres, too, that no other file uses. */
export interface OwnStores extends StoresWithOwnRedis {
  readonly postgres: TestPostgres;
}

/** On the Postgres and the Valkey that the files of a run share; empty but for what is seeded. */
export async function startStores(): Promise<Stores> {
  return (await openStores(await createDatabase('seeded'), await emptyValkey())).stores;
}

export async function startStoresWithOwnRedis(): Promise<StoresWithOwnRedis> {
  return withOwnRedis(await createDatabase('seeded'));
}

export async function startOwnStores(): Promise<OwnStores> {
  const postgres = await startTestPostgres(true);
  await postgres.migrate();
  const owner = openDatabase(postgres.url, { connections: 1 });
  await seed(owner, { pepper: { version: 1, secret: Buffer.alloc(32, 7) }, simulatorUrl: 'http://127.0.0.1:9000' });
  await owner.$disconnect();
  return { ...(await withOwnRedis(postgres)), postgres };
}

async function withOwnRedis(postgres: TestDatabase): Promise<StoresWithOwnRedis> {
  const dir = mkdtempSync(join(tmpdir(), 'gwcp-'));
  const options = { dir, log: () => {}, durable: false };
  let valkey = await startValkey(options);
  const { stores, connections } = await openStores(postgres, valkey.url);
  return {
    ...stores,
    stopRedis: () => valkey.stop(),
    startRedis: async () => {
      valkey = await startValkey(options);
      const open = connections.filter(({ status }) => status !== 'end');
      await Promise.all([...open.map((each) => untilReady(each, 10_000)), stores.claims.untilReady(10_000)]);
    },
    stop: async () => {
      await stores.stop();
      await valkey.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** `connections`: all that were made to Redis. */
async function openStores(
  postgres: TestDatabase,
  redisUrl: string,
): Promise<{ stores: Stores; connections: readonly Redis[] }> {
  const owner = openDatabase(postgres.url, { connections: 1 });
  const tamper = async (statement: string): Promise<void> => {
    await owner.$transaction([
      owner.$executeRaw`SET LOCAL session_replication_role = replica`,
      owner.$executeRawUnsafe(statement),
    ]);
  };
  const db = openDatabase(postgres.serviceUrl);
  const databases = byControlPlaneRole((role) => openDatabase(postgres.as(role), { connections: 4 }));
  for (const each of [db, ...Object.values(databases)]) {
    setAuditKeys(each, ledgerKeys);
    setNameKeys(each, nameKeys);
  }
  const connections: Redis[] = [];
  const connect = (): Redis => {
    const redis = new Redis(redisUrl, { retryStrategy: () => 50, enableOfflineQueue: false, maxRetriesPerRequest: 0 });
    redis.on('error', () => {});
    connections.push(redis);
    return redis;
  };
  const redis = connect();
  await new Promise((resolve) => redis.once('ready', resolve));
  const claims = await readyWriter(redisUrl);
  const stores = {
    postgres,
    db,
    databases,
    redis,
    redisUrl,
    claims,
    seals: openLedgerSeals({ db, keys: ledgerKeys, log: silentLog }),
    objects: memoryObjects(),
    tamper,
    // To truncate the partitions of the ledger takes six times as long.
    empty: (...tables: readonly string[]) =>
      tamper(`DO $$ BEGIN ${tables.map((table) => `DELETE FROM ${table};`).join(' ')} END $$`),
    connect,
    stop: async () => {
      for (const each of connections) each.disconnect();
      claims.stop();
      await Promise.all([db, owner, ...Object.values(databases)].map((each) => each.$disconnect()));
      await postgres.stop();
    },
  };
  return { stores, connections };
}

/** The tables of receipts and their log, of what was found in them, and of the audit log. */
export const ledgerTables = [
  'receipts',
  'receipt_replacements',
  'receipt_log',
  'receipt_log_nodes',
  'receipt_log_hours',
  'receipt_log_checkpoints',
  'receipt_log_cosignatures',
  'receipt_log_changes',
  'integrity_faults',
  'audit',
  'audit_heads',
] as const;

/** Notes what tables hold. The function that it returns puts it back, much faster than it can be made anew. */
export async function keepTables({ tamper }: Stores, ...tables: readonly string[]): Promise<() => Promise<void>> {
  for (const table of tables) await tamper(`CREATE TABLE kept_${table} AS SELECT * FROM ${table}`);
  const putBack = (table: string) => `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM kept_${table};`;
  return () => tamper(`DO $$ BEGIN ${tables.map(putBack).join(' ')} END $$`);
}

/** For tests whose calls have a fixed date: what the client was shown settles a receipt of any age. */
export const settleAnyAge = ({ tamper }: Stores): Promise<void> =>
  tamper(`DO $$ BEGIN
    EXECUTE replace(pg_get_functiondef('guard_receipt'::regproc), '7 days', '100 years');
  END $$`);

/** Tries until it is true, or gives up after 40 s. */
export async function eventually(check: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + 40_000;
  while (!(await Promise.resolve(check()).catch(() => false))) {
    if (Date.now() > deadline) throw new Error('it did not come true within 40 s');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** An id as the sidecar makes it: UUIDv7 of the given time. */
export function receiptIdAt(time: Date): string {
  const ms = time.getTime().toString(16).padStart(12, '0');
  return `rcpt_${ms.slice(0, 8)}-${ms.slice(8)}-7${randomUUID().slice(15)}`;
}

const measured = {
  energy_wh: 1.5,
  energy_accelerator_wh: 1,
  energy_host_wh: 0.3,
  energy_idle_wh: null,
  energy_overhead_wh: 0.2,
  energy_low_wh: 1.2,
  energy_high_wh: 1.9,
  energy_split: 'modelled' as const,
  energy_failed_attempts_wh: null,
  carbon_g: 0.6,
  carbon_operation_g: 0.5,
  carbon_embodied_g: 0.1,
  carbon_low_g: 0.4,
  carbon_high_g: 0.8,
  sci_g_per_request: 0.6,
  water_ml: 2.5,
  uncertainty_basis: 'test',
};

export function receiptOf(changes: Partial<Receipt> = {}): Receipt {
  const id = changes.id ?? receiptIdAt(new Date());
  const createdAt = new Date(Number.parseInt(id.slice(5, 18).replace('-', ''), 16)).toISOString();
  return {
    id,
    object: 'gw.receipt',
    version: 1,
    supersedes: null,
    created_at: createdAt,
    request_id: 'req',
    status: 'complete',
    tier: 'parametric',
    requested_tier: 'auto',
    tier_reason: 'test',
    boundary: 'comprehensive',
    boundary_excludes: [],
    model: 'sim-small',
    provider: 'simulator',
    region: 'us-east',
    pinned_region: null,
    api: 'chat',
    grid_zone: 'USA',
    prompt_tokens: 10,
    completion_tokens: 20,
    usage_source: 'provider',
    ...measured,
    pue: 1.1,
    grid_intensity_g_per_kwh: 380,
    grid_intensity_source: 'test',
    grid_intensity_observed_at: createdAt,
    grid_intensity_requested_at: createdAt,
    grid_intensity_age_minutes: 0,
    grid_temporal_match: 'annual_fallback',
    methodology: 'test',
    methodology_version: '1',
    methodology_hash: 'x',
    ...changes,
  };
}

/** Only that there is one matters. */
export const trace: RoutingTrace = {
  policy: 'provider_preference',
  decision: 'the only one',
  fallback: false,
  fallback_reason: null,
  region: 'eu-north',
  deployment: 'simulated-eu-north',
  attempts: { count: 1, failed: [] },
  estimated_tokens: null,
  operational_signal: null,
  candidates: [],
  estimated_saving_g: null,
  counterfactual: null,
};

export const entryOf = (changes: Partial<Receipt> = {}, accountId = 'acct_demo_audit'): LedgerEntry => ({
  accountId,
  keyId: 'key',
  endpoint: '/v1/chat/completions',
  receipt: receiptOf(changes),
  routingTrace: trace,
  facts: { inputs: 'of the calculation' },
});
