/**
 * Returns a decimal, in digits as Postgres writes them, rounded to 12 significant ones. A half goes away from zero. A double would be
 * nearest to another decimal, which can be on the other side of the half; one is made of what is rounded alone, and has the same digits.
 */
export function rounded(decimal: string): number {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const excess = digits.length - significant;
  if (excess <= 0) return Number(decimal);
  const kept = BigInt(digits.slice(0, significant)) + (digits.charAt(significant) >= '5' ? 1n : 0n);
  return Number(`${sign}${kept}e${excess - fraction.length}`);
}

const significant = 12;
