/** Says when the database lets this service change what the audit log tells: the log is append-only by rights elsewhere. */
import type { Context } from '../../shared/context.ts';

/** Never throws: a database that is away is told of by others. */
export async function warnOfRights({ db, log }: Pick<Context, 'db' | 'log'>): Promise<void> {
  const rows = await db.$queryRaw<{ role: string; above: boolean }[]>`
    SELECT current_user::text AS role, r.rolsuper OR pg_has_role(c.relowner, 'MEMBER')
      OR has_table_privilege('audit', 'UPDATE, DELETE, TRUNCATE') AS above
    FROM pg_roles r, pg_class c WHERE r.rolname = current_user AND c.oid = 'audit'::regclass`.catch(() => []);
  const [found] = rows;
  if (found?.above)
    log.warn(
      { role: found.role },
      'this database role may change the audit log, which only triggers protect; give the services a role of their own (docs/operations.md)',
    );
}
