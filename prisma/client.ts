/** The one way to the database. Everything else takes a `Database` as an argument. */
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { Prisma, PrismaClient } from './generated/client.ts';

export { Prisma };
/** What Postgres answers to a statement of `queryTexts` that it refuses. */
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
  const pool = pools.get(database);
  if (pool === undefined) throw new Error('A statement was run on a database that nobody opened.');
  return (await pool.query<Row>(statement, [...parameters])).rows;
}
