import { exp, ln } from './elementary.ts';

/**
 * The ratio of a product whose factors are off by these ratios, each either way, independently of each other: as relative errors
 * of a product combine (IPCC 2006 Guidelines, vol. 1, ch. 3, approach 1), by their logarithms, since they are ratios.
 */
export function combined(...ratios: readonly number[]): number {
  let sum = 0;
  for (const ratio of ratios) {
    const log = ln(ratio);
    sum += log * log;
  }
  return exp(Math.sqrt(sum));
}
