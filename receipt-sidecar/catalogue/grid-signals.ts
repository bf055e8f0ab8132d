/**
 * Finds the live signals of a grid zone, for the choice of a region.
 *
 * Invariant: two values are compared only if they measure the same thing: averages with averages, marginal values with marginal ones, life-cycle
 * values with life-cycle ones.
 */
import { liveWindow } from '@gw/contract/internal/grid-reading';
import type { Snapshot, SnapshotGridReading } from '@gw/contract/internal/snapshot';

export interface LiveSignal {
  readonly reading: SnapshotGridReading;
  readonly kind: 'average' | 'marginal';
  readonly basis: 'lifecycle' | 'combustion' | 'unknown';
  /** Signals of the same scale can be compared. */
  readonly scale: string;
  /** The period of validity, ms since 1970; `until` is excluded. */
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
  // Two unknown bases are only taken for the same one if both values come from one source.
  return [
    { reading, kind, basis, scale: `${kind} ${basis === 'unknown' ? `of ${reading.source}` : basis}`, ...window },
  ];
}

/** Returns the zone's signals that are valid now or later, with the one that receipts use first. */
export function liveSignals({ grid, operationalGrid }: Snapshot, zone: string): LiveSignal[] {
  return [...grid, ...operationalGrid].filter((reading) => reading.zone === zone).flatMap(signalOf);
}
