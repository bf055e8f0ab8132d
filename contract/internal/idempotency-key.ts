/** The headers of idempotency, shared by all routes that accept `Idempotency-Key`. */
import { hash } from 'node:crypto';
import { canonicalText } from './canonical-text.ts';

export const idempotencyKeyHeader = 'idempotency-key';

/** `true` on a replayed reply. */
export const replayedHeader = 'idempotent-replayed';
/** On a reply to a call that ran although an earlier one with its key may have run without leaving a reply. */
export const reexecutedHeader = 'idempotent-reexecuted';
export const reexecuted = 'provider-may-have-been-asked';
/** Value for a change that the earlier request may have made. */
export const reexecutedChange = 'change-may-have-been-made';

export const isIdempotencyKey = (text: string): boolean => /^[\x21-\x7e]{1,255}$/.test(text);

/**
 * Returns the same hash for bodies that differ only in key order, whitespace and the spelling of numbers and strings. `inexact`: the numbers
 * that are others in `parsed` (`JsonText`).
 */
export const bodySha256 = (parsed: unknown, inexact: readonly string[] = []): string =>
  hash('sha256', [canonicalText(parsed), ...inexact].join('\n'), 'base64url');
