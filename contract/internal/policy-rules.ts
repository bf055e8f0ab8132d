/**
 * The format of screening rules for the operator API, the store, the snapshot and the engine in the policy package, which has further
 * checks of its own (`compileRules`).
 *
 * Invariant: a set within these limits cannot slow down the hot path.
 */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { z } from 'zod';
import { actionSchema, ruleIdSchema, screenSchema } from '../use-policy.ts';

/** The error code of each screen. */
export const screenCodes = {
  dual_use: 'dual_use_screen_block',
  acceptable_use: 'acceptable_use_violation',
} as const;

export const maxRules = 200;
export const maxPhrasesPerRule = 1000;
/** In all rules of a set together. */
export const maxPhrases = 5000;
export const maxPhraseChars = 200;
export const maxUnless = 100;
export const maxBefore = 100;
/** In all rules of a set together. */
export const maxPatterns = 50;
export const maxPatternChars = 1000;
export const maxNeeds = 100;
export const maxCategories = 100;
export const maxCategoryChars = 100;

const ruleFields = {
  id: ruleIdSchema,
  title: z.string().min(1).max(200),
  screen: screenSchema,
  action: actionSchema,
  enabled: z.boolean(),
};

const phrase = z.string().min(1).max(maxPhraseChars);

/** The first two kinds match the normalised text, see docs/use-policy.md. */
export const policyRuleSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    ...ruleFields,
    kind: z.literal('phrases'),
    /** Whole words in this order; case, accents, punctuation and look-alike letters are ignored. */
    phrases: z.array(phrase).min(1).max(maxPhrasesPerRule),
    /** A phrase that continues as one of these does not count: `bomb shelter` exempts `make a bomb` before `shelter`. */
    unless: z.array(phrase).max(maxUnless).optional(),
    /** If present, a phrase counts only at the end of a sentence or before one of these words. */
    before: z.array(phrase).max(maxBefore).optional(),
  }),
  z.strictObject({
    ...ruleFields,
    kind: z.literal('pattern'),
    /** RE2 syntax, matched in linear time. The text is in lower case with single spaces between words. */
    pattern: z.string().min(1).max(maxPatternChars),
    /** The pattern is tried only on texts with one of these as whole words. Name each form, `agent` and `agents`. */
    needs: z.array(phrase).min(1).max(maxNeeds),
  }),
  z.strictObject({
    ...ruleFields,
    kind: z.literal('classifier'),
    /** Categories of the operator's classifier. Absent: whatever it flags. */
    categories: z.array(z.string().min(1).max(maxCategoryChars)).min(1).max(maxCategories).optional(),
    /** The least score of a category that counts, from 0 to 1. Absent: the classifier decides. */
    threshold: z.number().min(0).max(1).optional(),
    /** Decides about a call that the classifier does not judge in time. */
    on_failure: z.enum(['pass', 'block']),
  }),
]);
export type PolicyRule = z.infer<typeof policyRuleSchema>;
export type ClassifierRule = Extract<PolicyRule, { readonly kind: 'classifier' }>;

const counted = (rules: readonly PolicyRule[]) => ({
  phrases: rules.reduce((sum, rule) => sum + (rule.kind === 'phrases' ? rule.phrases.length : 0), 0),
  patterns: rules.filter(({ kind }) => kind === 'pattern').length,
});

export const policyRulesSchema = z
  .array(policyRuleSchema)
  .max(maxRules)
  .refine((rules) => new Set(rules.map(({ id }) => id)).size === rules.length, 'two rules have the same id')
  .refine((rules) => counted(rules).phrases <= maxPhrases, `more than ${maxPhrases} phrases in all rules together`)
  .refine(
    (rules) =>
      rules.every(
        (rule) => rule.kind !== 'classifier' || rule.threshold === undefined || rule.categories !== undefined,
      ),
    'a rule with a threshold must list categories',
  )
  .refine((rules) => counted(rules).patterns <= maxPatterns, `more than ${maxPatterns} rules with a pattern`);

/** A published set; version 0 is the built-in default. */
export const policySchema = z.object({
  version: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  rules: policyRulesSchema,
  /** Maps an account id to the ids of the rules that do not apply to it. */
  exemptions: z.record(z.string(), z.array(z.string())),
});
export type Policy = z.infer<typeof policySchema>;

/** SHA-256 of the RFC 8785 form of the rules, in hex. */
export function rulesSha256(rules: readonly PolicyRule[]): string {
  const text = canonicalize(rules);
  if (text === undefined) throw new Error('The rules have no canonical form.');
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
