/** Connections to Postgres: how many, and how long anything waits. */
import { defined } from '@gw/contract/internal/defined';
import pg from 'pg';
import { type PoolState, watchPool } from './pool-watch.ts';
import { statementTimeoutMs } from './roles.ts';

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
  /** Told how long each statement took. */
  readonly onStatement?: (seconds: number) => void;
}

declare module 'pg' {
  // Both are missing in its own types.
  interface Client {
    /** The parameters that the first message of a session holds. */
    getStartupConf(): Record<string, string>;
  }
  interface ClientBase {
    /** The process that serves the session, as it was told at its start: behind a pooler another one does. */
    readonly processID: number | null;
  }
}

/**
 * Each session states its time zone, since Prisma sends and reads times without theirs: in another zone keys would outlive their expiry
 * and the whole ledger would look altered. A parameter of its own, and not one of `options`, which poolers refuse.
 */
export class UtcClient extends pg.Client {
  override getStartupConf(): Record<string, string> {
    return { ...super.getStartupConf(), TimeZone: 'UTC' };
  }
}

/** Thrown for a session in which the gateway cannot work; the message names the cure. */
export class UnusableDatabaseError extends Error {
  override readonly name = 'UnusableDatabaseError';
}

/**
 * The patience of Postgres is set where the session is ours alone. Behind a pooler it would stay with whoever has the connection next, so
 * there the role has it (`grant.ts`). A pooler is known by the process that answers: it is not the one that the session was told.
 */
const admission = `
  SELECT zone, role, patience, extract(epoch FROM patience::interval) * 1000 NOT BETWEEN 1 AND $3::int AS endless
  FROM (SELECT current_setting('TimeZone') AS zone, current_user::text AS role,
    CASE WHEN pg_backend_pid() = $1::int THEN set_config('statement_timeout', $2::text, FALSE)
    ELSE current_setting('statement_timeout') END AS patience) AS session`;

/** How long anything waits for a connection, and for the first answer on a new one, for which a saturated pooler has no server. */
const patienceMs = 5000;

interface Session {
  readonly zone: string;
  readonly role: string;
  readonly patience: string;
  readonly endless: boolean;
}

/** Fails closed: a session that tells another time, or in which nothing ends a statement, is never used. */
async function admit(client: pg.ClientBase, queryTimeoutMs = 0): Promise<void> {
  const ownMs = queryTimeoutMs === 0 ? 0 : statementTimeoutMs(queryTimeoutMs);
  const parameters = [client.processID, ownMs, queryTimeoutMs];
  const bounded: pg.QueryConfig & { readonly query_timeout: number } = {
    text: admission,
    values: parameters,
    query_timeout: patienceMs,
  };
  const { rows } = await client.query<Session>(bounded);
  const { endless, patience, role, zone } = defined(rows[0], 'The row of the session');
  const id = pg.escapeIdentifier(role);
  if (zone !== 'UTC')
    throw new UnusableDatabaseError(
      `Postgres answers in the time zone ${zone}, although UTC was asked for, so a pooler in between has dropped that. Let it pass on the startup parameter TimeZone, or run: ALTER ROLE ${id} SET timezone = 'UTC'`,
    );
  if (queryTimeoutMs > 0 && endless)
    throw new UnusableDatabaseError(
      `A pooler is in front of Postgres, and the role ${id} has the statement_timeout ${patience}, so nothing would end a statement that takes too long. Run the migration again, or: ALTER ROLE ${id} SET statement_timeout = ${ownMs}`,
    );
}

/**
 * Opens a pool; connects on first use. A Unix socket is written `postgresql://user@/database?host=/directory`.
 * A query waits at most 5 s for a connection and as long for the first answer on it, so that a database that is away gives an error instead of a queue.
 */
export function openPool(
  url: string,
  options: PoolOptions,
): { readonly pool: pg.Pool; readonly state: () => PoolState } {
  const { connections = 10, onConnectionLost, onStatement, queryTimeoutMs } = options;
  const pool = new pg.Pool({
    connectionString: url,
    Client: UtcClient,
    onConnect: (client) => admit(client, queryTimeoutMs),
    max: connections,
    connectionTimeoutMillis: patienceMs,
    // Temporary tables that live for months would hold back the age of the whole database.
    maxLifetimeSeconds: 86_400,
    ...(queryTimeoutMs ? { query_timeout: queryTimeoutMs } : {}),
  });
  // An error that nobody hears ends the process.
  pool.on('error', (error) => onConnectionLost?.(error));
  return { pool, state: watchPool(pool, onStatement) };
}
