/**
 * From work, or from a measured total, to the rounded energy, carbon and water of a receipt.
 *
 * Invariant: the total is the sum of its non-null parts in the decimals that JSON prints. A part that is not known is
 * null, and named by the caller in the exclusions.
 */
import { accountFor, type RequestSteps, waterPerKwh } from './boundary.ts';
import {
  type End,
  embodiedAt,
  endOfWork,
  intensityAt,
  operationAt,
  pueRatio,
  share,
  waterFactorAt,
  waterFactorOfTotalAt,
} from './bounds.ts';
import { decimal, decimalSum } from './decimal.ts';
import { literatureUncertainty, spreads, telemetryLimits } from './factors.ts';
import type { Boundary, GridReading, SiteFacts } from './facts.ts';
import { embodiedOf } from './indicators.ts';
import type { Methodology } from './methodologies.ts';
import { type TelemetryReading, wattHours } from './telemetry/reading.ts';
import type { Reach } from './uncertainty.ts';
import { gPerKg, whPerKwh } from './units.ts';
import type { Estimate } from './work.ts';

export interface Footprint {
  readonly energy_wh: number;
  readonly energy_accelerator_wh: number | null;
  readonly energy_host_wh: number | null;
  readonly energy_idle_wh: number | null;
  readonly energy_overhead_wh: number | null;
  readonly carbon_g: number;
  readonly carbon_operation_g: number;
  readonly carbon_embodied_g: number | null;
  readonly water_ml: number | null;
}

interface Totals {
  readonly energyWh: number;
  readonly carbonG: number;
  /** Null where water is not known, undefined in methodologies without bounds of it. */
  readonly waterMl?: number | null;
}

export interface Figures {
  readonly footprint: Footprint;
  readonly low: Totals;
  readonly high: Totals;
  readonly basis: Estimate['basis'];
}

export interface Conditions {
  readonly boundary: Boundary;
  readonly site: SiteFacts;
  readonly grid: GridReading;
  readonly methodology: Methodology;
  /** Minutes; null for a forecast. */
  readonly gridAgeMinutes: number | null;
}

export function figuresOfWork(estimate: Estimate, conditions: Conditions): Figures {
  const { boundary, grid, methodology, site } = conditions;
  const account = (work: Estimate['central'], gPerKwh = grid.gPerKwh) =>
    accountFor(work, site, { gPerKwh, waterLPerKwh: grid.waterLPerKwh }, methodology.idleShare);
  const central = account(estimate.central);
  const { ends, high, low } = estimate;
  const totals = (side: 'least' | 'most', end: RequestSteps): Totals =>
    methodology.combinesBounds
      ? combinedTotals(side, account(ends[side], intensityAt(side, grid)), end, conditions)
      : totalsOf(end, boundary, grid);
  return {
    footprint:
      boundary === 'narrow'
        ? narrowFootprint(central, grid)
        : comprehensiveFootprint(central, methodology.idleShare !== null),
    low: totals('least', account(low)),
    high: totals('most', account(high)),
    basis: estimate.basis,
  };
}

function combinedTotals(side: 'least' | 'most', base: RequestSteps, end: RequestSteps, conditions: Conditions): Totals {
  if (conditions.boundary === 'comprehensive') return totalsAt(endOfWork(side, base, end, conditions));
  const energy = base.accelerator_energy;
  const gwp = (energy / whPerKwh) * intensityAt(side, conditions.grid);
  const operationG = operationAt(side, gwp, share(end.accelerator_energy, energy), conditions);
  return { energyWh: decimal(end.accelerator_energy), carbonG: decimal(operationG), waterMl: null };
}

const totalsAt = ({ embodiedG, energyWh, operationG, waterMl }: End): Totals => ({
  energyWh: decimal(energyWh),
  carbonG: decimal(embodiedG === null ? operationG : operationG + embodiedG),
  waterMl: waterMl === null ? null : decimal(waterMl),
});

/**
 * A total that cannot be split, in the comprehensive boundary. `making` carries the embodied part, if it is known;
 * `reach`: what the bounds have to hold.
 */
export function figuresOfTotal(
  reading: TelemetryReading,
  making: Estimate | null,
  reach: Reach,
  conditions: Conditions,
): Figures {
  const { grid } = conditions;
  const energy = decimal(reading.energyWh);
  const gwp = (energyWh: number): number => (energyWh / whPerKwh) * grid.gPerKwh;
  const embodied = (end: 'central' | 'low' | 'high'): number | null =>
    making === null ? null : embodiedOf(making[end].acceleratorS).gwpKg * gPerKg;
  const central = embodied('central');
  const carbon = decimalSum(central === null ? [gwp(reading.energyWh)] : [gwp(reading.energyWh), central]);
  const water = waterOfTotal(reading, conditions);
  const bounds = boundsOfTotal(reading, reach, conditions);
  const totals = (side: 'least' | 'most', energyWh: number, end: 'low' | 'high'): Totals =>
    conditions.methodology.combinesBounds
      ? totalsAt(endOfTotal(side, reading, energyWh, { making, end }, conditions))
      : { energyWh: decimal(energyWh), carbonG: decimal(gwp(energyWh) + (embodied(end) ?? 0)) };
  return {
    footprint: {
      energy_wh: energy,
      energy_accelerator_wh: null,
      energy_host_wh: null,
      energy_idle_wh: null,
      energy_overhead_wh: null,
      carbon_g: carbon.total,
      carbon_operation_g: carbon.parts[0] ?? Number.NaN,
      carbon_embodied_g: carbon.parts[1] ?? null,
      water_ml: water === null ? null : decimal(water),
    },
    low: totals('least', bounds.low, 'low'),
    high: totals('most', bounds.high, 'high'),
    basis: bounds.basis,
  };
}

