import { describe, expect, it } from 'vitest';
import { classFactors } from './class-factors.ts';

describe('the proxy classes', () => {
  // Published with the methodology: Wh per 1,000 output tokens, accelerator and host, before the overhead.
  it.each([
    ['small', 0.0451, 0.0292],
    ['medium', 0.0542, 0.0363],
    ['large', 0.3216, 0.2264],
    ['moe_small_active', 0.1737, 0.1117],
    ['frontier', (1.0493 + 1.8511) / 2, (0.7218 + 1.3438) / 2],
  ] as const)('charge the published factors for %s', (modelClass, acceleratorWh, hostWh) => {
    const { perOutputToken } = classFactors[modelClass];
    expect(Math.abs(perOutputToken.acceleratorWh * 1000 - acceleratorWh)).toBeLessThanOrEqual(6e-5);
    expect(Math.abs(perOutputToken.hostWh * 1000 - hostWh)).toBeLessThanOrEqual(6e-5);
  });

  it('charge for input in every class', () => {
    for (const factors of Object.values(classFactors)) expect(factors.perInputToken.acceleratorWh).toBeGreaterThan(0);
  });
});
