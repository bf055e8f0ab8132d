/** Reads what Postgres is, as a session of ours sees it. */
import type { PostgresFacts } from '@gw/contract/internal/ground';
import { UnusableDatabaseError } from './pool.ts';
import type { Statements } from './statements.ts';

/** Resolves to a sentence if the gateway cannot work in its sessions. Rejects if it does not answer. */
export async function readGround(db: Pick<Statements, '$queryRaw'>): Promise<PostgresFacts | string> {
  try {
    const [row] = await db.$queryRaw<PostgresFacts[]>`
      SELECT current_setting('server_version_num')::int AS version, current_user::text AS role, current_setting('TimeZone') AS zone,
        pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS "isReadOnly",
        ARRAY(SELECT name FROM unnest(ARRAY['fsync', 'full_page_writes', 'synchronous_commit']) AS name
          WHERE current_setting(name) = 'off') AS unsafe,
        coalesce(has_table_privilege(to_regclass('accounts'), 'SELECT') OR has_any_column_privilege(to_regclass('accounts'), 'SELECT'),
          FALSE) AS "mayRead",
        extract(epoch FROM clock_timestamp())::float8 * 1000 AS now`;
    if (row === undefined) throw new Error('Postgres has answered nothing.');
    return row;
  } catch (error) {
    if (error instanceof UnusableDatabaseError) return error.message;
    throw error;
  }
}
