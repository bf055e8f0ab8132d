/** What a client says with `Idempotency-Key`, and what it is told: the same for every route that takes the header. */
import { hash } from 'node:crypto';
import { canonicalText } from './canonical-text.ts';

export const idempotencyKeyHeader = 'idempotency-key';

/** On a reply that was made for an earlier call: `true`. */
export const replayedHeader = 'idempotent-replayed';
/** On a reply to a call that ran although an earlier one with its key may have run, and left no reply to replay. */
export const reexecutedHeader = 'idempotent-reexecuted';
export const reexecuted = 'provider-may-have-been-asked';
/** The same on a reply to a change that the earlier one may have made. */
export const reexecutedChange = 'change-may-have-been-made';

/** 1 to 255 visible characters of ASCII. */
export const isIdempotencyKey = (text: string): boolean => /^[\x21-\x7e]{1,255}$/.test(text);

/** Returns the same for bodies that differ only in the order of keys, in blanks and in how numbers and texts are written. */
export const bodySha256 = (parsed: unknown): string => hash('sha256', canonicalText(parsed), 'base64url');
