/** What the catalogues say about each error code. */

export type ErrorType =
  | 'auth_error'
  | 'validation_error'
  | 'rate_limit_error'
  | 'inference_error'
  | 'region_unavailable'
  | 'policy_error'
  | 'methodology_error'
  | 'internal_error';

/**
 * Whether the same request may be sent again without anybody doing something about it: never, after the seconds of
 * `Retry-After`, or after 2^attempt seconds plus a random fraction, at most four attempts in all.
 */
export type Retry = 'never' | 'after_retry_after' | 'with_backoff';

export interface ErrorDefinition {
  readonly type: ErrorType;
  readonly status: number;
  /** Where a path, not a body, names the thing that is not there. */
  readonly pathStatus?: 404;
  /** The text that a client sees unless the place that raises the error has a more exact one. */
  readonly message: string;
  /** In which case it is sent. */
  readonly when: string;
  /** What the client should do. */
  readonly action: string;
  readonly retry: Retry;
  /** Headers that follow neither from the status nor from `retry`. */
  readonly headers?: readonly ('Allow' | 'x-gw-receipt-id')[];
}

/** Checks a catalogue and keeps the names of its codes. */
export const defineErrors = <T extends Record<string, ErrorDefinition>>(catalogue: T): T => catalogue;

/** Waiting longer than this is not a client library's job, seconds. */
export const patienceS = 60;

/** The rule of the official SDKs, unless `x-should-retry` overrules it. */
export const retriedByStatus = (status: number): boolean =>
  status === 408 || status === 409 || status === 429 || status >= 500;
