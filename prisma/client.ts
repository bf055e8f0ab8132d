/** The one way to the database. Everything else takes a `Database` as an argument. */
import { finished } from 'node:stream/promises';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { Prisma, PrismaClient } from './generated/client.ts';

export { Prisma };
/** What Postgres answers to a statement of `queryTexts` or `copyText` that it refuses. */
export const { DatabaseError } = pg;
export type Database = PrismaClient;
/** What runs equally in and outside of a transaction. */
export type Queryable = Pick<PrismaClient, '$queryRaw' | '$executeRaw'>;

export interface DatabaseOptions {
  /** Connections in the pool. */
  readonly connections?: number;
  /**
   * A query that takes longer fails, ms: a server that stands still, or a network that swallows, gives no error. Postgres
   * itself ends each statement a little earlier (`statementTimeoutMs`), so that nothing goes on that was given up here.
   */
  readonly queryTimeoutMs?: number;
  /** Told when an idle connection breaks; the pool replaces it, so nothing is lost. */
  readonly onConnectionLost?: (error: Error) => void;
}

/** The limit that Postgres keeps, ms; the rest is for its error to arrive. */
const statementTimeoutMs = (queryTimeoutMs: number): number => Math.floor(0.95 * queryTimeoutMs);

/**
 * Opens a pool; connects on first use. A Unix socket is written `postgresql://user@/database?host=/directory`.
 * A query waits at most 5 s for a connection, so that a database that is away gives an error instead of a queue.
 */
export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  const { queryTimeoutMs } = options;
  const pool = new pg.Pool({
    connectionString: url,
    max: options.connections ?? 10,
    connectionTimeoutMillis: 5000,
    ...(queryTimeoutMs ? { query_timeout: queryTimeoutMs, statement_timeout: statementTimeoutMs(queryTimeoutMs) } : {}),
  });
  // Prisma would listen only once it has connected itself, and an error that nobody hears ends the process.
  pool.on('error', (error) => options.onConnectionLost?.(error));
  const adapter = new PrismaPg(pool, { disposeExternalPool: true });
  const database = new PrismaClient({ adapter, errorFormat: 'minimal' });
  pools.set(database, pool);
  return database;
}

const pools = new WeakMap<Database, pg.Pool>();

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

/**
 * Runs one `COPY … FROM STDIN`, outside of transactions: all of `text` is stored, or nothing. Rejects with `DatabaseError` for what Postgres
 * refuses. `text` is not read any more once this has settled.
 */
export async function copyText(database: Database, statement: string, text: Buffer): Promise<void> {
  const client = await poolOf(database).connect();
  // A connection that breaks fails the stream, too; an error that nobody hears would end the process.
  client.on('error', nothing);
  let error: unknown = null;
  try {
    const stream = client.query(copyFrom(statement));
    stream.end(text);
    await finished(stream);
  } catch (caught) {
    error = caught;
    throw caught;
  } finally {
    client.off('error', nothing);
    // Refused data leaves the connection as it was; what else fails may have ended it, or left it in the middle of something.
    client.release(error !== null && !(error instanceof DatabaseError && refusesData(error.code)));
  }
}

/** Whether an SQLSTATE says that the data itself is refused (class 22: data exception, 23: integrity). */
export const refusesData = (sqlState: unknown): boolean => typeof sqlState === 'string' && /^2[23]/.test(sqlState);

const nothing = (): void => undefined;

function poolOf(database: Database): pg.Pool {
  const pool = pools.get(database);
  if (pool === undefined) throw new Error('A statement was run on a database that nobody opened.');
  return pool;
}
