/** Opens entries of sidecars, seals those that the control plane closes for them, and counts what it does not take. */
import type { KeyRing } from '@gw/contract/internal/key-ring';
import { EntryOpener, EntrySealer } from '@gw/contract/internal/sealed-entry';
import { Counter, type Registry } from 'prom-client';
import { type Refusal, refusals } from './entry-row.ts';

export interface Entries {
  readonly opener: Pick<EntryOpener, 'open'>;
  readonly sealer: Pick<EntrySealer, 'again'>;
  /** Counts an entry that was not taken. */
  refused(why: Refusal): void;
  register(registry: Registry): void;
}

export function openEntries(keys: KeyRing): Entries {
  const counter = new Counter({
    name: 'gw_ledger_refused_total',
    help: 'Entries of the ledger that this instance did not take, each time that it read one',
    labelNames: ['reason'],
    registers: [],
  });
  for (const reason of refusals) counter.inc({ reason }, 0);
  return {
    opener: new EntryOpener(keys),
    sealer: new EntrySealer(keys.current),
    refused: (reason) => counter.inc({ reason }),
    register: (registry) => registry.registerMetric(counter),
  };
}
