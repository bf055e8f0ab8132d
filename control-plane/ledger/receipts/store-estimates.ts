/** Stores what is assumed for calls with budgets, which counts in their budgets until their receipts have all numbers. */
import { budgetUnits } from '@gw/contract/internal/budgets';
import type { Queryable } from '@gw/prisma/client';
import type { Estimate, ReceiptRow } from './entry-row.ts';

export interface Estimated {
  readonly row: Pick<ReceiptRow, 'id' | 'created_at' | 'account_id'>;
  readonly estimate: Estimate | null;
}

/** Stores the estimates of calls that have one. An estimate that is there stays as it is. */
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
