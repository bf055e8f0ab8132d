/** Figures and times of what operators enter for reports: decimals that lose nothing, and whole UTC hours. */
import { hourMs } from '@gw/contract/internal/durations';
import { instantSchema } from '@gw/contract/management';
import { z } from 'zod';

const places = 12;
const isPlain = (value: number): boolean => Number(value.toFixed(places)) === value;

/** A number or a text of digits, from 0 up to 10^9 and with at most 12 decimal places. */
export const decimalSchema = z.union(
  [z.number().min(0).max(1e9).refine(isPlain), z.string().regex(/^\d{1,9}(\.\d{1,12})?$/)],
  { error: `takes a decimal of at least 0, with at most ${places} decimal places: 2.5` },
);

/** Digits without zeros that say nothing. */
export function plainDecimal(value: number | string): string {
  const text = typeof value === 'number' ? value.toFixed(places) : value;
  const [whole = '', fraction = ''] = text.split('.');
  const digits = fraction.replace(/0+$/, '');
  const head = whole.replace(/^0+(?=\d)/, '');
  return digits === '' ? head : `${head}.${digits}`;
}

/** Sums are of whole hours, so what holds from a time on holds from an hour on. */
export const hourSchema = instantSchema.refine(
  (text) => new Date(text).getTime() % hourMs === 0,
  'has to be a whole UTC hour, such as 2026-11-01T00:00:00Z',
);
/** As UTC, without parts of seconds. */
export const hourText = (time: string | Date): string => new Date(time).toISOString().replace('.000Z', 'Z');

/** A text or an address, on one line. */
export const sourceSchema = z
  .string()
  .trim()
  .min(1)
  .max(1000)
  .regex(/^[^\p{Cc}]*$/u, 'must be one line of text');
