/** What the threads are told, and what they answer. */
import type { PolicyRule } from '@gw/contract/internal/policy-rules';
import type { Endpoint } from '../api/endpoint.ts';
import type { ModelFacts } from '../catalogue/reading-context.ts';
import type { ReplyFacts } from '../reply/read-reply.ts';

/** What a thread keeps between jobs; it is sent only if it is not what the thread was told last. */
export interface RequestFacts {
  readonly models: ReadonlyMap<string, ModelFacts>;
  readonly policySha256: string;
  readonly rules: readonly PolicyRule[];
}

/** A request to read. Null as `facts` means that the thread has them; null as `allowed` means all models. */
export interface RequestJob {
  readonly kind: 'request';
  readonly endpoint: Endpoint;
  readonly bytes: Uint8Array;
  readonly allowed: readonly string[] | null;
  readonly exempt: readonly string[];
  readonly salt: Uint8Array;
  /** Whether it came with an idempotency key. */
  readonly isKeyed: boolean;
  readonly facts: RequestFacts | null;
}

export interface ReplyJob {
  readonly kind: 'reply';
  readonly bytes: Uint8Array;
  readonly facts: ReplyFacts;
}

export type BodyJob = RequestJob | ReplyJob;
