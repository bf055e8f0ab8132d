/** Metrics of the checks of the ledger and of the audit log. */
import type { Database } from '@gw/prisma/client';
import { Gauge, type Registry } from 'prom-client';
import { gaugeOf } from '../../shared/gauge.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import type { FaultKind } from './acknowledge.ts';
import { countFaults } from './faults.ts';
import { type Periods, type Progress, readRounds } from './progress.ts';

const faultGauges: readonly (readonly [FaultKind, string, string])[] = [
  ['audit', 'gw_audit_chain_faults', 'Faults found in the chains of the audit log'],
  ['receipt', 'gw_receipt_integrity_faults', 'Versions of receipts that are not what was stored'],
  ['log', 'gw_receipt_log_faults', 'Entries and checkpoints of the logs of receipts that are not what was signed'],
  [
    'archive',
    'gw_receipt_archive_faults',
    'Notes and files of archived months that are not what was written, or are gone',
  ],
  ['pack', 'gw_evidence_pack_faults', 'Evidence packs that were found altered or not whole when they were read'],
  ['batch', 'gw_receipt_batch_faults', 'Batches of receipts that lack receipts, have others, or are gone'],
];

/** Adds the gauges to the metrics. They are read from Postgres at each scrape, and absent while it does not answer. */
export function registerIntegrity(registry: Registry, stores: FaultStores, periods: Periods): void {
  const { db } = stores;
  for (const [kind, name, help] of faultGauges)
    registry.registerMetric(gaugeOf(name, help, async () => (await countFaults(db, stores.seals))[kind]));
  registry.registerMetric(
    new Gauge({
      name: 'gw_integrity_full_check_timestamp_seconds',
      help: 'When the last full check of the audit log, of the receipts, of their batches and logs, and of the archive, ended',
      labelNames: ['kind'],
      registers: [],
      async collect() {
        this.reset();
        const checks = await db.integrityCheck.findMany().catch(() => []);
        for (const { finishedAt, kind } of checks) if (finishedAt !== null) this.set({ kind }, +finishedAt / 1000);
      },
    }),
  );
  const rounds = async () => (await readRounds(db, periods)).rounds;
  registry.registerMetric(
    roundGauge(
      'gw_integrity_round_rows_per_second',
      'How fast the full check under way goes; absent while none is',
      rounds,
      ({ rows_per_s }) => rows_per_s,
    ),
  );
  registry.registerMetric(
    roundGauge(
      'gw_integrity_round_end_timestamp_seconds',
      'When the full check under way will end at its rate; absent while none is',
      rounds,
      ({ expected_end }) => (expected_end === null ? null : Date.parse(expected_end) / 1000),
    ),
  );
}

const roundGauge = (
  name: string,
  help: string,
  read: () => Promise<Progress['rounds']>,
  value: (round: Progress['rounds'][number]) => number | null,
): Gauge =>
  new Gauge({
    name,
    help,
    labelNames: ['kind'],
    registers: [],
    async collect() {
      this.reset();
      for (const round of await read().catch(() => [])) {
        const found = value(round);
        if (found !== null) this.set({ kind: round.kind }, found);
      }
    },
  });

interface FaultStores {
  readonly db: Database;
  readonly seals: Seals;
}
