/**
 * Numbers as they will be printed: at most 12 significant digits, and sums that hold digit by digit.
 *
 * Invariant: the decimal texts that JSON prints for the parts add up exactly to the one it prints for the total. All
 * are whole multiples of the total's last place, far below 2^53, so integer arithmetic in a double is exact.
 */
const significantDigits = 12;
const integerLimit = 10 ** significantDigits;
/** Below 10^-290 a part counts as zero; scaling by a larger power of ten would leave the range of a double. */
const deepestPlace = 290;
/** Powers of ten up to this one are exact in a double, so one division rounds correctly. */
const lastExactPower = 22;

export interface DecimalSum {
  readonly total: number;
  readonly parts: readonly number[];
}

/**
 * Rounds the parts to the last place of their total's 12 significant digits; the total is the sum of the rounded
 * parts. Parts are finite and not negative; anything else comes back as NaN, for the caller to refuse.
 */
export function decimalSum(parts: readonly number[]): DecimalSum {
  let sum = 0;
  for (const part of parts) sum += part >= 0 ? part : Number.NaN;
  if (sum === 0) return { total: 0, parts: parts.map(() => 0) };
  if (!Number.isFinite(sum)) return { total: Number.NaN, parts: parts.map(() => Number.NaN) };
  const place = placeOf(sum);
  // Rounding the parts up can lift their sum over the limit, into a 13th digit: then one place fewer is kept.
  return roundedTo(place, parts) ?? roundedTo(place - 1, parts) ?? { total: Number.NaN, parts: [] };
}

/** The value with 12 significant digits; finite and not negative, else NaN. It is `decimalSum` of one part. */
export function decimal(value: number): number {
  if (value === 0) return 0;
  if (!(value > 0 && value < Number.POSITIVE_INFINITY)) return Number.NaN;
  const place = placeOf(value);
  const integer = Math.round(scaled(value, place));
  return integer > integerLimit ? decimalSum([value]).total : fromInteger(integer, place);
}

/** The n-th rounded part, from 1. */
export const partOf = ({ parts }: DecimalSum, place: number): number => parts[place - 1] ?? Number.NaN;

/** How many digits after the point give the value 12 significant ones; negative left of the point. */
function placeOf(value: number): number {
  let place = significantDigits - 1 - Math.floor(Math.log10(value));
  // log10 may be off by one next to a power of ten.
  if (scaled(value, place) >= integerLimit) place -= 1;
  return Math.min(place, deepestPlace);
}

function roundedTo(place: number, parts: readonly number[]): DecimalSum | null {
  let total = 0;
  const rounded: number[] = [];
  for (const part of parts) {
    const integer = Math.round(scaled(part, place));
    total += integer;
    rounded.push(fromInteger(integer, place));
  }
  return total > integerLimit ? null : { total: fromInteger(total, place), parts: rounded };
}

function scaled(value: number, place: number): number {
  return place >= 0 ? value * 10 ** place : value / 10 ** -place;
}

/** The double nearest to integer / 10^place, which JSON prints with no more digits than the integer has. */
function fromInteger(integer: number, place: number): number {
  return place >= 0 && place <= lastExactPower ? integer / 10 ** place : Number(`${integer}e${-place}`);
}