function endOfTotal(
  side: 'least' | 'most',
  reading: TelemetryReading,
  energyWh: number,
  { making, end }: { readonly making: Estimate | null; readonly end: 'low' | 'high' },
  conditions: Conditions,
): End {
  const gwp = (reading.energyWh / whPerKwh) * intensityAt(side, conditions.grid);
  const water = reading.includesPue ? waterFactorOfTotalAt(side, conditions) : waterFactorAt(side, conditions);
  const time = making?.ends[side].acceleratorS ?? null;
  return {
    energyWh,
    operationG: operationAt(side, gwp, share(energyWh, reading.energyWh), conditions),
    embodiedG:
      making === null || time === null
        ? null
        : embodiedAt(side, embodiedOf(time).gwpKg * gPerKg, share(making[end].acceleratorS, time)),
    waterMl: water === null || reading.includesPue === null ? null : energyWh * water,
  };
}

interface Range {
  readonly low: number;
  readonly high: number;
  readonly basis: Estimate['basis'];
}

/** The source's own bounds, else the literature's: for an estimate those of the model, else those of measurements. */
function boundsOfTotal(reading: TelemetryReading, reach: Reach, { methodology, site }: Conditions): Range {
  const { energyWh, source, stated } = reading;
  if (methodology.combinesBounds) return combinedTotal(reading, reach, site);
  if (stated?.range) {
    const { min, max } = stated.range;
    return { low: wattHours(stated, min), high: wattHours(stated, max), basis: 'parameter_range' };
  }
  const spread = source === 'ecologits_impacts' ? literatureUncertainty.parametric : telemetryLimits.uncertainty;
  return { low: energyWh * (1 - spread), high: energyWh * (1 + spread), basis: 'literature_default' };
}

/** A figure that may lack the overhead can be low by it. */
function combinedTotal(
  { energyWh, includesPue }: TelemetryReading,
  { leastWh, mostWh }: Reach,
  site: SiteFacts,
): Range {
  const high = energyWh * spreads.reported;
  return {
    low: Math.min(energyWh / spreads.reported, leastWh),
    high: Math.max(includesPue === null ? high * site.pue * pueRatio('most', site) : high, mostWh),
    basis: 'combined',
  };
}

/** Water follows IT energy, which a total gives only if it is known whether the overhead is in it. */
function waterOfTotal({ energyWh, includesPue }: TelemetryReading, { grid, site }: Conditions): number | null {
  const perKwh = waterPerKwh(site, grid.waterLPerKwh);
  if (perKwh === null || includesPue === null) return null;
  return (includesPue ? energyWh / site.pue : energyWh) * perKwh;
}

function comprehensiveFootprint(steps: RequestSteps, countsIdle: boolean): Footprint {
  const modelled = [steps.accelerator_energy, steps.host_energy, steps.overhead_energy];
  const energy = decimalSum(countsIdle ? [...modelled, steps.idle_energy] : modelled);
  const carbon = decimalSum([steps.request_usage_gwp, steps.request_embodied_gwp]);
  const [accelerator = Number.NaN, host = Number.NaN, overhead = Number.NaN, idle = null] = energy.parts;
  const [operation = Number.NaN, embodied = Number.NaN] = carbon.parts;
  return {
    energy_wh: energy.total,
    energy_accelerator_wh: accelerator,
    energy_host_wh: host,
    energy_idle_wh: idle,
    energy_overhead_wh: overhead,
    carbon_g: carbon.total,
    carbon_operation_g: operation,
    carbon_embodied_g: embodied,
    water_ml: steps.request_usage_wcf === null ? null : decimal(steps.request_usage_wcf),
  };
}

function narrowFootprint(steps: RequestSteps, grid: GridReading): Footprint {
  const { energyWh, carbonG } = totalsOf(steps, 'narrow', grid);
  return {
    energy_wh: energyWh,
    energy_accelerator_wh: energyWh,
    energy_host_wh: null,
    energy_idle_wh: null,
    energy_overhead_wh: null,
    carbon_g: carbonG,
    carbon_operation_g: carbonG,
    carbon_embodied_g: null,
    water_ml: null,
  };
}

function totalsOf(steps: RequestSteps, boundary: Boundary, grid: GridReading): Totals {
  if (boundary === 'comprehensive') {
    return {
      energyWh: decimal(steps.request_energy),
      carbonG: decimal(steps.request_usage_gwp + steps.request_embodied_gwp),
    };
  }
  const energy = steps.accelerator_energy;
  return { energyWh: decimal(energy), carbonG: decimal((energy / whPerKwh) * grid.gPerKwh) };
}
