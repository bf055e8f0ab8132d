/** The jobs of the threads that read requests. */
import type { PolicyRule } from '@gw/contract/internal/policy-rules';
import type { ModelFacts } from '../catalogue/reading-context.ts';

/** A thread keeps these between jobs; they are sent only when they differ from what it got last. */
export interface RequestFacts {
  readonly models: ReadonlyMap<string, ModelFacts>;
  readonly policySha256: string;
  readonly rules: readonly PolicyRule[];
}

/** A request to read. Null as `facts` means that the thread has them; null as `allowed` means all models. */
export interface RequestJob {
  readonly kind: 'request';
  readonly endpoint: string;
  readonly bytes: Uint8Array;
  readonly allowed: readonly string[] | null;
  readonly exempt: readonly string[];
  readonly salt: Uint8Array;
  /** Whether it came with an idempotency key. */
  readonly isKeyed: boolean;
  readonly facts: RequestFacts | null;
}
