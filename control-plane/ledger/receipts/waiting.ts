/** Counts the receipts that wait in Redis between a reply and the ledger, for operators and their monitoring. */
import { deadLedgerStream, ledgerStream } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';
import type { Registry } from 'prom-client';
import { gaugeOf } from '../../shared/gauge.ts';

export interface Waiting {
  /** Receipts that are not in Postgres yet. */
  readonly length: number;
  /** When the oldest of them came, ms since 1970; null if there is none. */
  readonly oldestAt: number | null;
  /** Entries that could not be ingested and were set aside. */
  readonly setAside: number;
}

/** Rejects if Redis does not answer. */
export async function countWaiting(redis: Redis): Promise<Waiting> {
  const [length, first, setAside] = await Promise.all([
    redis.xlen(ledgerStream),
    redis.xrange(ledgerStream, '-', '+', 'COUNT', 1),
    redis.xlen(deadLedgerStream),
  ]);
  const [oldest] = first;
  return { length, oldestAt: oldest ? Number(oldest[0].split('-')[0]) : null, setAside };
}

/** Adds the gauges to the metrics. They are read from Redis at each scrape, and absent while it does not answer. */
export function registerWaiting(registry: Registry, redis: Redis): void {
  const gauges: [name: string, help: string, value: (waiting: Waiting) => number][] = [
    ['gw_ledger_stream_length', 'Receipts that wait in Redis for Postgres', ({ length }) => length],
    [
      'gw_ledger_stream_oldest_seconds',
      'How long the oldest of them has waited',
      ({ oldestAt }) => (oldestAt === null ? 0 : Math.max(0, Date.now() - oldestAt) / 1000),
    ],
    ['gw_ledger_set_aside', 'Entries of the ledger that could not be ingested', ({ setAside }) => setAside],
  ];
  for (const [name, help, value] of gauges)
    registry.registerMetric(gaugeOf(name, help, async () => value(await countWaiting(redis))));
}
