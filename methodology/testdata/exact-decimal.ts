/** Printed decimals as exact integers, so that a test can add what a reader of the JSON sees, without rounding. */
const places = 400;

/** The printed number times 10^400. */
export function exact(value: number): bigint {
  const [mantissa = '', exponent = '0'] = JSON.stringify(value).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return BigInt(whole + fraction) * 10n ** BigInt(places + Number(exponent) - fraction.length);
}

/** How many significant digits are printed. */
export function significantDigits(value: number): number {
  const [mantissa = ''] = JSON.stringify(value).split('e');
  return mantissa.replace('.', '').replace(/^0+/, '').replace(/0+$/, '').length;
}
