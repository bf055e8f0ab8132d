/**
 * `usage.impacts` of a reply: the receipt once more, in the shapes that clients of OpenGateLLM (`kWh`, `kgCO2eq`) and of EcoLogits (the
 * objects) read. Only accounts that have asked for it get it.
 */
import { z } from 'zod';

const impactSchema = <Type extends string, Name extends string, Unit extends string>(
  type: Type,
  name: Name,
  unit: Unit,
) =>
  z.strictObject({
    type: z.literal(type),
    name: z.literal(name),
    value: z.strictObject({ min: z.number().nonnegative(), max: z.number().nonnegative() }),
    unit: z.literal(unit),
  });

export const usageImpactsSchema = z
  .strictObject({
    kWh: z.number().nonnegative().describe('`energy_wh` / 1000'),
    kgCO2eq: z.number().nonnegative().describe('`carbon_g` / 1000'),
    energy: impactSchema('energy', 'Energy', 'kWh').describe('`energy_low_wh` and `energy_high_wh` / 1000'),
    gwp: impactSchema('GWP', 'Global Warming Potential', 'kgCO2eq').describe(
      '`carbon_low_g` and `carbon_high_g` / 1000',
    ),
    wcf: impactSchema('WCF', 'Water Consumption Footprint', 'L').describe('`water_low_ml` and `water_high_ml` / 1000'),
  })
  .partial();
export type UsageImpacts = z.infer<typeof usageImpactsSchema>;
