/** What came of the attempts of a call, as far as the reply and Envoy's logs tell, for those who judge deployments by it. */
import { troubleField } from '@gw/contract/internal/deployment-trouble';
import { firstAttemptHeader } from '@gw/contract/internal/first-attempt';
import { atCapacityHeader, credentialMissingHeader } from '@gw/contract/internal/snapshot';
import type { Candidate } from '../catalogue/snapshot.ts';
import type { Headers } from '../wire/ext-proc.ts';
import { isDirected } from '../wire/headers.ts';
import type { AttemptedRoute } from './attempted-route.ts';
import type { AttemptResult, DeploymentHealth } from './deployment-health.ts';
import {
  type FailedAttempt,
  type FailedAttempts,
  failedBefore,
  ownOutcome,
  type Verdict,
  verdictOf,
} from './failed-attempts.ts';
import type { FirstAttempts } from './first-attempts.ts';
import { type MeasuredTrouble, ofAccount } from './measured-trouble.ts';
import type { Attempts } from './per-attempt.ts';

export interface Answered {
  /** Null if it is not known who answered. */
  readonly deployment: string | null;
  /** Envoy's count of tried deployments. */
  readonly attempts: number;
  readonly headers: Headers;
}

/** What a call that is under way tells of its attempts, and learns of them. */
export interface AttemptWatch {
  /** The headers of a reply have come: takes what they tell of the first attempt. */
  arrived(answer: Answered): void;
  /** Behind it, when as much as can be is known of the others. */
  answered(answer: Answered): void;
  end(): void;
}

export interface Watchers {
  readonly failedAttempts: FailedAttempts;
  readonly firstAttempts: FirstAttempts;
  readonly health: DeploymentHealth;
  /** As free calls find it, by `troubleField`. */
  readonly trouble: MeasuredTrouble;
  /** As the pinned calls of each account find it, by `ofAccount`. */
  readonly accountTrouble: MeasuredTrouble;
}

/** The call whose attempts are watched. */
export interface WatchedCall {
  readonly identity: { readonly receiptId: string; readonly route: AttemptedRoute };
  readonly accountId: string;
  /** By `performance.now`. */
  readonly startedAt: number;
}

/**
 * A pinned call tells how deployments are to its account alone: whoever makes one fail would send everybody's free calls elsewhere.
 * One that tells the simulated provider how to answer tells nothing. `others`: how many more deployments may be tried.
 */
export function watchAttempts(
  { accountTrouble, failedAttempts, firstAttempts, health, trouble }: Watchers,
  { accountId, identity: { receiptId, route }, startedAt: beganAt }: WatchedCall,
  requestHeaders: Headers,
  { order, others }: Pick<Attempts, 'order' | 'others'>,
): AttemptWatch {
  const first = route.failoverChain[0].deployment.id;
  const isTold = !isDirected(requestHeaders);
  let isAwaited = isTold && !route.pinned && health.begins(first);
  if (others > 0) failedAttempts.begin(receiptId);
  return {
    arrived: ({ attempts, deployment, headers }) => {
      const failed = headers.get(firstAttemptHeader);
      if (order !== null && failed !== undefined)
        failedAttempts.tell(receiptId, firstAttempts.failed(first, failed, beganAt));
      const by = route.failoverChain.find((each) => each.deployment.id === deployment)?.deployment;
      // What Envoy says in place of a provider has no lower status.
      if (by && Number(headers.get(':status')) < 400) firstAttempts.reached(by);
      const isUnasked = deployment === null && ownOutcome(headers) !== null;
      if (order !== null && attempts <= 1 && isUnasked) firstAttempts.missed(route.failoverChain[0].deployment);
    },
    answered: (answer) => {
      isAwaited = false;
      if (!isTold) return;
      for (const { candidate, ...verdict } of verdicts(route, answer, failedAttempts.of(receiptId))) {
        const [deployment, model] = [candidate.deployment.id, route.modelOf(candidate).id];
        if (route.pinned) accountTrouble.note(ofAccount(accountId, deployment, model), verdict);
        else {
          health.note({ deployment, beganAt, ...verdict });
          trouble.note(troubleField(deployment, model), verdict);
        }
      }
    },
    end: () => {
      if (isAwaited) health.givesUp(first);
      failedAttempts.end(receiptId);
    },
  };
}

type JudgedAttempt = Verdict & { readonly candidate: Candidate };

/** Returns what came of each attempt: those before the one that answered have failed, and so has one that says so. */
function verdicts(
  { failoverChain }: AttemptedRoute,
  answer: Answered,
  known: readonly FailedAttempt[],
): JudgedAttempt[] {
  const { attempts, deployment, headers } = answer;
  const failureOf = (candidate: Candidate, result: AttemptResult): JudgedAttempt => {
    const told = known.find((each) => each.deployment === candidate.deployment.id);
    return { candidate, result: told?.result ?? result, retryAfterMs: told?.retryAfterMs ?? null };
  };
  // Where nobody has said why, what has a bound may have been full, which is no failure.
  const failed = failedBefore(failoverChain, deployment, attempts).map((each) =>
    failureOf(each, each.deployment.maxConcurrentRequests == null ? 'failed' : 'full'),
  );
  if (headers.has(credentialMissingHeader)) return failed;
  const status = Number(headers.get(':status'));
  const by = failoverChain.find((each) => each.deployment.id === deployment);
  if (!by) {
    const last = failoverChain[attempts - 1];
    // The time of a JSON reply is one for all attempts, so the last of several may have had little of it.
    if (!last || (status === 504 && attempts > 1)) return failed;
    // Where there was one, and Envoy answers in its place, it was not reached or did not answer in time.
    return [...failed, failureOf(last, attempts === 1 ? 'down' : 'failed')];
  }
  if (headers.has(atCapacityHeader)) return [...failed, { candidate: by, result: 'full', retryAfterMs: null }];
  return [...failed, { candidate: by, ...verdictOf(status, headers.get('retry-after')) }];
}
