/**
 * What is known of a grid zone at this moment, for the choice of a region.
 *
 * Invariant: two values are compared only if they measure the same thing: an average with an average, a marginal one with a
 * marginal one, a life cycle with a life cycle.
 */
import { liveWindow } from '@gw/contract/internal/grid-reading';
import type { Snapshot, SnapshotGridReading } from '@gw/contract/internal/snapshot';

export interface LiveSignal {
  readonly reading: SnapshotGridReading;
  readonly kind: 'average' | 'marginal';
  readonly basis: 'lifecycle' | 'combustion' | 'unknown';
  /** Signals of the same scale can be compared. */
  readonly scale: string;
  /** When it holds, ms since 1970; `until` excluded. */
  readonly from: number;
  readonly until: number;
}

export const kindOf = (reading: SnapshotGridReading): LiveSignal['kind'] => {
  if ('kind' in reading) return reading.kind === 'marginal' ? 'marginal' : 'average';
  return reading.signal === 'marginal' ? 'marginal' : 'average';
};

export const basisOf = ({ basis = 'unknown' }: SnapshotGridReading): LiveSignal['basis'] =>
  basis === 'direct' ? 'combustion' : basis;

function signalOf(reading: SnapshotGridReading): LiveSignal[] {
  const window = liveWindow(reading);
  if (window === null) return [];
  const [kind, basis] = [kindOf(reading), basisOf(reading)];
  // Nobody knows whether two unknown bases are the same one, unless both values come from one source.
  return [
    { reading, kind, basis, scale: `${kind} ${basis === 'unknown' ? `of ${reading.source}` : basis}`, ...window },
  ];
}

/** Returns the zone's signals that hold now or later, the one that its receipts use first. */
export function liveSignals({ grid, operationalGrid = [] }: Snapshot, zone: string): LiveSignal[] {
  return [...grid, ...operationalGrid].filter((reading) => reading.zone === zone).flatMap(signalOf);
}
