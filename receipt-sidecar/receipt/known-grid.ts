/** The grid of a call, as its degraded receipt states it: it is known though the energy is not. */
import type { ReceiptNumbers } from '@gw/contract/receipt';
import { gridProvenance } from '@gw/methodology/grid';
import type { Candidate } from '../catalogue/snapshot.ts';

/** Null if nothing is known of it. Fail open: a receipt that is degraded by a fault of the grid does without. */
export function gridStated(candidate: Candidate, createdAt: string): Partial<ReceiptNumbers> | null {
  try {
    return stated(candidate, createdAt);
  } catch {
    return null;
  }
}

function stated({ gridAt }: Candidate, createdAt: string): Partial<ReceiptNumbers> | null {
  const reading = gridAt(new Date(createdAt));
  const provenance = reading === null || reading.signal === 'marginal' ? null : gridProvenance(reading, createdAt);
  if (reading === null || provenance === null) return null;
  return {
    grid_intensity_g_per_kwh: reading.gPerKwh,
    grid_intensity_source: reading.source,
    grid_intensity_observed_at: provenance.observedAt,
    grid_intensity_requested_at: provenance.requestedAt,
    grid_intensity_age_minutes: provenance.ageMinutes,
    grid_temporal_match: provenance.temporalMatch,
  };
}
