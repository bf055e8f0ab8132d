/** Watches a pool of connections: how many are in use, and how long statements take. */
import type pg from 'pg';

export interface PoolState {
  readonly inUse: number;
  /** Statements that wait for a connection. */
  readonly waiting: number;
  /** The statement that has run for longest. */
  readonly oldest: { readonly seconds: number; readonly processId: number | null } | null;
}

interface RunningStatement {
  readonly begunAt: number;
  readonly client: pg.PoolClient;
}

/** Returns the state of the pool. `onStatement` is told of each statement that ended, but for rows that are copied. */
export function watchPool(pool: pg.Pool, onStatement: (seconds: number) => void = () => undefined): () => PoolState {
  // In the order of their beginnings.
  const running = new Set<RunningStatement>();
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...given: readonly unknown[]) => unknown;
    const timed = (...given: readonly unknown[]): unknown => {
      const statement = { begunAt: performance.now(), client };
      running.add(statement);
      const end = (): void => {
        if (running.delete(statement)) onStatement((performance.now() - statement.begunAt) / 1000);
      };
      const last = given.at(-1);
      if (typeof last === 'function')
        return query(...given.slice(0, -1), (...results: readonly unknown[]) => {
          end();
          last(...results);
        });
      const result = query(...given);
      if (result instanceof Promise) result.then(end, end);
      else running.delete(statement);
      return result;
    };
    client.query = timed as typeof client.query;
  });
  return () => {
    const [oldest] = running;
    return {
      inUse: pool.totalCount - pool.idleCount,
      waiting: pool.waitingCount,
      oldest: oldest
        ? { seconds: (performance.now() - oldest.begunAt) / 1000, processId: processIdOf(oldest.client) }
        : null,
    };
  };
}

const processIdOf = (client: pg.PoolClient): number | null =>
  'processID' in client && typeof client.processID === 'number' ? client.processID : null;
