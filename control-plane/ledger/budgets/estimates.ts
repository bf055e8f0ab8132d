/** Counts calls whose receipts lack numbers in budgets, with the amounts that are assumed for them. */
import type { Amounts } from '@gw/contract/internal/budgets';
import { Prisma, type Queryable } from '@gw/prisma/client';
import { newest } from '../receipts/ledger.ts';

interface EstimatedSum extends Amounts {
  readonly key_id: string;
  readonly project: string | null;
}

/** Returns sums of the estimates of a period, by key and project. An amount that the newest version of a receipt has is in none. */
export function estimatesOf(db: Queryable, accountId: string, from: Date, to: Date): Promise<EstimatedSum[]> {
  return db.$queryRaw<EstimatedSum[]>`
    SELECT r.key_id, r.body ->> 'project' AS project, sum(e.carbon_g) FILTER (WHERE r.carbon_g IS NULL) AS carbon_g,
      sum(e.energy_wh) FILTER (WHERE r.energy_wh IS NULL) AS energy_wh,
      sum(e.tokens) FILTER (WHERE r.prompt_tokens IS NULL OR r.completion_tokens IS NULL) AS tokens,
      sum(e.cost) FILTER (WHERE r.prompt_tokens IS NULL OR r.completion_tokens IS NULL) AS cost
    FROM budget_estimates e JOIN receipts r ON r.id = e.receipt_id AND r.created_at = e.created_at
    WHERE e.account_id = ${accountId} AND e.created_at >= ${from} AND e.created_at < ${to} AND ${newest}
    GROUP BY r.key_id, r.body ->> 'project'`;
}

/** Returns those of these receipts that Postgres has. */
export async function storedOf(db: Queryable, ids: readonly string[], from: Date, to: Date): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT DISTINCT r.id FROM receipts r
    WHERE r.id IN (${Prisma.join([...ids])}) AND r.created_at >= ${from} AND r.created_at < ${to}`;
  return rows.map(({ id }) => id);
}
