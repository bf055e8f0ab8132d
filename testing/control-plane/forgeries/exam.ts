/** Tries the forgeries of a holder on real stores, and has the jobs of the product name them. */
import { join } from 'node:path';
import { minuteMs } from '@gw/contract/internal/durations';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { deadLedgerStream, ledgerStream } from '@gw/contract/internal/redis';
import { statementCode } from '@gw/contract/internal/witness';
import type { Receipt } from '@gw/contract/receipt';
import { checkBatches, checkNewestBatches } from '@gw/control-plane/internals/ledger/integrity/check-batches';
import { checkNewest } from '@gw/control-plane/internals/ledger/integrity/check-receipts';
import { openAuditRound, openLogRounds } from '@gw/control-plane/internals/ledger/integrity/jobs';
import { sealOpen } from '@gw/control-plane/internals/ledger/log/heads';
import { trustIn } from '@gw/control-plane/internals/ledger/log/sign';
import { pinHeads } from '@gw/control-plane/internals/ledger/receipts/batches';
import { startIngester } from '@gw/control-plane/internals/ledger/receipts/ingest';
import { startUsageSums } from '@gw/control-plane/internals/ledger/usage/job';
import { compareWitnesses } from '@gw/control-plane/internals/ledger/witness/job';
import { type DatabaseRole, databaseRoles } from '@gw/prisma/roles';
import { type CatalogueHolder, holdCatalogue } from '@gw/receipt-sidecar/internals/catalogue/snapshot';
import pg from 'pg';
import { pino } from 'pino';
import { beforeEach, describe, expect, test } from 'vitest';
import { forFile } from '../../for-file.ts';
import { entryKeys } from '../../ledger-entry.ts';
import { startTestApp, type TestApp, testWitnessKey } from '../app.ts';
import { callAt, type Entry, entryFrom } from '../calls.ts';
import { eventually, ledgerKeys, roundAtOnce, silentLog } from '../fixtures.ts';
import { allForgeries, type Holder, type Namer, type Tried } from './table.ts';

export const account = 'acct_demo_audit';
export const otherAccount = 'acct_demo_other';
export const evidenceKey = signingKeyOf('e1'.repeat(32));

/** Prepares what is genuine, and returns the forgery. */
export type Attempt = (exam: Exam) => Promise<() => Promise<unknown>>;

export interface Exam {
  readonly app: TestApp;
  /** Receipts of calls of some minutes ago, each list in a batch of its own; they are genuine, and may be read. */
  store(...counts: readonly number[]): Promise<readonly Entry[]>;
  /** A genuine call that the ledger does not have yet. */
  call(): Entry;
  /** Notes another form of a receipt as genuine. */
  issued(entry: Entry): Entry;
  /** As the owner, at the end of the attempt. */
  afterwards(statement: string): void;
  /** As one role of the parts. Rejects with what Postgres says. */
  as(role: DatabaseRole, statement: string): Promise<unknown>;
  /** As each role. Returns what Postgres says to each statement and role. */
  asEach(statements: readonly string[]): Promise<string[]>;
  /** As ext-authz states it: calls of the minute that the witnesses are asked about. */
  state(seq: number, calls: number, key?: Buffer): Promise<void>;
  /** A receipt of that minute. */
  witnessed(): Entry;
  /** As a sidecar hands an entry on. */
  put(entry: Buffer): Promise<unknown>;
  /** Faults that the jobs have found and nobody has mended or acknowledged. */
  faults(): Promise<string[]>;
  /** Runs what names forgeries, as its job does. */
  run(by: Namer): Promise<void>;
  /** Everything else that was said: the reasons of entries that were set aside, and the errors in logs. */
  readonly said: string[];
}

const tables = [
  ...['receipts', 'receipt_replacements', 'receipt_batches', 'receipt_heads', 'integrity_faults'],
  ...['receipt_log', 'receipt_log_nodes', 'receipt_log_hours', 'receipt_log_checkpoints', 'receipt_log_changes'],
  ...['call_counts', 'call_count_changes', 'witness_statements', 'witness_lives', 'witness_gaps'],
  ...['usage_minutes', 'usage_changes', 'usage_hours', 'usage_hour_changes', 'usage_days', 'usage_day_changes'],
  ...['audit', 'audit_heads', 'audit_heads_seen'],
];

