/**
 * Keeps 12 significant digits of decimals, which are given in digits as Postgres writes them. A half goes away from zero.
 *
 * Invariant: a double is made of what is rounded alone, and has the same digits. One that is made before can be on the other side of a half.
 */
const significant = 12;

export function rounded(decimal: string): number {
  const { places, sign, units } = partsOf(decimal);
  return Number(`${sign}${kept(units, places)}`);
}

/** `divisor`: not 0. */
export function quotient(decimal: string, divisor: string): number {
  const [above, below] = [partsOf(decimal), partsOf(divisor)];
  // Enough places that 12 digits and the next one are left of any quotient of amounts and tokens.
  const more = 60;
  const units = (above.units * 10n ** BigInt(more + below.places)) / below.units;
  return Number(`${above.sign === below.sign ? '' : '-'}${kept(units, above.places + more)}`);
}

function partsOf(decimal: string) {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal) ?? [];
  return { sign, units: BigInt(whole + fraction), places: fraction.length };
}

/** The digits behind the next one do not matter, so that units may be cut off. */
function kept(units: bigint, places: number): string {
  const digits = String(units);
  const excess = Math.max(digits.length - significant, 0);
  const half = digits.charAt(significant) >= '5' ? 1n : 0n;
  return `${BigInt(digits.slice(0, significant)) + half}e${excess - places}`;
}
