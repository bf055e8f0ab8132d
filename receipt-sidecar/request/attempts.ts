/**
 * What the attempts of a call have of their own: Envoy sends the same request to each deployment of the chain, and the listener
 * of a deployment makes it that deployment's, from headers that are for it alone (envoy/attempt.lua.ts).
 */
import {
  attemptHeader,
  attemptOpening,
  attemptOpeningLength,
  attemptPathModel,
} from '@gw/contract/internal/attempt-headers';
import { modelInPath } from '@gw/contract/internal/catalogue/provider-path';
import { troubleField } from '@gw/contract/internal/deployment-trouble';
import { firstAttemptCluster, firstAttemptHeader, listenerCluster } from '@gw/contract/internal/first-attempt';
import { atCapacityHeader, credentialMissingHeader, failoverCluster } from '@gw/contract/internal/snapshot';
import type { CallRecord } from '../call-record.ts';
import type { AttemptResult, DeploymentHealth } from '../deployment-health.ts';
import { type FailedAttempt, type FailedAttempts, failedBefore, type Verdict, verdictOf } from '../failed-attempts.ts';
import type { FirstAttempts } from '../first-attempts.ts';
import { type MeasuredTrouble, ofAccount } from '../measured-trouble.ts';
import { type Headers, setHeader } from '../messages.ts';
import { isNotAsked } from '../not-asked.ts';
import type { Candidate } from '../snapshot.ts';
import { isDirected, type Timeouts } from './headers.ts';
import { type BodyTarget, type Outgoing, opening } from './provider-body.ts';
import type { Route } from './route.ts';

export interface Attempts {
  /** What the first deployment decides of the body. */
  readonly first: BodyTarget;
  readonly headers: readonly ReturnType<typeof setHeader>[];
  /** How many more deployments may be tried. */
  readonly others: number;
  /** Envoy's cluster that the call names: `Route.cluster`, or that of the first deployment alone. */
  readonly cluster: string;
  /** The clusters of the attempts, where the first goes to its provider at once; null: all go through listeners. */
  readonly order: readonly string[] | null;
}

/** After so many it is not the deployments, and the client has waited long enough. */
const mostOthers = 4;
/** Of the 32 KiB that Envoy lets through with what the client has sent. */
const [mostHeaderBytes, mostClientBytes] = [12 * 1024, 16 * 1024];

function targetOf({ modelOf }: Route, candidate: Candidate): BodyTarget {
  const { id, takesTemperature } = modelOf(candidate);
  const { calls, models } = candidate.deployment;
  return { providerModel: models[id] ?? id, takesTemperature, requestFields: calls?.requestFields };
}

/**
 * Envoy goes along the chain, so only the first few need something of their own; where none is called otherwise than the first, it
 * costs a comparison for each. `clientBytes` counts those of the headers that go on.
 */
export function attemptsOf(
  route: Route,
  body: Outgoing,
  clientBytes: () => number,
  firstAttempts: Pick<FirstAttempts, 'mayBegin'>,
): Attempts {
  const [head, ...others] = route.failoverChain;
  const rest = others.slice(0, mostOthers);
  const first = targetOf(route, head);
  const openings = openingHeaders(route, body, rest);
  const paths = [head, ...rest].flatMap((each) => pathHeader(route, each));
  const headers = [...openings, ...paths];
  const bytes = headers.reduce((sum, { header }) => sum + header.key.length + header.rawValue.length, 0);
  const orderWith = (later: readonly Candidate[]) =>
    // With openings of their own the others are left to listeners, which alone may change a body.
    openings.length === 0 && firstAttempts.mayBegin(head.deployment)
      ? [firstAttemptCluster(head.deployment.id), ...later.map(({ deployment }) => listenerCluster(deployment.id))]
      : null;
  if (headers.length === 0 || (bytes <= mostHeaderBytes && clientBytes() <= mostClientBytes))
    return { first, headers, others: rest.length, cluster: route.cluster, order: orderWith(rest) };
  // Alone in its cluster, so that no other deployment gets what was made for this one.
  const cluster = failoverCluster([head.deployment.id]);
  return { first, headers: pathHeader(route, head), others: 0, cluster, order: orderWith([]) };
}

/** Returns the openings that differ from the first one, and how long that one is. */
function openingHeaders(route: Route, body: Outgoing, rest: readonly Candidate[]): Attempts['headers'] {
  const first = targetOf(route, route.failoverChain[0]);
  const others = rest.filter((each) => !isSame(targetOf(route, each), first));
  if (others.length === 0) return [];
  const own = opening(body, first);
  const headers = others.flatMap((each) => {
    const its = opening(body, targetOf(route, each));
    return its === own ? [] : setHeader(attemptHeader(attemptOpening, each.deployment.id), its);
  });
  return headers.length === 0 ? [] : [...headers, setHeader(attemptOpeningLength, String(own.length))];
}

/** Whether the openings are alike without being made; false also for two providers whose fields only look alike. */
const isSame = (a: BodyTarget, b: BodyTarget): boolean =>
  a.providerModel === b.providerModel &&
  a.takesTemperature === b.takesTemperature &&
  a.requestFields === b.requestFields;

const pathHeader = (route: Route, each: Candidate) =>
  each.deployment.calls?.modelInPath
    ? [setHeader(attemptHeader(attemptPathModel, each.deployment.id), modelInPath(targetOf(route, each).providerModel))]
    : [];

/** Returns the time-outs of the first deployment, which hold for the call. */
export function timeoutsOf({ failoverChain: [{ deployment }] }: Route, usual: Timeouts): Timeouts {
  const { firstByteTimeoutS = usual.firstByteTimeoutS, timeoutS = usual.upstreamTimeoutS } = deployment.calls ?? {};
  return { firstByteTimeoutS, upstreamTimeoutS: timeoutS };
}

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

type WatchedCall = Pick<CallRecord, 'identity' | 'startedAt' | 'accountId'>;

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
    arrived: ({ deployment, headers }) => {
      const failed = headers.get(firstAttemptHeader);
      if (order !== null && failed !== undefined)
        failedAttempts.tell(receiptId, firstAttempts.failed(first, failed, beganAt));
      const by = route.failoverChain.find((each) => each.deployment.id === deployment)?.deployment;
      if (by && !isNotAsked(headers)) firstAttempts.reached(by);
      if (order !== null && deployment === null) firstAttempts.missed(route.failoverChain[0].deployment);
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
function verdicts({ failoverChain }: Route, answer: Answered, known: readonly FailedAttempt[]): JudgedAttempt[] {
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