function openExam(app: TestApp): Exam & { readonly genuine: readonly Receipt[]; readonly last: readonly string[] } {
  const { stores } = app;
  const genuine: Receipt[] = [];
  const last: string[] = [];
  const said: string[] = [];
  const minute = (Math.floor(Date.now() / minuteMs) - 5) * minuteMs;
  let minutes = 10;
  const log = pino({ level: 'error' }, { write: (line: string) => void said.push(line) });
  const trust = trustIn(evidenceKey);
  const options = { ...stores, trust, log: silentLog };
  const auditRound = openAuditRound({ db: stores.db, log: silentLog, keys: ledgerKeys }, 3600);
  const issued = (entry: Entry): Entry => {
    genuine.push(entry.receipt);
    return entry;
  };
  const callOf = (ms: number) => issued(entryFrom(callAt(new Date(ms).toISOString()), { accountId: account }));
  const call = () => callOf(Date.now() - minuteMs * minutes++);
  const as = async (role: DatabaseRole, statement: string) => {
    const client = new pg.Client({ connectionString: stores.postgres.as(role) });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  /** The next full check, which comes before the job would run again. */
  const wholeAuditRound = async (run: () => Promise<void>): Promise<void> => {
    const finished = async () => {
      const row = await stores.db.integrityCheck.findUnique({ where: { kind: 'audit' } });
      return row?.finishedAt?.getTime();
    };
    const before = await finished();
    await eventually(async () => {
      await run();
      return (await finished()) !== before;
    });
  };
  const jobs: Readonly<Record<Namer, () => Promise<void>>> = {
    audit: () => wholeAuditRound(auditRound),
    batches: async () => {
      await sealOpen(options, 0);
      await checkNewestBatches(options);
      await checkBatches({ ...options, ...roundAtOnce });
    },
    catalogue: async () => {},
    ingest: async () => {
      const { db, redis, seals } = stores;
      const { entries } = app.services.ledger;
      const ingester = startIngester({ db, redis: stores.connect(), log: silentLog, seals, entries, consumer: 'exam' });
      await eventually(async () => (await redis.xlen(ledgerStream)) === 0);
      await ingester.stop();
      for (const [, fields] of await redis.xrange(deadLedgerStream, '-', '+')) said.push(String(fields[3]));
    },
    log: () => openLogRounds({ ...options, ...roundAtOnce })(),
    pack: async () => {},
    receipts: () => checkNewest(options),
    rights: async () => {},
    sums: async () => {
      await startUsageSums({ db: stores.db, log }).stop();
    },
    witness: async () => {
      // A difference has to last, and the tests do not wait for it.
      const keys = { current: testWitnessKey, previous: null };
      for (const aheadMs of [0, 20_000, 60_000]) await compareWitnesses({ ...options, keys, aheadMs });
    },
  };
  return {
    app,
    genuine,
    last,
    said,
    call,
    issued,
    afterwards: (statement) => void last.push(statement),
    as,
    run: (by) => jobs[by](),
    put: (entry) => stores.redis.xadd(ledgerStream, '*', 'entry', entry),
    witnessed: () => callOf(minute + 1000),
    store: async (...counts) => {
      const all: Entry[] = [];
      for (const count of counts) {
        const entries = Array.from({ length: count }, call);
        await app.store(...entries);
        all.push(...entries);
      }
      // As the ingester does it behind each batch.
      const heads = await stores.db.$queryRaw<{ text: string }[]>`
        SELECT concat_ws(' ', number, encode(head, 'hex'), seal, seal_key) AS text FROM receipt_batches`;
      await pinHeads(
        stores.redis,
        heads.map(({ text }) => text),
      );
      return all;
    },
    asEach: async (statements) => {
      const answers: string[] = [];
      for (const role of databaseRoles) {
        const client = new pg.Client({ connectionString: stores.postgres.as(role) });
        await client.connect();
        for (const statement of statements) {
          answers.push(`${role}: ${statement}: ${await answerTo(client.query(statement))}`);
        }
        await client.end();
      }
      return answers;
    },
    state: async (seq, calls, key = testWitnessKey) => {
      const counted = calls === 0 ? [] : [[minute / minuteMs, account, calls]];
      const statement = JSON.stringify({ calls: counted, unsure: [], isLast: false });
      const code = statementCode(key, { life: 'one', seq }, statement);
      const values = `'one', ${seq}, '${statement}', '${code}'`;
      await as('ext_authz', `INSERT INTO witness_statements (life, seq, statement, code) VALUES (${values})`);
      // It has been there for an hour.
      if (seq === 1) await stores.tamper(`UPDATE witness_statements SET stated_at = stated_at - INTERVAL '1 hour'`);
    },
    faults: async () =>
      (
        await stores.db.integrityFault.findMany({
          where: { mendedAt: null },
          orderBy: [{ kind: 'asc' }, { name: 'asc' }, { number: 'asc' }],
        })
      ).map(({ fault, kind, name, number }) => `${kind} ${name} ${number} ${fault}`),
  };
}

/** Tries all forgeries of a holder that no other file tries. */
export function examine<H extends Holder>(holder: H, attempts: Readonly<Record<Tried<H>, Attempt>>): void {
  const app = forFile(startTestApp);
  beforeEach(async () => {
    await app.stores.empty(...tables);
    await app.stores.tamper(
      `UPDATE integrity_checks SET claimed_until = NULL, begun_at = NULL, after_id = '', finished_at = NULL, moved_at = NULL`,
    );
    await app.stores.redis.flushdb();
    await app.refresh();
  });
  const rows = allForgeries.filter((row) => row.holder === holder && row.tried === undefined);
  describe('who holds it may', () => {
    test.each(rows)('$number: $what', async ({ as, by, what }) => {
      const exam = openExam(app);
      const attempt: Attempt = attempts[what as Tried<H>];
      const forge = await attempt(exam);
      await exam.run(by);
      expect([await exam.faults(), exam.said], 'before it').toEqual([[], []]);
      const answer = await forge();
      await exam.run(by);
      const names = [...(await exam.faults()), ...exam.said, ...(Array.isArray(answer) ? answer.map(String) : [])];
      if (as === null) expect(names).toEqual([]);
      else {
        expect(names.join('\n')).toMatch(new RegExp(as, 'm'));
        if (by === 'rights') for (const each of names) expect(each).toMatch(new RegExp(as));
      }
      if ((await exam.faults()).length > 0)
        expect((await app.operator.inject('/healthz')).json()).toMatchObject({ status: 'degraded' });
      await expectGenuine(exam);
      for (const statement of exam.last) await app.stores.tamper(statement);
    });
  });
}

/** Returns what Postgres answers to an attempt that it should refuse. */
export const answerTo = (attempt: Promise<unknown>): Promise<string[]> =>
  attempt.then(
    () => ['done'],
    (error: Error) => [error.message],
  );

/** Whoever asks for receipts gets those that a sidecar has made, as it has made them, and no others. */
async function expectGenuine({ app, genuine }: ReturnType<typeof openExam>): Promise<void> {
  for (const accountId of [account, otherAccount]) {
    const reply = await app.get('/v1/gw/receipts?limit=100', { 'x-gw-account-id': accountId });
    for (const receipt of reply.json().data ?? []) expect(genuine).toContainEqual(receipt);
  }
}

/** The catalogue of a sidecar that keeps it in this folder. What it refuses is noted in `said`. */
export function sidecarCatalogue({ stores }: TestApp, folder: string, said: string[]): CatalogueHolder {
  const log = pino({ level: 'error' }, { write: (line: string) => void said.push(line) });
  const file = join(folder, 'catalogue.json');
  const connections = { redis: stores.redis, subscriber: stores.connect() };
  return holdCatalogue({ ...connections, pollMs: 20, file, key: entryKeys.current, log });
}
