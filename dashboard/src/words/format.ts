/** Numbers, units and times as people read them. Times are UTC, as in the ledger. */
import { locale, words } from './words.ts';

const significant = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat(locale);

/** From the smallest step up: how many of the base unit one is. */
const scales: Readonly<Record<string, readonly (readonly [number, string])[]>> = {
  Wh: [
    [1e-3, 'mWh'],
    [1, 'Wh'],
    [1e3, 'kWh'],
    [1e6, 'MWh'],
  ],
  g: [
    [1e-3, 'mg'],
    [1, 'g'],
    [1e3, 'kg'],
    [1e6, 't'],
  ],
  mL: [
    [1e-3, 'µL'],
    [1, 'mL'],
    [1e3, 'L'],
    [1e6, 'm³'],
  ],
};

/** `0.0123`, `Wh` → `12.3 mWh`; unknown is never 0. */
export function amount(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined) return words.unknown;
  const steps = scales[unit];
  if (steps === undefined || value === 0) return `${significant.format(value)} ${unit}`;
  const [size, name] = steps.findLast(([step]) => Math.abs(value) >= step) ?? steps[0] ?? [1, unit];
  return `${significant.format(value / size)} ${name}`;
}

/** The step of the unit by which the largest value is readable, for the axis of a chart. */
export function scaleFor(largest: number, unit: string): { readonly size: number; readonly unit: string } {
  const steps = scales[unit] ?? [[1, unit]];
  const [size, name] = steps.findLast(([step]) => largest >= step) ?? steps[0] ?? [1, unit];
  return { size, unit: name };
}

export const number = (value: number | null | undefined): string =>
  value === null || value === undefined ? words.unknown : whole.format(value);

export const short = (value: number): string => significant.format(value);

/** Any number of a lineage: as exact as it is printed in JSON. */
export const exact = (value: number | null): string => (value === null ? words.unknown : String(value));

/** `2026-11-25T21:49:20.123Z` → `2026-11-25 21:49:20` */
export const time = (instant: string | null | undefined): string =>
  instant ? instant.slice(0, 19).replace('T', ' ') : words.none;
export const date = (instant: string | null | undefined): string => (instant ? instant.slice(0, 10) : words.none);

/** An amount of a budget. */
export function budgetAmount(value: number, unit: 'carbon_g' | 'energy_wh' | 'tokens' | 'cost'): string {
  switch (unit) {
    case 'carbon_g':
      return amount(value, 'g');
    case 'energy_wh':
      return amount(value, 'Wh');
    case 'tokens':
      return number(Math.round(value));
    case 'cost':
      return short(value);
  }
}
