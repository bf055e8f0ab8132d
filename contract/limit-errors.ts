/** Errors of calls that are refused by a limit, for the catalogue (error-catalogue.ts). */
import { defineErrors } from './error-definition.ts';

export const limit = { type: 'rate_limit_error', status: 429, retry: 'after_retry_after' } as const;

export const limitErrors = defineErrors({
  requests_per_second_exceeded: {
    ...limit,
    message: 'The rate limit of this account is exceeded. Wait for the seconds in Retry-After.',
    when: 'The token bucket of the account, or that of the key if it has its own, is empty. The limit headers show its size and when it gets its next token.',
    action: 'Wait for the seconds in Retry-After; send more evenly.',
  },
  bytes_per_second_exceeded: {
    ...limit,
    message: 'The limit of bytes per second of this account is exceeded. Wait for the seconds in Retry-After.',
    when: 'The account sends request bodies faster than its limit in bytes allows, counted over all instances. Each begun KiB of a body counts. A body without a `Content-Length` costs 10 MiB, the most that it may have.',
    action: 'Wait for the seconds in Retry-After; send large bodies more evenly, with a `Content-Length`.',
  },
  daily_budget_exceeded: {
    ...limit,
    message: 'The daily request budget of this account is used up. It resets at midnight UTC.',
    when: 'The account or the key has used up its requests of this UTC day. Receipts, usage and the audit log can still be read, and keys can still be managed.',
    action: 'Wait for midnight UTC, or ask the operator for a larger budget.',
  },
  tokens_per_minute_exceeded: {
    ...limit,
    message: 'The limit of tokens per minute is exceeded. Wait for the seconds in Retry-After.',
    when: 'The bucket of tokens of the account or of the key holds fewer than the call needs: its prompt, as estimated, and the longest answer that it allows. The message says what the limit is, what is left, and what the call needs. If it needs more than the bucket can hold, waiting does not help, and `x-should-retry: false` says so.',
    action: 'Wait for the seconds in Retry-After, or allow a shorter answer.',
  },
  tokens_per_day_exceeded: {
    ...limit,
    message: 'The limit of tokens per day is exceeded. It begins anew at midnight UTC.',
    when: 'The account or the key has fewer tokens left of this UTC day than the call needs. The message says what the limit is, what is left, and what the call needs.',
    action: 'Allow a shorter answer, wait for midnight UTC, or ask the operator for more.',
  },
  concurrent_streams_exceeded: {
    ...limit,
    message: 'Too many streams of this account are open. Close idle ones, or ask for a higher tier.',
    when: 'The account or the key already has as many open streams as it may have. The message names the limit and how many are open.',
    action: 'Close idle streams, or ask for a higher tier; then wait for the seconds in Retry-After.',
  },
  evidence_packs_exceeded: {
    ...limit,
    message: 'This account has reached its limit of evidence packs in progress, or of bytes in finished ones.',
    when: 'The account has two packs that are queued or being built, or its finished ones have as many bytes as the operator keeps for an account. The message says which.',
    action: 'Wait until one is ready, or `DELETE` one that is not needed; then wait for the seconds in Retry-After.',
  },
});
