/**
 * The bounds of energy, carbon and water of one receipt, from those of its work or of its measured energy.
 *
 * Invariant: what a receipt's amounts share (work, site, grid) is off for all of them in the same direction, so operation
 * and embodied carbon are added at the same end; what is apart is combined (uncertainty.ts). Each line is a formula of
 * bound-programs.ts, with its operations in the same order.
 */
import type { RequestSteps } from './boundary.ts';
import { gridEnds, idleShare, spreads, worldWaterLPerKwh } from './factors.ts';
import type { GridReading, SiteFacts } from './facts.ts';
import { isEstimate, isWorld } from './grid.ts';
import { combined, isAssumedPue } from './uncertainty.ts';

/** Wh, g, g and mL at one end; null where the amount itself is. */
export interface End {
  readonly energyWh: number;
  readonly operationG: number;
  readonly embodiedG: number | null;
  readonly waterMl: number | null;
}

/** What the bounds depend on beside the amounts. */
export interface BoundConditions {
  readonly site: SiteFacts;
  readonly grid: GridReading;
  /** Minutes; as the receipt states it. */
  readonly gridAgeMinutes: number | null;
}

type Side = 'least' | 'most';

/** An amount at one end of a ratio that is at least 1. */
const at = (side: Side, amount: number, ratio: number): number => (side === 'least' ? amount / ratio : amount * ratio);

/** How the value at the end relates to the amount; 1 where there is none. */
export const share = (end: number, amount: number): number => (amount === 0 ? 1 : end / amount);

/**
 * Of work in the comprehensive boundary: `base` and `end` are accounts of the work at its end without the spreads and with
 * them (work.ts). What is off beside the work is combined with that spread, so that a wider range never has a narrower bound.
 */
export function endOfWork(side: Side, base: RequestSteps, end: RequestSteps, conditions: BoundConditions): End {
  const ratios = energyRatios(side, base, end, conditions.site);
  const it = at(side, base.request_it_energy, ratios.it);
  const water = waterFactorAt(side, conditions);
  return {
    energyWh: at(side, base.request_energy, ratios.all),
    operationG: operationAt(side, base.request_usage_gwp, ratios.all, conditions),
    embodiedG: embodiedAt(side, base.request_embodied_gwp, share(end.accelerator_time, base.accelerator_time)),
    waterMl: water === null ? null : it * water,
  };
}

/** How far the energy of the machines, and all with the overhead, is from its value at one end of the work. */
function energyRatios(side: Side, base: RequestSteps, end: RequestSteps, site: SiteFacts) {
  const active = base.accelerator_energy + base.host_energy;
  const work = share(end.accelerator_energy + end.host_energy, active);
  const idle = (1 + spreads.idleShareMax) / (1 + idleShare);
  return { it: combined(work, idle), all: combined(work, idle, pueRatio(side, site)) };
}

/** How far off the overhead can make what holds it. */
export function pueRatio(side: Side, site: SiteFacts): number {
  const isAssumed = isAssumedPue(site);
  const overhead = (site.pue - 1) * (1 + (isAssumed ? spreads.overheadAssumed : spreads.overhead));
  if (side === 'least') return (1 + overhead) / site.pue;
  return (1 + Math.max(overhead, isAssumed ? spreads.overheadAssumedFloor : spreads.overheadFloor)) / site.pue;
}

/** gCO2e/kWh, before its spreads: the least is what the source says. */
export function intensityAt(side: Side, { basis, gPerKwh }: GridReading): number {
  if (side === 'least') return gPerKwh;
  const { clean, floor, gasCombustion, gasLifecycle } = gridEnds;
  if (basis === 'lifecycle') return Math.max(gPerKwh, floor);
  return (gPerKwh * (gasLifecycle - clean)) / gasCombustion + clean;
}

/** Wh of a whole call that is modelled, at one end of its work: with the overhead, or without. */
export function modelledAt(
  side: Side,
  { base, end }: { readonly base: RequestSteps; readonly end: RequestSteps },
  site: SiteFacts,
  withOverhead: boolean,
): number {
  const ratios = energyRatios(side, base, end, site);
  return withOverhead ? at(side, base.request_energy, ratios.all) : at(side, base.request_it_energy, ratios.it);
}

export function operationAt(side: Side, gwp: number, energyShare: number, conditions: BoundConditions): number {
  return at(side, gwp, combined(energyShare, gridRatio(side, conditions)));
}

export function embodiedAt(side: Side, gwp: number, timeShare: number): number {
  const { embodiedLeast, embodiedMost, latencyLeast } = spreads;
  const ratio = side === 'least' ? combined(timeShare, latencyLeast, embodiedLeast) : combined(timeShare, embodiedMost);
  return at(side, gwp, ratio);
}

/** mL per Wh of IT energy, null where one of the two factors is not known. */
export function waterFactorAt(side: Side, { grid, site }: BoundConditions): number | null {
  if (site.wueOnsiteLPerKwh === null || grid.waterLPerKwh === null) return null;
  const onSite = at(side, site.wueOnsiteLPerKwh, spreads.waterOnSite);
  return (
    onSite + at(side, site.pue * grid.waterLPerKwh, combined(waterRatio(side, grid.waterLPerKwh), pueRatio(side, site)))
  );
}

/** The same per Wh of a total with the overhead: the lower the PUE, the more of it is of IT, and the more is used on site. */
export function waterFactorOfTotalAt(side: Side, { grid, site }: BoundConditions): number | null {
  if (site.wueOnsiteLPerKwh === null || grid.waterLPerKwh === null) return null;
  const other = side === 'least' ? 'most' : 'least';
  const onSite = at(side, site.wueOnsiteLPerKwh / site.pue, combined(spreads.waterOnSite, pueRatio(other, site)));
  return onSite + at(side, grid.waterLPerKwh, waterRatio(side, grid.waterLPerKwh));
}

function waterRatio(side: Side, waterLPerKwh: number): number {
  if (waterLPerKwh !== worldWaterLPerKwh) return spreads.waterGrid;
  return side === 'least' ? spreads.waterWorldLeast : spreads.waterWorldMost;
}

const freshMinutes = 120;
const minutesPerYear = 525_600;

/**
 * A yearly value stands for the hour of the call, and for a later year; so does one that is not of the hour, and an estimate
 * is taken to say no more of the hour than that.
 */
function gridRatio(side: Side, { grid, gridAgeMinutes }: BoundConditions): number {
  const isLive = grid.signal !== 'annual' && gridAgeMinutes !== null && gridAgeMinutes <= freshMinutes;
  const known = side === 'least' ? spreads.gridWorldLeast : spreads.gridWorldMost;
  const world = isWorld(grid) ? known : 1;
  if (isLive && !isEstimate(grid)) return combined(spreads.gridLive, world);
  const hour = side === 'least' ? spreads.gridHourLeast : spreads.gridHourMost;
  return combined(spreads.gridLive, hour, spreads.gridDriftPerYear ** ((gridAgeMinutes ?? 0) / minutesPerYear), world);
}
