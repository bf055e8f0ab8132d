/**
 * Writes decimals as texts, without an exponent and without loss. RFC 8785 and JSON-LD print numbers in different forms, so the only
 * numbers in a pack are whole ones.
 */

/** Returns the shortest decimal that reads as this double, in plain digits, as `xsd:decimal` requires. Throws if it is not finite. */
export function plainDecimal(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError('A decimal has to be finite.');
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return `${sign}${digits}${'0'.repeat(point - digits.length)}`;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** No double is longer: 5e-324 has 326 characters, the greatest 309. */
const longest = 400;

/** Whether a text is one that `plainDecimal` writes, which is one for each number. */
export const isDecimal = (text: unknown): text is string =>
  typeof text === 'string' &&
  text.length <= longest &&
  /^-?\d+(\.\d+)?$/.test(text) &&
  Number.isFinite(Number(text)) &&
  plainDecimal(Number(text)) === text;

/** Sums texts of `plainDecimal` without loss. */
export class ExactSum {
  #units = 0n;
  #places = 0;

  add(text: string): void {
    const [whole = '0', fraction = ''] = text.split('.');
    const places = Math.max(this.#places, fraction.length);
    this.#units *= 10n ** BigInt(places - this.#places);
    this.#places = places;
    this.#units += BigInt(whole + fraction.padEnd(places, '0'));
  }

  toString(): string {
    const digits = String(this.#units < 0n ? -this.#units : this.#units).padStart(this.#places + 1, '0');
    const at = digits.length - this.#places;
    const fraction = digits.slice(at).replace(/0+$/, '');
    return `${this.#units < 0n ? '-' : ''}${digits.slice(0, at)}${fraction === '' ? '' : `.${fraction}`}`;
  }
}
