/** The rules of screening as clients read them: what is looked for, and never by which words. */
import { z } from 'zod';
import { pageSchema } from './list.ts';

export const ruleIdSchema = z
  .string()
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'a slug such as nerve-agent-synthesis')
  .max(64);

export const screenSchema = z.enum(['dual_use', 'acceptable_use']);
/** `flag` records the call and lets it pass. */
export const actionSchema = z.enum(['block', 'flag']);

const publishedRuleSchema = z
  .strictObject({
    id: ruleIdSchema.describe('`acceptable_use_violation` names it'),
    object: z.literal('use_policy.rule'),
    title: z.string(),
    kind: z.enum(['phrases', 'pattern', 'classifier']).describe('How it is looked for'),
    screen: screenSchema,
    action: actionSchema.describe('`flag`: the call passes, and the audit log has an entry of it'),
  })
  .meta({ id: 'UsePolicyRule' });
export type PublishedRule = z.infer<typeof publishedRuleSchema>;

export const usePolicySchema = pageSchema(publishedRuleSchema)
  .extend({
    version: z.int().nonnegative().describe('0: the rules that the software came with'),
    sha256: z.string().describe('Of the whole rules, as in the audit log'),
  })
  .meta({ id: 'UsePolicy' });
