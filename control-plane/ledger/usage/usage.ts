/** What an account used, by UTC day and model. */
import type { CountedVersion, UsageRow } from '@gw/contract/management';
import type { Database } from '@gw/prisma/client';
import { counted } from '../receipts/ledger.ts';

interface Row {
  readonly date: string;
  readonly model: string;
  readonly requests: number;
  readonly requests_degraded: number;
  /** Decimal digits, since a double would round a sum beyond 2^53. */
  readonly prompt_tokens: string;
  readonly completion_tokens: string;
  readonly energy_wh: number | null;
  readonly carbon_g: number | null;
}

/**
 * Returns what was used in `[from, to)`. Energy (Wh) and carbon (gCO2e) are summed in decimal by the database, and
 * rounded to 12 significant digits at the end; null if no receipt has a number. Receipts that were found not to be
 * genuine are in no sum and no count.
 */
export async function usageOf(
  db: Database,
  accountId: string,
  from: Date,
  to: Date,
  version: CountedVersion,
): Promise<UsageRow[]> {
  const rows = await db.$queryRaw<Row[]>`
    SELECT to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS date, r.model,
      count(*)::int AS requests,
      (count(*) FILTER (WHERE r.tier = 'degraded'))::int AS requests_degraded,
      coalesce(sum(r.prompt_tokens), 0)::text AS prompt_tokens,
      coalesce(sum(r.completion_tokens), 0)::text AS completion_tokens,
      sum(r.energy_wh)::float8 AS energy_wh,
      sum(r.carbon_g)::float8 AS carbon_g
    FROM receipts r
    WHERE r.account_id = ${accountId} AND r.created_at >= ${from} AND r.created_at < ${to} AND ${counted(version)}
      AND NOT EXISTS (
        SELECT 1 FROM integrity_faults f WHERE f.kind = 'receipt' AND f.name = r.id AND f.number = r.version
          AND f.mended_at IS NULL)
    GROUP BY 1, 2 ORDER BY 1, 2`;
  return rows.map((row) => ({
    object: 'gw.usage',
    ...row,
    prompt_tokens: exact(row.prompt_tokens),
    completion_tokens: exact(row.completion_tokens),
    energy_wh: rounded(row.energy_wh),
    carbon_g: rounded(row.carbon_g),
  }));
}

/**
 * Returns null beyond 2^53, where a number would be inexact. Only counts that a provider made up can add up to that.
 */
function exact(digits: string): number | null {
  const sum = Number(digits);
  return Number.isSafeInteger(sum) ? sum : null;
}

const rounded = (value: number | null): number | null => (value === null ? null : Number(value.toPrecision(12)));
