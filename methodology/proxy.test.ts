import { describe, expect, it } from 'vitest';
import { classFactors, proxyEstimate } from './proxy.ts';
import { exactly } from './work.ts';

const site = { pue: 1.2, wueOnsiteLPerKwh: null };
const rules = {
  combinesBounds: false,
  facts: { promptTokens: 10, cachedPromptTokens: 0, outputTokens: 0, site, ratios: exactly, isGuessed: false },
};

describe('the proxy classes', () => {
  // Published with the methodology: Wh per 1,000 output tokens, accelerator and host, before the overhead.
  it.each([
    ['small', 0.0451, 0.0292],
    ['medium', 0.0542, 0.0363],
    ['large', 0.3216, 0.2264],
    ['moe_small_active', 0.1737, 0.1117],
    ['frontier', (1.0493 + 1.8511) / 2, (0.7218 + 1.3438) / 2],
  ] as const)('charge the published factors for %s', (modelClass, acceleratorWh, hostWh) => {
    const { central } = proxyEstimate(modelClass, { ...rules, inputTokens: 0, outputTokens: 1000 });
    expect(Math.abs(central.acceleratorWh - acceleratorWh)).toBeLessThanOrEqual(6e-5);
    expect(Math.abs(central.hostWh - hostWh)).toBeLessThanOrEqual(6e-5);
  });

  it('charge for input in every class', () => {
    for (const factors of Object.values(classFactors)) expect(factors.perInputToken.acceleratorWh).toBeGreaterThan(0);
  });

  it('gave bounds of 60 % around the value before gw-1.4', () => {
    const { basis, central, high, low } = proxyEstimate('medium', { ...rules, inputTokens: 10, outputTokens: 10 });
    expect(basis).toBe('literature_default');
    expect(low.acceleratorWh / central.acceleratorWh).toBeCloseTo(0.4, 12);
    expect(high.hostWh / central.hostWh).toBeCloseTo(1.6, 12);
  });
});
