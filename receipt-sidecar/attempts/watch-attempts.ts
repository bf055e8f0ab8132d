/**
 * The entrance to the attempts of a call: watches them from the first to the last and reports how each ended to those who judge deployments.
 *
 * - attempt-requests.ts: what each attempt is sent
 * - added-fields.ts: which fields of the gateway's own the deployments take
 * - attempt-outcome.ts: how a status, a header or a log entry is classified
 * - failed-attempts.ts: which attempts of a call failed, and why
 * - direct-first-attempts.ts: which first attempts go to their provider directly
 * - calls-under-way.ts: how much deployments have to do
 * - resting-deployments.ts: which deployments free calls avoid at first
 * - operator-notices.ts: which deployments need their operator
 * - unavailable-deployments.ts: which deployments refuse pinned calls, and for how long (`Retry-After`)
 */
import { refusedFieldsHeader } from '@gw/contract/internal/attempt-headers';
import { troubleField } from '@gw/contract/internal/deployment-trouble';
import { firstAttemptHeader, notRepeatedHeader } from '@gw/contract/internal/first-attempt';
import { atCapacityHeader, credentialMissingHeader, notReadyHeader } from '@gw/contract/internal/snapshot';
import type { Candidate } from '../catalogue/snapshot.ts';
import type { Headers } from '../wire/ext-proc.ts';
import { isDirected } from '../wire/headers.ts';
import { andThen, type MaybePromise } from '../wire/maybe-promise.ts';
import type { AddedFields } from './added-fields.ts';
import {
  type AttemptOutcome,
  type AttemptResult,
  type AttemptVerdict,
  judgedReply,
  outcomeOfReply,
  ownOutcome,
  verdictOf,
} from './attempt-outcome.ts';
import type { AttemptedRoute, Attempts } from './attempt-requests.ts';
import type { CallsUnderWay } from './calls-under-way.ts';
import type { FirstAttempts } from './direct-first-attempts.ts';
import { type FailedAttempt, type FailedAttempts, failedBefore } from './failed-attempts.ts';
import type { JudgedOutcome, OperatorNotices } from './operator-notices.ts';
import type { DeploymentHealth } from './resting-deployments.ts';
import { type MeasuredTrouble, ofAccount } from './unavailable-deployments.ts';

export interface Answered {
  /** Null if it is unknown who answered. */
  readonly deployment: string | null;
  /** Envoy's count of the deployments it tried. */
  readonly attempts: number;
  readonly headers: Headers;
}

export interface AttemptWatch {
  /** Call when the headers of a reply have come. Resolves once the reasons of earlier failures are known as far as possible. */
  arrived(answer: Answered): MaybePromise<void>;
  /** Call when `arrived` has resolved; reports all attempts. */
  answered(answer: Answered): void;
  end(): void;
  /** After `arrived`: how the only attempt was lost, if the listener of the deployment only said that it does not try again. */
  readonly lost: AttemptOutcome | null;
  /** After `arrived`: the fields that the gateway had added to the request that was answered. */
  readonly added: readonly string[];
}

export interface Watchers {
  readonly addedFields: Pick<AddedFields, 'answered' | 'shownBy'>;
  readonly failedAttempts: FailedAttempts;
  readonly firstAttempts: FirstAttempts;
  readonly health: DeploymentHealth;
  readonly notices: OperatorNotices;
  /** Measured by free calls, under names of `troubleField`. */
  readonly trouble: MeasuredTrouble;
  /** Measured by the pinned calls of each account, under names of `ofAccount`. */
  readonly accountTrouble: MeasuredTrouble;
  readonly underWay: Pick<CallsUnderWay, 'begins'>;
}

export interface WatchedCall {
  readonly identity: { readonly receiptId: string; readonly route: AttemptedRoute };
  readonly accountId: string;
  /** When the call was sent, by `performance.now`. */
  readonly startedAt: number;
}

/**
 * A pinned call that fails only counts for its own account: otherwise a client who provokes failures could move everybody's free calls. A call that
 * directs the simulated provider does not count at all.
 */
