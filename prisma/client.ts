/** The one way to the database. Everything else takes a `Database` as an argument. */
import { PrismaPg } from '@prisma/adapter-pg';
import { Prisma, PrismaClient } from './generated/client.ts';

export { Prisma };
export type Database = PrismaClient;
/** What runs equally in and outside of a transaction. */
export type Queryable = Pick<PrismaClient, '$queryRaw' | '$executeRaw'>;

export interface DatabaseOptions {
  /** Connections in the pool. */
  readonly connections?: number;
  /** A query that takes longer fails, ms: a server that stands still, or a network that swallows, gives no error. */
  readonly queryTimeoutMs?: number;
  /** Told when an idle connection breaks; the pool replaces it, so nothing is lost. */
  readonly onConnectionLost?: (error: Error) => void;
}

/**
 * Opens a pool; connects on first use. A Unix socket is written `postgresql://user@/database?host=/directory`.
 * A query waits at most 5 s for a connection, so that a database that is away gives an error instead of a queue.
 */
export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  const adapter = new PrismaPg(
    {
      connectionString: url,
      max: options.connections ?? 10,
      connectionTimeoutMillis: 5000,
      ...(options.queryTimeoutMs ? { query_timeout: options.queryTimeoutMs } : {}),
    },
    { onPoolError: (error) => options.onConnectionLost?.(error) },
  );
  return new PrismaClient({ adapter, errorFormat: 'minimal' });
}
