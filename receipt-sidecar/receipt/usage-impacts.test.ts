import { usageImpactsSchema } from '@gw/contract/usage-impacts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type MirroredNumbers, usageImpacts } from './usage-impacts.ts';

const receipt: MirroredNumbers = {
  energy_wh: 0.315142642101,
  energy_low_wh: 0.106430431141,
  energy_high_wh: 1.42093499966,
  carbon_g: 0.134070516492,
  carbon_low_g: 0.0350333441283,
  carbon_high_g: 0.673762396412,
  water_low_ml: 0.191056292321,
  water_high_ml: 9.87119886101,
};

test('a receipt is mirrored in kWh, kgCO2eq and litres, under the names and types of EcoLogits', () => {
  const impacts = usageImpacts(receipt);
  expect(impacts).toEqual({
    kWh: 0.000315142642101,
    kgCO2eq: 0.000134070516492,
    energy: { type: 'energy', name: 'Energy', value: { min: 0.000106430431141, max: 0.00142093499966 }, unit: 'kWh' },
    gwp: {
      type: 'GWP',
      name: 'Global Warming Potential',
      value: { min: 0.0000350333441283, max: 0.000673762396412 },
      unit: 'kgCO2eq',
    },
    wcf: {
      type: 'WCF',
      name: 'Water Consumption Footprint',
      value: { min: 0.000191056292321, max: 0.00987119886101 },
      unit: 'L',
    },
  });
  expect(usageImpactsSchema.parse(impacts)).toEqual(impacts);
});

test('what the receipt lacks is left out, and one without numbers has no mirror', () => {
  const { water_low_ml: _, ...old } = receipt;
  expect(Object.keys(usageImpacts(old) ?? {})).toEqual(['kWh', 'kgCO2eq', 'energy', 'gwp']);
  expect(Object.keys(usageImpacts({ ...receipt, energy_wh: null, carbon_low_g: null }) ?? {})).toEqual([
    'kgCO2eq',
    'energy',
    'wcf',
  ]);
  const none = Object.fromEntries(Object.keys(receipt).map((name) => [name, null])) as unknown as MirroredNumbers;
  expect(usageImpacts(none)).toBeNull();
});

test('of any amount only the decimal point moves', () => {
  const digits = fc.integer({ min: 0, max: 999_999_999_999 });
  fc.assert(
    fc.property(digits, fc.integer({ min: -30, max: 6 }), (integer, exponent) => {
      const impacts = usageImpacts({ ...receipt, energy_wh: Number(`${integer}e${exponent}`) });
      expect(impacts?.kWh).toBe(Number(`${integer}e${exponent - 3}`));
    }),
  );
});
