/** SQL without Prisma's client, for a process that needs nothing else of it: 40 MB less (docs/decisions/0056-keys-without-prismas-client.md). */
import { openPool, type PoolOptions } from './pool.ts';

/**
 * What runs on Prisma's client and on `openStatements` alike. Values become parameters. A `bigint` of Postgres comes as a bigint from the first and
 * as its digits from the second; all else that is read this way is the same.
 */
export interface Statements {
  $queryRaw<Rows>(text: TemplateStringsArray, ...values: readonly unknown[]): Promise<Rows>;
  /** Resolves to the number of rows that it concerned. */
  $executeRaw(text: TemplateStringsArray, ...values: readonly unknown[]): Promise<number>;
}

export interface OpenStatements extends Statements {
  /** Waits for what runs. */
  close(): Promise<void>;
}

/** As `openDatabase` connects and waits. Rejects with the errors of `pg`. */
export function openStatements(url: string, options: PoolOptions = {}): OpenStatements {
  const pool = openPool(url, options);
  const run = (parts: TemplateStringsArray, values: readonly unknown[]) =>
    pool.query(
      parts.reduce((text, part, index) => `${text}$${index}${part}`),
      [...values],
    );
  return {
    $queryRaw: async <Rows>(parts: TemplateStringsArray, ...values: readonly unknown[]) =>
      (await run(parts, values)).rows as Rows,
    $executeRaw: async (parts, ...values) => (await run(parts, values)).rowCount ?? 0,
    close: () => pool.end(),
  };
}
