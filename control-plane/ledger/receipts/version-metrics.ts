/** Metrics of the jobs that make new versions of receipts. */
import type { Database } from '@gw/prisma/client';
import { Counter, Gauge, type Registry } from 'prom-client';

const reasons = ['recalculated', 'restated', 'measured'] as const;

export interface VersionMetrics {
  made(reason: (typeof reasons)[number], count: number): void;
  /** Adds the metrics to those of the service. */
  register(registry: Registry): void;
}

/** The gauges are counted in Postgres at each scrape, and absent while it does not answer. */
export function createVersionMetrics(db: Database): VersionMetrics {
  const versions = new Counter({
    name: 'gw_receipt_versions_total',
    help: 'New versions of receipts that this instance made',
    labelNames: ['reason'],
    registers: [],
  });
  for (const reason of reasons) versions.inc({ reason }, 0);
  const waiting = new Gauge({
    name: 'gw_receipt_versions_waiting',
    help: 'Degraded receipts that wait to be recalculated, intervals to be restated, and calls whose energy counters are still to be read',
    labelNames: ['what'],
    registers: [],
    async collect() {
      // Without Postgres there is no number: an old one would look like a current one.
      this.reset();
      const counted = await Promise.all([
        db.recalculation.count(),
        db.restatement.count(),
        db.gpuMeasurement.count(),
      ]).catch(() => null);
      if (counted === null) return;
      this.set({ what: 'receipts' }, counted[0]);
      this.set({ what: 'intervals' }, counted[1]);
      this.set({ what: 'measurements' }, counted[2]);
    },
  });
  return {
    made: (reason, count) => versions.inc({ reason }, count),
    register: (registry) => {
      registry.registerMetric(versions);
      registry.registerMetric(waiting);
    },
  };
}
