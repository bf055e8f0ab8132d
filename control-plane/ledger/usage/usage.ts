/**
 * What an account used, by UTC day and model, and in total.
 *
 * Invariant: simulated calls are never in one sum with others, unless the total was asked for with them.
 */
import type { CountedSimulated, CountedVersion, UsageRow, UsageTotal } from '@gw/contract/management';
import type { Database } from '@gw/prisma/client';
import { counted } from '../receipts/ledger.ts';

interface Sums {
  readonly requests: number;
  readonly requests_degraded: number;
  /** Decimal digits, since a double would round a sum beyond 2^53. */
  readonly prompt_tokens: string;
  readonly completion_tokens: string;
  readonly energy_wh: number | null;
  readonly carbon_g: number | null;
}

/** The first three are null in a sum over all days, models and kinds. */
interface Row extends Sums {
  readonly date: string | null;
  readonly model: string | null;
  readonly simulated: boolean | null;
  /** Whether it is in the total. */
  readonly is_counted: boolean;
}

export interface UsageQuestion {
  /** The time of the calls: from this one, until before that one. */
  readonly from: Date;
  readonly to: Date;
  readonly version: CountedVersion;
  readonly simulated: CountedSimulated;
}

export interface Usage {
  readonly data: UsageRow[];
  readonly total: UsageTotal;
}

const nothing: Sums = {
  requests: 0,
  requests_degraded: 0,
  prompt_tokens: '0',
  completion_tokens: '0',
  energy_wh: null,
  carbon_g: null,
};

/**
 * Energy (Wh) and carbon (gCO2e) are summed in decimal by the database, and rounded to 12 significant digits at the end; null
 * if no receipt has a number. Receipts that were found not to be genuine are in no sum and no count. Whether a call was simulated
 * is what its receipt says, which is sealed.
 */
export async function usageOf(db: Database, accountId: string, question: UsageQuestion): Promise<Usage> {
  const { from, simulated, to, version } = question;
  const rows = await db.$queryRaw<Row[]>`
    SELECT date, model, simulated, is_counted, count(*)::int AS requests,
      (count(*) FILTER (WHERE tier = 'degraded'))::int AS requests_degraded,
      coalesce(sum(prompt_tokens), 0)::text AS prompt_tokens,
      coalesce(sum(completion_tokens), 0)::text AS completion_tokens,
      sum(energy_wh)::float8 AS energy_wh,
      sum(carbon_g)::float8 AS carbon_g
    FROM (
      SELECT r.*, to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS date, s.simulated,
        NOT s.simulated OR ${simulated === 'include'} AS is_counted
      FROM receipts r, LATERAL (SELECT r.body ->> 'simulated' IS NOT NULL AS simulated) s
      WHERE r.account_id = ${accountId} AND r.created_at >= ${from} AND r.created_at < ${to} AND ${counted(version)}
        AND NOT EXISTS (
          SELECT 1 FROM integrity_faults f WHERE f.kind = 'receipt' AND f.name = r.id AND f.number = r.version
            AND f.mended_at IS NULL)
    ) calls
    GROUP BY GROUPING SETS ((date, model, simulated, is_counted), (is_counted)) ORDER BY 1, 2, 3`;
  const data = rows.flatMap((row): UsageRow[] => {
    const { date, model, simulated: isSimulated } = row;
    if (date === null || model === null || isSimulated === null) return [];
    return [{ object: 'gw.usage', date, model, simulated: isSimulated, ...sumsOf(row) }];
  });
  const total = rows.find(({ date, is_counted }) => date === null && is_counted);
  return { data, total: sumsOf(total ?? nothing) };
}

function sumsOf({
  carbon_g,
  completion_tokens,
  energy_wh,
  prompt_tokens,
  requests,
  requests_degraded,
}: Sums): UsageTotal {
  return {
    requests,
    requests_degraded,
    prompt_tokens: exact(prompt_tokens),
    completion_tokens: exact(completion_tokens),
    energy_wh: rounded(energy_wh),
    carbon_g: rounded(carbon_g),
  };
}

/**
 * Returns null beyond 2^53, where a number would be inexact. Only counts that a provider made up can add up to that.
 */
function exact(digits: string): number | null {
  const sum = Number(digits);
  return Number.isSafeInteger(sum) ? sum : null;
}

const rounded = (value: number | null): number | null => (value === null ? null : Number(value.toPrecision(12)));