export function watchAttempts(
  { accountTrouble, addedFields, failedAttempts, firstAttempts, health, notices, trouble, underWay }: Watchers,
  { accountId, identity: { receiptId, route }, startedAt: beganAt }: WatchedCall,
  requestHeaders: Headers,
  { addedFor, form, isDirect, order }: Pick<Attempts, 'addedFor' | 'form' | 'isDirect' | 'order'>,
): AttemptWatch {
  const first = route.failoverChain[0].deployment.id;
  const isTold = !isDirected(requestHeaders);
  let isAwaited = isTold && !route.pinned && health.begins(first);
  if (order.length > 1) failedAttempts.begin(receiptId);
  const counted = underWay.begins(first);
  let added: readonly string[] = [];
  let lost: AttemptOutcome | null = null;
  return {
    get lost() {
      return lost;
    },
    get added() {
      return added;
    },
    arrived: ({ attempts, deployment, headers }) => {
      const failed = headers.get(firstAttemptHeader);
      if (isDirect && failed !== undefined) {
        void andThen(firstAttempts.failed(first, failed, beganAt), (attempt) => {
          failedAttempts.tell(receiptId, attempt);
          if (headers.has(notRepeatedHeader)) lost = attempt.outcome;
        });
      }
      if (headers.has(notReadyHeader)) {
        // Without the listener of the last deployment Envoy has none of the others, so nobody was asked through one.
        const unasked = failedBefore(route.failoverChain, null, attempts).slice(isDirect ? 1 : 0);
        for (const each of unasked) failedAttempts.tell(receiptId, notReady(each.deployment.id));
      }
      const candidate = route.failoverChain.find((each) => each.deployment.id === deployment);
      const by = candidate?.deployment;
      if (by) counted.answeredBy(by.id);
      const status = Number(headers.get(':status'));
      // Envoy's own replies have a status of 400 or above.
      if (by && status < 400) firstAttempts.reached(by);
      const sent = candidate ? addedFor(candidate) : [];
      if (by && sent.length > 0) {
        const told = headers.get(refusedFieldsHeader);
        const refused = told === undefined ? [] : sent.filter((name) => told.includes(`,${name},`));
        addedFields.answered({ form, deployment: by.id, added: sent, refused, status });
        added = sent.filter((name) => !refused.includes(name));
      }
      const isUnasked = deployment === null && ownOutcome(headers) !== null;
      if (isDirect && attempts <= 1 && isUnasked) firstAttempts.missed(route.failoverChain[0].deployment);
      return failedAttempts.words(receiptId, failedBefore(route.failoverChain, deployment, attempts));
    },
    answered: (answer) => {
      isAwaited = false;
      if (!isTold) return;
      for (const { candidate, outcome, ...verdict } of verdicts(route, answer, failedAttempts.of(receiptId))) {
        const [deployment, model] = [candidate.deployment.id, route.modelOf(candidate).id];
        notices.note(troubleField(deployment, model), { outcome, result: verdict.result });
        if (route.pinned) {
          accountTrouble.note(ofAccount(accountId, deployment, model), verdict);
          if (verdict.result === 'answered') health.answeredPinned({ deployment, beganAt });
        } else {
          health.note({ deployment, beganAt, ...verdict });
          trouble.note(troubleField(deployment, model), verdict);
        }
      }
    },
    end: () => {
      counted.end();
      if (isAwaited) health.givesUp(first);
      failedAttempts.end(receiptId);
    },
  };
}

const notReady = (deployment: string): FailedAttempt => ({
  deployment,
  outcome: 'not_ready',
  result: 'full',
  retryAfterMs: null,
});

type JudgedAttempt = AttemptVerdict & JudgedOutcome & { readonly candidate: Candidate };

/** Returns the result of each attempt whose deployment can be judged by it. */
function verdicts(
  { failoverChain }: AttemptedRoute,
  answer: Answered,
  known: readonly FailedAttempt[],
): JudgedAttempt[] {
  const { attempts, deployment, headers } = answer;
  // It tells of Envoy alone.
  if (headers.has(notReadyHeader)) return [];
  const failureOf = (candidate: Candidate, result: AttemptResult): JudgedAttempt => {
    const told = known.find((each) => each.deployment === candidate.deployment.id);
    const outcome = told?.outcome ?? 'failed';
    return { candidate, outcome, result: told?.result ?? result, retryAfterMs: told?.retryAfterMs ?? null };
  };
  // Without a known reason, a deployment with a limit may just have been full.
  // One connection that closes early says nothing about a deployment that is sent the call twice.
  const others = failedBefore(failoverChain, deployment, attempts).slice(0, failoverChain.length - 1);
  const failed = others.map((each) =>
    failureOf(each, each.deployment.maxConcurrentRequests === null ? 'failed' : 'full'),
  );
  if (headers.has(credentialMissingHeader)) return failed;
  const status = Number(headers.get(':status'));
  const by = failoverChain.find((each) => each.deployment.id === deployment);
  if (!by) {
    const last = failoverChain[Math.min(attempts, failoverChain.length) - 1];
    // All attempts at a JSON reply share one time-out, so the last of several may have had little time.
    if (!last || (status === 504 && failed.length > 0)) return failed;
    // If Envoy replies and no other was tried, the provider was unreachable or timed out.
    return [...failed, failureOf(last, failed.length === 0 ? 'down' : 'failed')];
  }
  if (headers.has(atCapacityHeader))
    return [...failed, { candidate: by, outcome: 'at_capacity', result: 'full', retryAfterMs: null }];
  const reply = judgedReply((name) => headers.get(name));
  const verdict = verdictOf(reply);
  const outcome = verdict.result === 'answered' ? null : outcomeOfReply(reply);
  return [...failed, { candidate: by, outcome, ...verdict }];
}
