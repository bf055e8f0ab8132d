/** The seals of a service: the key from its environment, and what they find goes to the log and into the gauges. */
import { openSeals, type Seals } from '../receipts/sealed-rows.ts';
import { type EpochOptions, openEpoch } from './epoch.ts';
import { noteFaults } from './faults.ts';

export function openLedgerSeals(options: EpochOptions): Seals {
  return openSeals({
    keys: options.keys,
    sealedSince: openEpoch(options),
    report: (faulty) =>
      noteFaults(
        options,
        'receipt',
        faulty.map(({ fault, id, version }) => ({ name: id, number: version, fault })),
      ),
  });
}
