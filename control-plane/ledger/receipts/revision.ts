/**
 * Why a later version of a receipt was made, and what in its facts differs from those of the version before.
 *
 * Invariant: it is stored with the facts of every version that the gateway makes after the first, and shown with the
 * lineage, so that nobody has to compare two versions to learn what happened.
 */
import type { GridReplacement, Revision } from '@gw/contract/lineage';
import type { CallFacts, GridReading } from '@gw/methodology/assess';

/**
 * The facts that are stored with a receipt: the argument of `assess`, and from the second version on why that version was made.
 */
export interface StoredFacts extends CallFacts {
  readonly revision?: Revision;
}

/** Says what was replaced; `settled` is the reading that replaces `grid`. */
export function gridReplacement(grid: GridReading, settled: { revision: number; rawSha256: string }): GridReplacement {
  return {
    replaced_source: grid.source,
    replaced_g_per_kwh: grid.gPerKwh,
    replaced_period: `${grid.periodStart}/${grid.periodEnd}`,
    replaced_signal: grid.signal,
    revision: settled.revision,
    reply_sha256: settled.rawSha256,
  };
}
