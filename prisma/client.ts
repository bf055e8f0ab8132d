/** The way to the database, but for ext-authz, which makes do with `openStatements`. What needs it takes a `Database` as an argument. */
import { finished } from 'node:stream/promises';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { Prisma, PrismaClient } from './generated/client.ts';
import { openPool, type PoolOptions } from './pool.ts';
import type { PoolState } from './pool-watch.ts';

export { Prisma };
/** Thrown when Postgres refuses a statement of `queryTexts` or `runOverCopy`. */
export const { DatabaseError } = pg;
export type Database = PrismaClient;
/** Runs statements equally inside and outside of a transaction. */
export type Queryable = Pick<PrismaClient, '$queryRaw' | '$executeRaw'>;

/** Opens a pool; connects on first use (`openPool`). */
export function openDatabase(url: string, options: PoolOptions = {}): Database {
  const { pool, state } = openPool(url, options);
  const adapter = new PrismaPg(pool, { disposeExternalPool: true });
  const database = new PrismaClient({ adapter, errorFormat: 'minimal' });
  pools.set(database, { pool, state });
  return database;
}

const pools = new WeakMap<Database, ReturnType<typeof openPool>>();

/** The state of its connections. */
export const poolStateOf = (database: Database): PoolState => openedAs(database).state();

/**
 * Runs one statement, outside of transactions, whose parameters are long texts, as their bytes (UTF-8): Prisma would write them as
 * JSON into JSON, and read that again, before it hands them on. Rejects with `DatabaseError` for what Postgres refuses.
 */
export async function queryTexts<Row extends object>(
  database: Database,
  statement: string,
  parameters: readonly Buffer[],
): Promise<Row[]> {
  return (await poolOf(database).query<Row>(statement, [...parameters])).rows;
}

/** A statement over rows that are copied into a temporary table first. None of these has parameters. */
export interface CopyStatement {
  /** Makes the table if there is none, `ON COMMIT DELETE ROWS`; run each time, since behind a pooler each transaction may have another session. */
  readonly table: string;
  /** `COPY … FROM STDIN`. */
  readonly copy: string;
  /** One, or several; the rows of each are returned. */
  readonly statement: string;
}

/**
 * Copies `text` and runs the statements over it, in one transaction; returns the rows of each. Rejects with `DatabaseError` for what
 * Postgres refuses. `text` is not read any more once this has settled.
 *
 * A client that is gone without a word leaves no lock but on the table of its own connection: while Postgres waits for rows it ends nothing, whatever takes
 * too long, so they are not copied to where others write. The statement and its commit are one message.
 */
export async function runOverCopy<Rows extends readonly object[][]>(
  database: Database,
  run: CopyStatement,
  text: Buffer,
): Promise<Rows> {
  const client = await poolOf(database).connect();
  // A connection that breaks fails what runs on it, too; an error that nobody hears would end the process.
  client.on('error', nothing);
  let failed = true;
  try {
    const stream = client.query(copyFrom(`BEGIN; ${run.table}; ${run.copy}`));
    stream.end(text);
    await finished(stream);
    const results: unknown = await client.query(`${run.statement}; COMMIT`);
    failed = false;
    return (results as readonly pg.QueryResult[]).map(({ rows }) => rows) as readonly object[][] as Rows;
  } finally {
    client.off('error', nothing);
    // A failure leaves its transaction, and perhaps more, unfinished.
    client.release(failed);
  }
}

const nothing = (): void => undefined;

const poolOf = (database: Database): pg.Pool => openedAs(database).pool;

function openedAs(database: Database): ReturnType<typeof openPool> {
  const opened = pools.get(database);
  if (opened === undefined) throw new Error('A statement was run on a database that nobody opened.');
  return opened;
}
