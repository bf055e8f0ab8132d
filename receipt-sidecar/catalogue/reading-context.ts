import type { CompiledRules } from '@gw/policy/compile';

/** The parts of a model that reading depends on. A context window of null is not known. */
export interface ModelFacts {
  readonly id: string;
  readonly contextWindow: number | null;
  readonly tokenizer?: string | null | undefined;
}

/** Returns what a request names; undefined also for what the account cannot use, of which nothing is told. */
export const namedFacts = (
  id: string,
  { allowed, models }: Pick<ReadingContext, 'allowed' | 'models'>,
): ModelFacts | undefined => (allowed === null || allowed.includes(id) ? models.get(id) : undefined);

/** What reading depends on besides the body. */
export interface ReadingContext {
  readonly models: ReadonlyMap<string, ModelFacts>;
  readonly rules: CompiledRules;
  /** The only models that the account can use; null means all. */
  readonly allowed: readonly string[] | null;
  /** The ids of the rules that do not hold for the account. */
  readonly exempt: readonly string[];
  /** Makes the random salt for the hash of what is found. */
  readonly salt: () => Uint8Array;
}
