/**
 * Deletes what its policy no longer keeps, but for receipts, which the archive takes, and evidence packs, which their own job removes.
 *
 * Safe to run in several instances at once, and to be killed: each step is one transaction that only removes rows which are due.
 */
import { Prisma } from '@gw/prisma/client';
import type { Context, Databases } from '../../shared/context.ts';
import { type RepeatedJob, repeat } from '../../shared/repeat.ts';
import { heldAccounts } from './holds.ts';
import { dueRows, type RetentionKind, retentionOf } from './policy.ts';

const everyMs = 600_000;
/** Rows of one step, so that none holds a lock for long. */
const rowsAtOnce = 5000;

interface Removal {
  readonly kind: RetentionKind;
  readonly role: keyof Databases;
  /** The column that holds the account. */
  readonly account: Prisma.Sql;
  /** Which rows are due after `days`, limited in number. */
  readonly due: (days: number, whose: Prisma.Sql) => Prisma.Sql;
}

const removals: readonly Removal[] = [
  {
    kind: 'budget_events',
    role: 'customers',
    account: Prisma.sql`e.account_id`,
    // One that is still to be delivered stays.
    due: (days, whose) => Prisma.sql`
      DELETE FROM budget_events WHERE ctid = ANY (ARRAY(
        SELECT e.ctid FROM budget_events e
        WHERE ${whose} AND e.next_at IS NULL AND e.noted_at < now() - make_interval(days => ${days}::int)
        LIMIT ${rowsAtOnce}))`,
  },
  {
    kind: 'key_uses',
    role: 'customers',
    account: Prisma.sql`k.account_id`,
    due: (days, whose) => Prisma.sql`
      DELETE FROM key_uses WHERE ctid = ANY (ARRAY(
        SELECT u.ctid FROM key_uses u JOIN api_keys k ON k.public_id = u.public_id
        WHERE ${whose} AND u.last_used_on < (now() AT TIME ZONE 'UTC')::date - ${days}::int LIMIT ${rowsAtOnce}))`,
  },
];

/** Returns how many rows of each kind were removed. */
export async function removeDue(context: Pick<Context, 'databases'>): Promise<Readonly<Record<string, number>>> {
  const removed: Record<string, number> = {};
  for (const removal of removals) removed[removal.kind] = await removeKind(context.databases[removal.role], removal);
  return removed;
}

async function removeKind(db: Context['db'], { account, due, kind }: Removal): Promise<number> {
  let removed = 0;
  for (let more = true; more; ) {
    more = await db.$transaction(async (tx) => {
      const rows = dueRows(await retentionOf(tx, kind), await heldAccounts(tx), account);
      let isFull = false;
      for (const { keep, where } of rows) {
        const gone = await tx.$executeRaw(due(keep, where));
        removed += gone;
        isFull ||= gone === rowsAtOnce;
      }
      return isFull;
    });
  }
  return removed;
}

export function startRetention(context: Context): RepeatedJob {
  const { log } = context;
  return repeat({
    name: 'retention',
    everyMs,
    log,
    run: async () => {
      const removed = await removeDue(context);
      if (Object.values(removed).some((count) => count > 0)) log.info({ removed }, 'removed what is kept no longer');
    },
  });
}
