/** What calls count in budgets whose receipts have not all numbers: what was reserved for them. */
import { type Amounts, budgetUnits } from '@gw/contract/internal/budgets';
import { Prisma, type Queryable } from '@gw/prisma/client';
import type { Estimate, ReceiptRow } from '../receipts/entry-row.ts';
import { newest } from '../receipts/ledger.ts';

export interface Estimated {
  readonly row: Pick<ReceiptRow, 'id' | 'created_at' | 'account_id'>;
  readonly estimate: Estimate | null;
}

/** Stores those that have one; one that is there stays as it is. */
export async function storeEstimates(db: Queryable, calls: readonly Estimated[]): Promise<void> {
  const rows = calls.flatMap(({ estimate, row: { account_id, created_at, id } }) =>
    estimate === null ? [] : { ...unitsOf(estimate), receipt_id: id, created_at, account_id },
  );
  if (rows.length === 0) return;
  await db.$executeRaw`
    INSERT INTO budget_estimates (receipt_id, created_at, account_id, carbon_g, energy_wh, tokens, cost)
    SELECT * FROM json_to_recordset(${JSON.stringify(rows)}::json) AS entry (receipt_id text, created_at timestamptz,
      account_id text, carbon_g float8, energy_wh float8, tokens float8, cost float8)
    ON CONFLICT DO NOTHING`;
}

const unitsOf = (estimate: Estimate) => Object.fromEntries(budgetUnits.map((unit) => [unit, estimate[unit] ?? null]));

interface Row extends Amounts {
  readonly key_id: string;
  readonly project: string | null;
}

/** Sums of what is estimated, by key and project, over the calls of a period; what a receipt, in its newest version, has a number of is in none. */
export function estimatesOf(db: Queryable, accountId: string, from: Date, to: Date): Promise<Row[]> {
  return db.$queryRaw<Row[]>`
    SELECT r.key_id, r.body ->> 'project' AS project, sum(e.carbon_g) FILTER (WHERE r.carbon_g IS NULL) AS carbon_g,
      sum(e.energy_wh) FILTER (WHERE r.energy_wh IS NULL) AS energy_wh,
      sum(e.tokens) FILTER (WHERE r.prompt_tokens IS NULL OR r.completion_tokens IS NULL) AS tokens,
      sum(e.cost) FILTER (WHERE r.prompt_tokens IS NULL OR r.completion_tokens IS NULL) AS cost
    FROM budget_estimates e JOIN receipts r ON r.id = e.receipt_id AND r.created_at = e.created_at
    WHERE e.account_id = ${accountId} AND e.created_at >= ${from} AND e.created_at < ${to} AND ${newest}
    GROUP BY r.key_id, r.body ->> 'project'`;
}

/** Which of these receipts Postgres has. */
export async function storedOf(db: Queryable, ids: readonly string[], from: Date, to: Date): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT DISTINCT r.id FROM receipts r
    WHERE r.id IN (${Prisma.join([...ids])}) AND r.created_at >= ${from} AND r.created_at < ${to}`;
  return rows.map(({ id }) => id);
}
