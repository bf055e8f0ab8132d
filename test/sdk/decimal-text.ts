/** Sums in the decimals that JSON prints, digit by digit: no rounding can hide in them. */

interface Decimal {
  readonly digits: bigint;
  /** How many of the digits stand behind the point. */
  readonly places: number;
}

function parse(value: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const places = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return places >= 0 ? { digits, places } : { digits: digits * 10n ** BigInt(-places), places: 0 };
}

function at(places: number, value: Decimal): bigint {
  return value.digits * 10n ** BigInt(places - value.places);
}

/** True if the printed parts add up to the printed total exactly. */
export function addsUp(parts: readonly number[], total: number): boolean {
  const numbers = parts.map(parse);
  const sum = parse(total);
  const places = Math.max(sum.places, ...numbers.map((number) => number.places));
  return numbers.reduce((rest, number) => rest - at(places, number), at(places, sum)) === 0n;
}

/** Significant digits of the printed number. */
export function significantDigits(value: number): number {
  return parse(value).digits.toString().replace(/0+$/, '').length;
}
