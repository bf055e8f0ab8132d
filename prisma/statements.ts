/** SQL without Prisma's client, for a process that needs nothing else of it: some 30 MB less (docs/decisions/0056-keys-without-prismas-client.md). */
import { openPool, type PoolOptions } from './pool.ts';
import type { PoolState } from './pool-watch.ts';

/** A value that becomes the same parameter of Postgres on both ways. Not a `Date`: `pg` would send another text than Prisma. */
type Parameter = string | number | null | Uint8Array;

/**
 * Statements that run on Prisma's client and on `openStatements`. A `bigint` of Postgres comes as a bigint from the first and as its
 * digits from the second; everything else that `find-key.ts` reads is the same from both.
 */
export interface Statements {
  $queryRaw<Rows>(text: TemplateStringsArray, ...values: readonly Parameter[]): Promise<Rows>;
  /** Resolves to the number of rows that it concerned. */
  $executeRaw(text: TemplateStringsArray, ...values: readonly Parameter[]): Promise<number>;
}

export interface OpenStatements extends Statements {
  /** Waits for what runs. What still waits for a connection fails. */
  close(): Promise<void>;
  /** The state of its connections. */
  readonly pool: () => PoolState;
}

/**
 * Commits a record without effect to Postgres' log, to find out whether it takes writes: a replica refuses it, and a full disk, a lost standby
 * that has to confirm or a dead network hold it up. It needs no right and leaves no row.
 */
export const commitNothing = async (db: Pick<Statements, '$executeRaw'>): Promise<void> => {
  await db.$executeRaw`SELECT pg_logical_emit_message(true, 'gw', '')`;
};

/** Connects and waits as `openDatabase` does. Rejects with the errors of `pg`. */
export function openStatements(url: string, options: PoolOptions = {}): OpenStatements {
  const { pool, state } = openPool(url, options);
  const run = (parts: TemplateStringsArray, values: readonly Parameter[]) => {
    const text = parts.reduce((before, part, index) => `${before}$${index}${part}`);
    return pool.query(text, [...values]);
  };
  return {
    $queryRaw: async <Rows>(parts: TemplateStringsArray, ...values: readonly Parameter[]) =>
      (await run(parts, values)).rows as Rows,
    $executeRaw: async (parts, ...values) => (await run(parts, values)).rowCount ?? 0,
    close: () => pool.end(),
    pool: state,
  };
}
