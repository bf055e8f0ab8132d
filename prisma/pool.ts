/** Connections to Postgres: how many, and how long anything waits. */
import pg from 'pg';

export interface PoolOptions {
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

/**
 * Each session states its time zone, since Prisma sends and reads times without theirs: in another zone keys would outlive their expiry
 * and the whole ledger would look altered. Other `options` of the URL stay.
 */
function inUtc(url: string): string {
  const [, query = ''] = url.split('?', 2);
  const options = [new URLSearchParams(query).get('options'), '-c TimeZone=UTC'].filter(Boolean).join(' ');
  // The last one of a name holds.
  return `${url}${url.includes('?') ? '&' : '?'}options=${encodeURIComponent(options)}`;
}

/** The limit that Postgres keeps, ms; the rest is for its error to arrive. */
const statementTimeoutMs = (queryTimeoutMs: number): number => Math.floor(0.95 * queryTimeoutMs);

/**
 * Opens a pool; connects on first use. A Unix socket is written `postgresql://user@/database?host=/directory`.
 * A query waits at most 5 s for a connection, so that a database that is away gives an error instead of a queue.
 */
export function openPool(url: string, { connections = 10, onConnectionLost, queryTimeoutMs }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: inUtc(url),
    max: connections,
    connectionTimeoutMillis: 5000,
    // Temporary tables that live for months would hold back the age of the whole database.
    maxLifetimeSeconds: 86_400,
    ...(queryTimeoutMs ? { query_timeout: queryTimeoutMs, statement_timeout: statementTimeoutMs(queryTimeoutMs) } : {}),
  });
  // An error that nobody hears ends the process.
  pool.on('error', (error) => onConnectionLost?.(error));
  return pool;
}
