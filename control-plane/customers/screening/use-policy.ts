/**
 * This judges what applicants declare; the rules of policy/ judge what clients send (docs/use-policy.md).
 *
 * The use policy as data: which uses are prohibited, which phrases are looked at by people, which industries are of
 * high risk. The built-in one is a start, to be replaced by the operator's own (`GW_USE_POLICY_FILE`).
 *
 * Invariant: each result carries the version of the policy and the SHA-256 of its content, so that it is known years
 * later by which rules an application was judged. Declaring a prohibited use ends an application; a phrase never does,
 * since words alone do not tell what is meant: people decide.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { countrySchema } from '@gw/contract/countries';
import { z } from 'zod';
import type { ScreeningSettings } from './config.ts';
import { normaliseText } from './normalise.ts';
import builtIn from './use-policy.json' with { type: 'json' };

const slug = z.string().regex(/^[a-z][a-z0-9_]{0,49}$/);
const phrases = z.array(z.string().min(3).max(100)).max(500);
const rulesSchema = z.strictObject({
  version: z.string().min(1).max(50),
  prohibited_uses: z.array(z.strictObject({ id: slug, title: z.string().max(200), phrases })).max(100),
  dual_use: z.strictObject({ phrases, countries: z.array(countrySchema).max(250) }),
  industries: z
    .array(z.strictObject({ id: slug, title: z.string().max(200), high_risk: z.boolean() }))
    .min(1)
    .max(200),
});

export const usePolicySchema = rulesSchema.extend({ sha256: z.string() });
export type UsePolicy = z.infer<typeof usePolicySchema>;

/** Throws if the file is missing or malformed, since no start is better than other rules than the operator's. */
export function loadUsePolicy({ policyFile }: Pick<ScreeningSettings, 'policyFile'>): UsePolicy {
  const rules = rulesSchema.parse(policyFile === null ? builtIn : JSON.parse(readFileSync(policyFile, 'utf8')));
  // The schema has put the fields into its own order, so that layout and order of the file make no difference.
  return { ...rules, sha256: createHash('sha256').update(JSON.stringify(rules)).digest('hex') };
}

/** An applicant's declaration in step 2. */
export interface Declaration {
  readonly intended_use: string;
  /** Ids of uses, from the policy or the applicant's own. */
  readonly uses: readonly string[];
  /** Id of an industry of the policy. */
  readonly industry: string;
  /** Where the service will be used, as ISO 3166-1 alpha-2. */
  readonly countries: readonly string[];
}

/** The outcome of step 2: `match` if a phrase was found, `prohibited` if a prohibited use was declared. */
export interface UseScreening {
  readonly outcome: 'clear' | 'match' | 'prohibited';
  readonly policy_version: string;
  readonly policy_sha256: string;
  /** The ids of the prohibited uses that were declared. */
  readonly prohibited: readonly string[];
  readonly phrases: readonly string[];
  readonly high_risk: boolean;
}

/** Judges a declaration. An industry that the policy does not know is of high risk. */
export function screenUse(declaration: Declaration, policy: UsePolicy): UseScreening {
  const prohibited = policy.prohibited_uses.map(({ id }) => id).filter((id) => declaration.uses.includes(id));
  const found = phrasesIn(
    declaration,
    policy.prohibited_uses.flatMap((use) => use.phrases),
  );
  const industry = policy.industries.find(({ id }) => id === declaration.industry);
  return {
    outcome: prohibited.length > 0 ? 'prohibited' : found.length > 0 ? 'match' : 'clear',
    policy_version: policy.version,
    policy_sha256: policy.sha256,
    prohibited,
    phrases: found,
    // An industry that the policy no longer knows is looked at by people.
    high_risk: industry?.high_risk ?? true,
  };
}

export interface DualUseScreening {
  readonly outcome: 'clear' | 'match';
  readonly policy_version: string;
  readonly policy_sha256: string;
  readonly phrases: readonly string[];
  readonly countries: readonly string[];
}

/** A match is a phrase, or a country, of the policy's list for dual use. */
export function screenDualUse(declaration: Declaration, policy: UsePolicy): DualUseScreening {
  const found = phrasesIn(declaration, policy.dual_use.phrases);
  const countries = policy.dual_use.countries.filter((country) => declaration.countries.includes(country));
  return {
    outcome: found.length + countries.length > 0 ? 'match' : 'clear',
    policy_version: policy.version,
    policy_sha256: policy.sha256,
    phrases: found,
    countries,
  };
}

/** Returns the phrases that the declaration holds as whole words, whatever their case and punctuation. */
function phrasesIn({ intended_use, uses }: Declaration, wanted: readonly string[]): string[] {
  const text = ` ${normaliseText([intended_use, ...uses.map((use) => use.replaceAll('_', ' '))].join(' . ')).join(' ')} `;
  return wanted.filter((phrase) => text.includes(` ${normaliseText(phrase).join(' ')} `));
}
