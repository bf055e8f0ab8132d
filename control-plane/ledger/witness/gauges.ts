/** Metrics of the comparison of the ledger with the count of calls. */
import { elementAt } from '@gw/contract/internal/defined';
import type { Database } from '@gw/prisma/client';
import type { Registry } from 'prom-client';
import { gaugeOf } from '../../shared/gauge.ts';

interface Differences {
  /** Receipts and calls that lack each other. */
  readonly difference: number;
  /** Receipts of the last day that ext-authz may not have counted. */
  readonly not_witnessed: number;
  /** Seconds since each ext-authz has spoken; null: there is none. */
  readonly silent_s: number | null;
}

async function readDifferences(db: Database): Promise<Differences> {
  const found = await db.$queryRaw<Differences[]>`
    SELECT (coalesce(sum(abs(receipts - calls)) FILTER (WHERE verdict <> 'not_witnessed'), 0))::float8 AS difference,
      (coalesce(sum(receipts - calls) FILTER (WHERE verdict = 'not_witnessed' AND minute > now() - INTERVAL '1 day'), 0))::float8
        AS not_witnessed,
      (SELECT extract(epoch FROM clock_timestamp() - max(last_at))::float8 FROM witness_lives) AS silent_s
    FROM call_counts WHERE verdict <> 'agrees'`;
  return elementAt(found, 0);
}

/** Adds the gauges to the metrics. They are read from Postgres at each scrape, and absent while it does not answer. */
export function registerWitness(registry: Registry, db: Database): void {
  const gauges: [name: string, help: string, value: (found: Differences) => number | null][] = [
    [
      'gw_ledger_witness_difference',
      'Receipts without a call, and calls without a receipt, in minutes that differ',
      ({ difference }) => difference,
    ],
    [
      'gw_ledger_calls_not_witnessed',
      'Receipts of the last day that ext-authz may not have counted',
      ({ not_witnessed }) => not_witnessed,
    ],
    [
      'gw_ledger_witness_silent_seconds',
      'How long ago an ext-authz last stated what it has counted',
      ({ silent_s }) => silent_s,
    ],
  ];
  for (const [name, help, value] of gauges)
    registry.registerMetric(gaugeOf(name, help, async () => value(await readDifferences(db))));
}
