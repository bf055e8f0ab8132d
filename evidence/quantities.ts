/** The amounts of a receipt, and their units in QUDT's words. */
import { amounts } from '@gw/methodology/amounts';

export { amounts };

/** Grams of CO2 equivalents per kilowatt hour: QUDT has no such unit. */
const intensity = 'gw:GM-CO2E-PER-KiloW-HR';
const unitOfEnding: Readonly<Record<string, string>> = {
  _wh: 'unit:W-HR',
  _g: 'unit:GM',
  _ml: 'unit:MilliL',
  _minutes: 'unit:MIN',
  _g_per_kwh: intensity,
  _g_per_request: 'unit:GM',
};

export type Amount = (typeof amounts)[number];

export const isAmount = (field: string): field is Amount => (amounts as readonly string[]).includes(field);

/** The unit of an amount: its name ends in it. A ratio has none. */
export function unitOf(amount: Amount): string {
  const ending = Object.keys(unitOfEnding)
    .filter((end) => amount.endsWith(end))
    .toSorted((a, b) => b.length - a.length)[0];
  return (ending !== undefined && unitOfEnding[ending]) || 'unit:UNITLESS';
}

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
] as const satisfies readonly Amount[];

export interface StatedQuantity {
  readonly id: string;
  readonly type: readonly string[];
  readonly hasUnit: string;
}

/** Each amount as a property with its unit, said once and not at every number. */
export const statedQuantities: readonly StatedQuantity[] = amounts.map((amount) => ({
  id: `gw:${amount}`,
  type: ['rdf:Property', 'qudt:Quantity'],
  hasUnit: unitOf(amount),
}));
