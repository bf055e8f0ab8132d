/**
 * The cost of the ledger behind the calls: processor time of the ingest, of Postgres and of Valkey for each receipt, and bytes in Postgres.
 *
 *     node --max-old-space-size=192 --max-semi-space-size=8 bench/ledger-cost.ts [rounds] [receipts of a round]
 *
 * The arguments are those of the control plane (stack/memory.ts). It starts stores of its own. Entries are as sidecars make them, of models by parameters, ranges and size classes and with energy that providers report. They wait
 * in the stream before the clock starts, so each batch is full, and Postgres waits for its disk. The time of the ingest is that of its process with all threads:
 * reading, checks, sealing, compression, writing, and garbage. `slowness` is that of the yardstick of the steps (micro.ts) around each round. Two commits are
 * compared by running it in turns in a checkout of each.
 */
import { fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { defined, elementAt } from '@gw/contract/internal/defined';
import { ledgerStream } from '@gw/contract/internal/redis';
import { EntrySealer } from '@gw/contract/internal/sealed-entry';
import { openEntries } from '@gw/control-plane/internals/ledger/receipts/entries';
import { startIngester } from '@gw/control-plane/internals/ledger/receipts/ingest';
import { openSeals } from '@gw/control-plane/internals/ledger/receipts/sealed-rows';
import { openDatabase } from '@gw/prisma/client';
import { migrate } from '@gw/prisma/internals/migrate';
import { entryContent } from '@gw/receipt-sidecar/internals/receipt/entry-content';
import { makeReceipt } from '@gw/receipt-sidecar/internals/receipt/receipt';
import { traceText } from '@gw/receipt-sidecar/internals/routing/routing-trace';
import { openLog } from '@gw/service/log';
import { startPostgres } from '@gw/stack/services/postgres';
import { startValkey } from '@gw/stack/services/valkey';
import { Redis } from 'ioredis';
import { median } from './load/statistics.ts';
import { cpuMs, yardstick, yardstickReferenceUs } from './micro.ts';
import { usedBy } from './processes.ts';
import { finishedCalls } from './receipt-calls.ts';

const [rounds = 5, count = 5000] = process.argv.slice(2).map(Number);
const accounts = 20;

/** Set in the process that makes entries. */
const { GW_BENCH_KEY: key = randomBytes(32).toString('hex'), GW_BENCH_VALKEY: feeds } = process.env;
const keys = { current: { id: 1, secret: Buffer.from(key, 'hex') }, others: [] };
const sealer = new EntrySealer(keys.current);
const onFault = (error: unknown): never => {
  throw error;
};

/** A UUIDv7 of now. */
function receiptId(now: number): string {
  const hex = now.toString(16).padStart(12, '0');
  return `rcpt_${hex.slice(0, 8)}-${hex.slice(8)}-7${randomUUID().slice(15)}`;
}

/** Tokens and times vary from call to call, as those of clients do. */
function entryOf(at: number): Buffer {
  const [, { identity: base, outcome: ended }] = elementAt(finishedCalls, at % finishedCalls.length);
  const now = Date.now();
  const createdAt = new Date(now).toISOString();
  const identity = { ...base, receiptId: receiptId(now), createdAt, requestId: randomUUID() };
  const usage = {
    promptTokens: Math.ceil(3000 * Math.random() ** 3),
    cachedPromptTokens: 0,
    completionTokens: Math.ceil(900 * Math.random()),
  };
  const outcome = { ...ended, usage, upstreamLatencyS: 0.1 + 10 * Math.random() };
  const made = makeReceipt(identity, outcome, onFault);
  const by = ended.servedBy;
  const served = { by, attempts: 1, fault: null, status: 200, failures: [], requestedAt: createdAt };
  const trace = traceText(
    identity.route,
    { ...served, footprintAt: () => null, cachedTokens: null, uncachedFootprint: () => null },
    onFault,
  );
  const owner = { accountId: `acct_bench_${at % accounts}`, keyId: `key_bench_${at % accounts}` };
  const texts = { receipt: made.receipt, trace, facts: made.facts, assumed: null };
  return sealer.seal(entryContent(owner, identity, { outcome, numbers: made.numbers }, texts), 'made');
}

if (feeds !== undefined) {
  const redis = new Redis(feeds);
  const feeding = redis.pipeline();
  for (let at = 0; at < count; at += 1) feeding.xadd(ledgerStream, '*', 'entry', entryOf(at));
  await feeding.exec();
  redis.disconnect();
  process.exit();
}

const dir = mkdtempSync(join(tmpdir(), 'gw-bench-ledger-'));
const quiet = (): void => undefined;
const postgres = await startPostgres({ dir: join(dir, 'postgres'), log: quiet, durable: true });
const valkey = await startValkey({ dir: join(dir, 'valkey'), log: quiet, durable: false });
await migrate(postgres.url, quiet);
const db = openDatabase(postgres.url);
await db.$executeRaw`SELECT ensure_receipt_partitions(CURRENT_DATE, 2)`;
const [looking, reader] = [new Redis(valkey.url), new Redis(valkey.url)];

function cpuUs(): readonly number[] {
  const { system, user } = process.cpuUsage();
  const used = usedBy({ postgres: postgres.pid, valkey: valkey.pid });
  return [user + system, ...[used.postgres, used.valkey].map((each) => defined(each, 'A process').cpuUs)];
}

const ingesting = {
  db,
  redis: reader,
  log: openLog('bench', 'warn'),
  seals: openSeals({ keys, report: async () => onFault(new Error('A row is not genuine.')) }),
  entries: openEntries(keys),
  consumer: 'bench',
};

/** How much longer the yardstick takes now than on the machine that the limits of steps were set for. */
function slowness(): number {
  const before = cpuMs();
  for (let at = 0; at < 2000; at += 1) yardstick();
  return (cpuMs() - before) / 2 / yardstickReferenceUs;
}

/** The last is the slowness of the machine around it. */
async function round(): Promise<number[]> {
  const slow = slowness();
  const env = { ...process.env, GW_BENCH_KEY: key, GW_BENCH_VALKEY: valkey.url };
  // In a process of its own, since its garbage would be collected with that of the ingest.
  await once(fork(defined(process.argv[1], 'A program'), process.argv.slice(2), { env }), 'exit');
  const before = cpuUs();
  const ingester = startIngester(ingesting);
  while ((await looking.xlen(ledgerStream)) > 0) await delay(50);
  await ingester.stop();
  const used = cpuUs().map((after, at) => (after - elementAt(before, at)) / count);
  return [...used, (slow + slowness()) / 2];
}

try {
  // So that all code is compiled.
  for (let at = 0; at < 2; at += 1) await round();
  const found: number[][] = [];
  for (let at = 0; at < rounds; at += 1) found.push(await round());
  const [control, inPostgres, inValkey, slow] = [0, 1, 2, 3].map((part) =>
    Number(defined(median(found.map((each) => elementAt(each, part))), 'A median').toFixed(2)),
  );
  const [stored] = await db.$queryRaw<{ rows: number; row: number; indexes: number }[]>`
    SELECT r.rows, s.row / r.rows AS row, s.indexes / r.rows AS indexes
    FROM (SELECT count(*)::float8 AS rows FROM receipts) r, (
      SELECT sum(pg_table_size(inhrelid))::float8 AS row, sum(pg_indexes_size(inhrelid))::float8 AS indexes
      FROM pg_inherits WHERE inhparent = 'receipts'::regclass) s`;
  const { indexes, row, rows } = defined(stored, 'A row');
  const bytes = { row: Math.round(row), indexes: Math.round(indexes), entry: entryOf(0).length };
  const us = { control, postgres: inPostgres, valkey: inValkey };
  process.stdout.write(`${JSON.stringify({ us, slowness: slow, bytes, receipts: rows })}\n`);
} finally {
  looking.disconnect();
  reader.disconnect();
  await db.$disconnect();
  await postgres.stop();
  await valkey.stop();
  rmSync(dir, { recursive: true, force: true });
}
