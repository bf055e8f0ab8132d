/** The fields of an alias: another name for a model, and the targets that serve it, in order. */
import { z } from 'zod';
import { type FieldTable, slugSchema } from './field.ts';
import { modelIdSchema } from './model-fields.ts';

export const aliasIdDoc = 'clients send it as `model`; never that of a model';

/** Enough for five attempts to go elsewhere, and few enough for the fail-over chains that each target adds. */
const mostTargets = 8;

const target = z.strictObject({ model: modelIdSchema, provider: slugSchema.optional() });
/** Without `provider`, every deployment of the model. */
const targetRead = z.object({ model: z.string(), provider: z.string().optional() });
export type AliasTarget = z.infer<typeof targetRead>;

export const aliasFields = {
  targets: {
    entry: z.array(target).min(1).max(mostTargets),
    shown: z.array(targetRead),
    snapshot: z.array(targetRead).min(1),
    needed: true,
    option: 'targets',
    form: 'targets',
    help: 'models in order, each with a provider if need be: gpt-4o=azure,gpt-4o=openai,llama-3',
    doc: `1 to ${mostTargets}, in order: \`{"model","provider"}\`; without a provider every deployment of the model. In the shell \`gpt-4o=azure,gpt-4o=openai,llama-3\``,
  },
} as const satisfies FieldTable;
