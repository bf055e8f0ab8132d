/** The document of a methodology: all that its hash is over. The grammar of the formulas is in methodology/methodologies.md. */
import { z } from 'zod';

const step = z.strictObject({
  unit: z.string(),
  formula: z.string(),
  origin: z.string().describe('Whose formula it is'),
});

export const methodologySchema = z
  .strictObject({
    id: z.string(),
    version: z.string(),
    rules: z
      .record(z.string(), z.union([z.number(), z.boolean(), z.string(), z.record(z.string(), z.string())]).nullable())
      .describe('What the formulas do not say; a rule that is absent does not hold'),
    constants: z.record(z.string(), z.unknown()).describe('Their units and sources are in each lineage'),
    functions: z
      .record(z.string(), z.string())
      .optional()
      .describe('What the functions in formulas mean; absent where the formulas are written for readers alone'),
    steps: z.record(z.string(), step).describe('By id, with `/` and a variant where a step has several formulas'),
  })
  .meta({ id: 'Methodology', description: 'The constants and formulas that receipts are made by, to the byte' });
