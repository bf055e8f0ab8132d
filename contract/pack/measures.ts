/** Says of each number of a pack what it measures, and in what, in the words of QUDT. The name of a number ends in its unit. */
import type { amounts } from '@gw/methodology/amounts';

export interface Measure {
  /** The unit of the values. */
  readonly measured_in: string;
  /** The kind of quantity. */
  readonly measures: string;
}

/** Grams per kilowatt hour: QUDT has the kind of quantity, and no such unit. */
export const intensityUnit = 'gw:GM-PER-KiloW-HR';

const measure = (measured_in: string, measures: string): Measure => ({
  measured_in,
  measures: `quantitykind:${measures}`,
});
const count = measure('unit:NUM', 'Count');
const carbon = measure('unit:GM', 'CO2Equivalent');

const endings: Readonly<Record<string, Measure>> = {
  _wh: measure('unit:W-HR', 'Energy'),
  _g: carbon,
  _g_per_request: carbon,
  _ml: measure('unit:MilliL', 'Volume'),
  _minutes: measure('unit:MIN', 'Time'),
  _g_per_kwh: measure(intensityUnit, 'MassPerEnergy'),
  pue: measure('unit:UNITLESS', 'DimensionlessRatio'),
  _tokens: count,
  requests: count,
  requests_degraded: count,
};

/** The amounts that a pack sums. */
export const summed = [
  'energy_wh',
  'energy_low_wh',
  'energy_high_wh',
  'carbon_g',
  'carbon_low_g',
  'carbon_high_g',
  'carbon_embodied_g',
  'water_ml',
  'water_low_ml',
  'water_high_ml',
] as const satisfies readonly (typeof amounts)[number][];

/** Undefined: the name is not that of a number with a unit. */
export const measureOf = (name: string): Measure | undefined =>
  Object.entries(endings).find(([ending]) => name.endsWith(ending))?.[1];
