/**
 * Mirrors a receipt as `usage.impacts`: kWh, kgCO2eq and litres in place of Wh, g and ml.
 *
 * Invariant: each number is one of the receipt's, and only its decimal point has moved. A number that the receipt lacks is left out.
 */
import type { Receipt } from '@gw/contract/receipt';
import type { UsageImpacts } from '@gw/contract/usage-impacts';

export type MirroredNumbers = Pick<
  Receipt,
  | 'energy_wh'
  | 'energy_low_wh'
  | 'energy_high_wh'
  | 'carbon_g'
  | 'carbon_low_g'
  | 'carbon_high_g'
  | 'water_low_ml'
  | 'water_high_ml'
>;

/** Returns null if the receipt has none of the numbers. */
export function usageImpacts(receipt: MirroredNumbers): UsageImpacts | null {
  const { carbon_g: carbon, energy_wh: energy } = receipt;
  const energies = rangeOf(receipt.energy_low_wh, receipt.energy_high_wh);
  const carbons = rangeOf(receipt.carbon_low_g, receipt.carbon_high_g);
  const waters = rangeOf(receipt.water_low_ml, receipt.water_high_ml);
  const impacts: UsageImpacts = {
    ...(energy !== null && { kWh: thousandth(energy) }),
    ...(carbon !== null && { kgCO2eq: thousandth(carbon) }),
    ...(energies && { energy: { type: 'energy', name: 'Energy', value: energies, unit: 'kWh' } }),
    ...(carbons && { gwp: { type: 'GWP', name: 'Global Warming Potential', value: carbons, unit: 'kgCO2eq' } }),
    ...(waters && { wcf: { type: 'WCF', name: 'Water Consumption Footprint', value: waters, unit: 'L' } }),
  };
  return Object.keys(impacts).length === 0 ? null : impacts;
}

type Amount = number | null | undefined;

const rangeOf = (low: Amount, high: Amount) =>
  typeof low === 'number' && typeof high === 'number' ? { min: thousandth(low), max: thousandth(high) } : null;

/** Receipts have at most 12 significant digits, so rounding to as many undoes what the division did to the last ones of a double. */
const thousandth = (amount: number): number => Number((amount / 1000).toPrecision(12));
