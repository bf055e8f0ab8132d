/**
 * Decides what a call takes from the ledger, from budgets and from counts of tokens, by how its last attempt ended.
 *
 * Invariants: a number that the receipt states is taken as it is, and nothing beside it. The table decides about calls whose receipt
 * has no number. Earlier attempts of a call take nothing: only `mayHaveGenerated` remains of them. The day counts a call once, when it is
 * admitted, however it ends, so the day has no column.
 */
import { unreachedHeader } from '@gw/contract/internal/snapshot';
import type { Candidate } from '../catalogue/snapshot.ts';
import type { Headers } from '../wire/ext-proc.ts';
import { type AttemptOutcome, type JudgedReply, ownOutcome } from './attempt-outcome.ts';
import type { FailedAttempt } from './failed-attempts.ts';

/**
 * How an attempt ended, if not as `AttemptOutcome` says. `refused`: a 4xx of the provider. `error_reply`: an error in place of an answer,
 * in a 200 or as the first event of a stream, or what no API replies. `unreadable`: a 200 that breaks off or cannot be read within its
 * answer. `cut_off`: the reply broke off. `client_left`: the client left before the reply had come to its end.
 */
type OtherEnd = 'answered' | 'nothing_generated' | 'refused' | 'error_reply' | 'unreadable' | 'cut_off' | 'client_left';
export type AttemptEnd = AttemptOutcome | OtherEnd;

interface Settlement {
  /** Whether the call has a receipt: false only where it is certain that no provider was called. */
  readonly hasReceipt: boolean;
  /** The use of a call whose receipt has no number: none, or the assumption of `guards/budgets/estimate.ts`, which is shown apart. */
  readonly unstated: 'nothing' | 'assumed';
  /** Whether the provider may have generated something that nobody received. It is an upper bound of energy, and never counts as used. */
  readonly mayHaveGenerated: boolean;
}

const notCalled: Settlement = { hasReceipt: false, unstated: 'nothing', mayHaveGenerated: false };
/** The provider did not begin to work, or says that it did not. */
const idle: Settlement = { hasReceipt: true, unstated: 'nothing', mayHaveGenerated: false };
/** The provider failed and delivered nothing, which no budget pays for; it may have failed while it generated. */
const failedAtWork: Settlement = { hasReceipt: true, unstated: 'nothing', mayHaveGenerated: true };
/** The provider answered, or could have, and nobody knows what it generated. */
const untold: Settlement = { hasReceipt: true, unstated: 'assumed', mayHaveGenerated: true };

export const settlements: Readonly<Record<AttemptEnd, Settlement>> = {
  no_credential: notCalled,
  at_capacity: notCalled,
  unhealthy: notCalled,
  not_ready: notCalled,
  no_connection: idle,
  auth_failed: idle,
  quota_exhausted: idle,
  model_missing: idle,
  rate_limited: idle,
  refused: idle,
  nothing_generated: idle,
  server_error: failedAtWork,
  error_reply: failedAtWork,
  timed_out: failedAtWork,
  connection_lost: failedAtWork,
  failed: failedAtWork,
  cut_off: failedAtWork,
  unreadable: untold,
  client_left: untold,
  // The answer was delivered, and only its numbers are missing.
  answered: { hasReceipt: true, unstated: 'assumed', mayHaveGenerated: false },
};

/** Returns how the attempt ended whose reply has these headers; null if an answer may follow. `deployment`: who replied; null: Envoy. */
export function endOfReply(
  headers: Headers,
  deployment: string | null,
  { fault, status }: Pick<JudgedReply, 'fault' | 'status'>,
): AttemptEnd | null {
  const own = ownOutcome(headers) ?? fault;
  if (own !== null) return own;
  if (headers.has(unreachedHeader)) return 'no_connection';
  if (deployment === null) return status === 504 ? 'timed_out' : 'connection_lost';
  if (status < 400) return null;
  // A 504 of the provider itself is a failure that it states.
  return status === 429 ? 'rate_limited' : status < 500 ? 'refused' : 'server_error';
}

/** Returns those of the attempts that failed in which a provider may have generated something, and those whose reason is unknown. */
export const mayHaveGenerated = (failed: readonly Candidate[], known: readonly FailedAttempt[]): Candidate[] =>
  failed.filter(({ deployment: { id } }) => {
    const outcome = known.find(({ deployment }) => deployment === id)?.outcome ?? 'failed';
    return settlements[outcome].mayHaveGenerated;
  });
