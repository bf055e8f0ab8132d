import type { CompiledRules } from '@gw/policy/compile';

/** What of a model reading depends on. */
export interface ModelFacts {
  readonly id: string;
  readonly contextWindow: number | null;
  readonly tokenizer?: string | null | undefined;
}

/** What reading depends on besides the body. */
export interface ReadingContext {
  readonly models: ReadonlyMap<string, ModelFacts>;
  readonly rules: CompiledRules;
  /** The models that the account may use; null: all. */
  readonly allowed: readonly string[] | null;
  /** Rules that do not hold for the account. */
  readonly exempt: readonly string[];
  /** Of what is found, random. */
  readonly salt: () => Uint8Array;
}
