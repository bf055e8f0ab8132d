/** The form of an entry in the error catalogues. */

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
 * Whether the same request may be sent again unchanged: never, after the seconds in `Retry-After`, or after 2^attempt seconds
 * plus a random fraction, at most four attempts in all.
 */
export type Retry = 'never' | 'after_retry_after' | 'with_backoff';

export interface ErrorDefinition {
  readonly type: ErrorType;
  readonly status: number;
  /** Status if the path, and not the body, names the missing thing. */
  readonly pathStatus?: 404;
  /** The text that a client sees, unless the code that raises the error has a more precise one. */
  readonly message: string;
  /** When it is sent. */
  readonly when: string;
  /** Tells the client how to react. */
  readonly action: string;
  readonly retry: Retry;
  /** Headers that follow neither from the status nor from `retry`. */
  readonly headers?: readonly ('Allow' | 'x-gw-receipt-id')[];
}

/** Checks a catalogue and keeps the names of its codes. */
export const defineErrors = <T extends Record<string, ErrorDefinition>>(catalogue: T): T => catalogue;

/** The longest time, in seconds, that a client library should wait before it retries by itself. */
export const patienceS = 60;

/** The rule of the official SDKs, unless `x-should-retry` overrules it. */
export const retriedByStatus = (status: number): boolean =>
  status === 408 || status === 409 || status === 429 || status >= 500;
