/**
 * From work to energy, carbon and water, and what each boundary counts.
 *
 * Invariant: a part outside the boundary, or not known, is null and named in the list of exclusions; it is never 0.
 * Our narrow boundary is the accelerator's part of the comprehensive one. It is not the narrow figure of any other
 * publication, and is not to be compared with one.
 */
import type { Boundary, GridReading, SiteFacts } from './facts.ts';
import { embodiedOf } from './indicators.ts';
import type { Methodology } from './methodologies.ts';
import type { RequestStep, StepValues } from './steps.ts';
import { gPerKg, whPerKwh } from './units.ts';
import type { Work } from './work.ts';

/** The steps' units are in steps.ts; water is null where one of its two factors is not known. */
export type RequestSteps = StepValues<Exclude<RequestStep, 'request_usage_wcf'>> & {
  readonly request_usage_wcf: number | null;
};

export function accountFor(
  work: Work,
  site: SiteFacts,
  grid: Pick<GridReading, 'gPerKwh' | 'waterLPerKwh'>,
  idleShare: number | null,
): RequestSteps {
  const active = work.acceleratorWh + work.hostWh;
  const idle = (idleShare ?? 0) * active;
  const it = active + idle;
  const overhead = (site.pue - 1) * it;
  const energy = it + overhead;
  // L per kWh is mL per Wh.
  const water = waterPerKwh(site, grid.waterLPerKwh);
  return {
    accelerator_energy: work.acceleratorWh,
    host_energy: work.hostWh,
    accelerator_time: work.acceleratorS,
    idle_energy: idle,
    request_it_energy: it,
    overhead_energy: overhead,
    request_energy: energy,
    request_usage_gwp: (energy / whPerKwh) * grid.gPerKwh,
    request_embodied_gwp: embodiedOf(work.acceleratorS).gwpKg * gPerKg,
    request_usage_wcf: water === null ? null : it * water,
  };
}

/** Water per kWh of IT energy: on site, and at the power stations for all that the data centre draws. */
export function waterPerKwh(site: SiteFacts, gridLPerKwh: number | null): number | null {
  if (site.wueOnsiteLPerKwh === null || gridLPerKwh === null) return null;
  return site.wueOnsiteLPerKwh + site.pue * gridLPerKwh;
}

/** Outside every boundary of every methodology here. */
const neverCounted = ['network', 'storage', 'redundancy', 'training', 'end_user_devices', 'embodied_water'];
const outsideNarrow = ['host_energy', 'idle_energy', 'overhead_energy', 'embodied_carbon', 'water'];

/** What is known of a call. Of a narrow figure the output alone matters. */
export interface KnownParts {
  readonly water: boolean;
  readonly embodied: boolean;
  /** False for a measured total that is known to leave the overhead out. */
  readonly overhead: boolean;
  /** False if the reply broke off, so that something may have been generated that was not delivered. */
  readonly output: boolean;
}

/** What the receipt leaves out, for `boundary_excludes`. */
export function exclusions(
  boundary: Boundary,
  methodology: Pick<Methodology, 'idleShare' | 'chargesInput'>,
  parts: KnownParts,
): string[] {
  const left = boundary === 'narrow' ? [...outsideNarrow] : [];
  if (boundary === 'comprehensive') {
    if (methodology.idleShare === null) left.push('idle_energy');
    if (!parts.overhead) left.push('overhead_energy');
    if (!parts.embodied) left.push('embodied_carbon');
    if (!parts.water) left.push('water');
  }
  if (!methodology.chargesInput) left.push('input_tokens');
  if (!parts.output) left.push('undelivered_output');
  return left.concat(neverCounted);
}
