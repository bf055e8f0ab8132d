import type { CompiledRules } from '@gw/policy/compile';

/** The facts of a model that reading depends on. A context window of null is unknown. */
export interface ModelFacts {
  readonly id: string;
  readonly contextWindow: number | null;
  readonly tokenizer: string | null;
  /** The APIs of its providers, each list once; absent: all speak the usual ones. */
  readonly spoken?: readonly (readonly string[])[];
}

/** Returns undefined for an unknown model and for one that the account cannot use, so that the two look alike. */
export const namedFacts = (
  id: string,
  { allowed, models }: Pick<ReadingContext, 'allowed' | 'models'>,
): ModelFacts | undefined => (allowed === null || allowed.includes(id) ? models.get(id) : undefined);

/** The inputs of reading besides the body. */
export interface ReadingContext {
  readonly models: ReadonlyMap<string, ModelFacts>;
  readonly rules: CompiledRules;
  /** The only models that the account can use; null means all. */
  readonly allowed: readonly string[] | null;
  /** The ids of the rules that do not hold for the account. */
  readonly exempt: readonly string[];
  /** Makes the random salt for the hash of a finding. */
  readonly salt: () => Uint8Array;
}
