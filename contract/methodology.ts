/** The document of a methodology, which its hash covers. The grammar of the formulas is in methodology/methodologies.md. */
import { z } from 'zod';

const step = z.strictObject({
  unit: z.string(),
  formula: z.string(),
  origin: z.string().describe('Whose formula it is'),
});

const text = z.string().nullable();
const factor = z.strictObject({
  value: z.number().nullable(),
  unit: z.string(),
  source: z.string(),
  version: text,
  licence: text,
  date: text,
  locator: text,
  uncertainty: text,
});
const ofLineage = 'As each lineage prints them; absent in `ecologits-0.11.3`';

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
    inputs: z
      .record(z.string(), z.strictObject({ unit: z.string(), source: z.string(), fact: text }))
      .optional()
      .describe(`Names in formulas that are facts, with their place in \`facts\`. ${ofLineage}`),
    factors: z.record(z.string(), factor).optional().describe(`The other names. ${ofLineage}`),
    factorsOfClasses: z
      .record(z.string(), z.record(z.string(), factor))
      .optional()
      .describe(`The same of each size class. ${ofLineage}`),
    factorsOfServing: z
      .record(z.string(), z.record(z.string(), factor))
      .optional()
      .describe(
        `The same for each kind of model and of what is stated of its deployment (calculation.serving of a lineage). ${ofLineage}`,
      ),
    gridFactors: z
      .record(z.string(), z.strictObject({ unit: z.string(), uncertainty: text }))
      .optional()
      .describe(`Factors whose values are facts of the grid. ${ofLineage}`),
  })
  .meta({ id: 'Methodology', description: 'The constants and formulas that receipts are made by, to the byte' });
