/** Metrics of the packs that jobs build: how many there are by state, and the bytes that they take. */
import { packStates } from '@gw/contract/evidence';
import type { Database } from '@gw/prisma/client';
import { Gauge, type Registry } from 'prom-client';
import { gaugeOf } from '../../shared/gauge.ts';

export function registerPacks(registry: Registry, db: Database): void {
  const count = db.evidencePack;
  registry.registerMetric(
    new Gauge({
      name: 'gw_evidence_packs',
      help: 'Long evidence packs by state',
      labelNames: ['state'],
      registers: [],
      async collect() {
        // Without Postgres there is no value, because an old one would look current.
        this.reset();
        const found = await count.groupBy({ by: ['state'], _count: true }).catch(() => null);
        if (found === null) return;
        for (const state of packStates) this.set({ state }, found.find((each) => each.state === state)?._count ?? 0);
      },
    }),
  );
  registry.registerMetric(
    gaugeOf('gw_evidence_pack_bytes', 'Bytes of long evidence packs in the object store, compressed', async () => {
      const { _sum } = await count.aggregate({ _sum: { keptBytes: true } });
      return Number(_sum.keptBytes ?? 0);
    }),
  );
}
