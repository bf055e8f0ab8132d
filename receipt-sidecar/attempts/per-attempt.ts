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
import { listenerCluster } from '@gw/contract/internal/first-attempt';
import { failoverCluster } from '@gw/contract/internal/snapshot';
import { type BodyTarget, type Outgoing, opening } from '../api/provider-body.ts';
import type { Candidate } from '../catalogue/snapshot.ts';
import { setHeader } from '../wire/ext-proc.ts';
import type { Timeouts } from '../wire/headers.ts';
import type { AttemptedRoute } from './attempted-route.ts';
import type { FirstAttempts } from './first-attempts.ts';

export interface Attempts {
  /** What the first deployment decides of the body. */
  readonly first: BodyTarget;
  readonly headers: readonly ReturnType<typeof setHeader>[];
  /** How many more deployments may be tried. */
  readonly others: number;
  /** Envoy's cluster that the call names: `AttemptedRoute.cluster`, or that of the first deployment alone. */
  readonly cluster: string;
  /** The clusters of the attempts, where the first goes to its provider at once; null: all go through listeners. */
  readonly order: readonly string[] | null;
}

/** After so many it is not the deployments, and the client has waited long enough. */
const mostOthers = 4;
/** With those that have a bound, which do not count among the four: full ones cost neither time nor a call of a provider. */
const mostOthersWithBounds = 9;
/** Of the 32 KiB that Envoy lets through with what the client has sent. */
const [mostHeaderBytes, mostClientBytes] = [12 * 1024, 16 * 1024];

function targetOf({ modelOf }: AttemptedRoute, candidate: Candidate): BodyTarget {
  const { id, takesTemperature } = modelOf(candidate);
  const { calls, models } = candidate.deployment;
  return { providerModel: models[id] ?? id, takesTemperature, requestFields: calls?.requestFields };
}

/**
 * Envoy goes along the chain, so only the first few need something of their own; where none is called otherwise than the first, it
 * costs a comparison for each. `clientBytes` counts those of the headers that go on.
 */
export function attemptsOf(
  route: AttemptedRoute,
  body: Outgoing,
  clientBytes: () => number,
  firstAttempts: Pick<FirstAttempts, 'clusterOf'>,
): Attempts {
  const [head, ...others] = route.failoverChain;
  const orderOf = ([first, ...later]: readonly [Candidate, ...Candidate[]]): Attempts['order'] => {
    const cluster = firstAttempts.clusterOf(first.deployment);
    return cluster === null ? null : [cluster, ...later.map(({ deployment }) => listenerCluster(deployment.id))];
  };
  const attempts = (rest: readonly Candidate[]) => attemptsOver({ route, body, rest, clientBytes, orderOf });
  // Alone in its cluster, so that no other deployment gets what was made for this one.
  const alone = () => ({
    ...{ first: targetOf(route, head), headers: pathHeader(route, head), others: 0 },
    ...{ cluster: failoverCluster([head.deployment.id]), order: orderOf([head]) },
  });
  return attempts(triedAfter(others)) ?? attempts(others.slice(0, mostOthers)) ?? alone();
}

/** Envoy counts its tries, whatever came of them, so a bounded one that fails is one more that was asked. */
function triedAfter(others: readonly Candidate[]): readonly Candidate[] {
  let unbounded = 0;
  const end = others.findIndex(({ deployment }, at) => {
    if (deployment.maxConcurrentRequests == null) unbounded += 1;
    return unbounded > mostOthers || at === mostOthersWithBounds;
  });
  return end === -1 ? others : others.slice(0, end);
}

/** Returns null if the headers are too large for Envoy. */
function attemptsOver({
  body,
  clientBytes,
  orderOf,
  rest,
  route,
}: {
  readonly route: AttemptedRoute;
  readonly body: Outgoing;
  readonly rest: readonly Candidate[];
  readonly clientBytes: () => number;
  readonly orderOf: (chain: readonly [Candidate, ...Candidate[]]) => Attempts['order'];
}): Attempts | null {
  const [head] = route.failoverChain;
  const openings = openingHeaders(route, body, rest);
  const paths = [head, ...rest].flatMap((each) => pathHeader(route, each));
  const headers = [...openings, ...paths];
  const bytes = headers.reduce((sum, { header }) => sum + header.key.length + header.rawValue.length, 0);
  if (headers.length > 0 && (bytes > mostHeaderBytes || clientBytes() > mostClientBytes)) return null;
  // With openings of their own the others are left to listeners, which alone may change a body.
  const order = openings.length === 0 ? orderOf([head, ...rest]) : null;
  return { first: targetOf(route, head), headers, others: rest.length, cluster: route.cluster, order };
}

/** Returns the openings that differ from the first one, and how long that one is. */
function openingHeaders(route: AttemptedRoute, body: Outgoing, rest: readonly Candidate[]): Attempts['headers'] {
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

const pathHeader = (route: AttemptedRoute, each: Candidate) =>
  each.deployment.calls?.modelInPath
    ? [setHeader(attemptHeader(attemptPathModel, each.deployment.id), modelInPath(targetOf(route, each).providerModel))]
    : [];

/** Returns the time-outs of the first deployment, which hold for the call. */
export function timeoutsOf(
  { failoverChain: [{ deployment }] }: Pick<AttemptedRoute, 'failoverChain'>,
  usual: Timeouts,
): Timeouts {
  const { firstByteTimeoutS = usual.firstByteTimeoutS, timeoutS = usual.upstreamTimeoutS } = deployment.calls ?? {};
  return { firstByteTimeoutS, upstreamTimeoutS: timeoutS };
}
