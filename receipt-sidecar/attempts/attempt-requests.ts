/**
 * Decides what each attempt of a call is sent. Envoy sends the same request to each deployment of the chain; the deployment's listener
 * adapts it with headers that are meant for that deployment only (envoy/attempt.lua.ts).
 */
import {
  attemptHeader,
  attemptOpening,
  attemptOpeningLength,
  attemptPathModel,
} from '@gw/contract/internal/attempt-headers';
import { modelInPath } from '@gw/contract/internal/catalogue/provider-path';
import { firstListenerCluster, listenerCluster } from '@gw/contract/internal/first-attempt';
import { type BodyTarget, type Outgoing, opening } from '../api/provider-body.ts';
import type { Candidate, Named } from '../catalogue/snapshot.ts';
import { setHeader } from '../wire/ext-proc.ts';
import type { Timeouts } from '../wire/headers.ts';
import type { FirstAttempts } from './direct-first-attempts.ts';

/** The part of a route that its attempts need. */
export interface AttemptedRoute {
  readonly pinned: boolean;
  /** Returns the model that a deployment serves the call with. */
  readonly modelOf: Named['modelOf'];
  /** The deployments in the order in which they are tried; at least one. */
  readonly failoverChain: readonly [Candidate, ...Candidate[]];
}

export interface Attempts {
  /** How the first deployment wants the body. */
  readonly first: BodyTarget;
  readonly headers: readonly ReturnType<typeof setHeader>[];
  /** How many more deployments may be tried. */
  readonly others: number;
  /** Envoy's clusters of the attempts. */
  readonly order: readonly string[];
  /** Whether the first attempt goes to its provider without the deployment's listener. */
  readonly isDirect: boolean;
}

/** If this many fail as well, the deployments are not the cause, and the client has waited long enough. */
const mostOthers = 4;
/** Deployments with a limit do not count among the four, since a full one costs neither time nor a provider call. */
const mostOthersInAll = 9;
/** Together these stay within the 32 KiB of headers that Envoy accepts. */
const mostHeaderBytes = 12 * 1024;
const mostClientBytes = 16 * 1024;

function targetOf({ modelOf }: AttemptedRoute, candidate: Candidate): BodyTarget {
  const { id, takesTemperature } = modelOf(candidate);
  const { calls, models } = candidate.deployment;
  return { providerModel: models[id] ?? id, takesTemperature, requestFields: calls?.requestFields };
}

/**
 * Only the deployments that Envoy may try get headers of their own; those that are called like the first one cost a comparison each.
 * `clientBytes` counts the bytes of the client's headers that are forwarded.
 */
export function attemptsOf(
  route: AttemptedRoute,
  body: Outgoing,
  clientBytes: () => number,
  firstAttempts: Pick<FirstAttempts, 'clusterOf'>,
): Attempts {
  const [head, ...others] = route.failoverChain;
  const attempts = (rest: readonly Candidate[]) => attemptsOver({ route, body, rest, clientBytes, firstAttempts });
  const alone = (): Attempts => ({
    first: targetOf(route, head),
    headers: pathHeader(route, head),
    ...inOrder(head, [], firstAttempts.clusterOf(head.deployment)),
  });
  return attempts(triedAfter(others)) ?? attempts(others.slice(0, mostOthers)) ?? alone();
}

/** `direct`: the cluster of a direct first attempt; null for one through the listener. */
const inOrder = (
  { deployment: { id } }: Candidate,
  rest: readonly Candidate[],
  direct: string | null,
): Pick<Attempts, 'isDirect' | 'order' | 'others'> => ({
  others: rest.length,
  order: [direct ?? firstListenerCluster(id), ...rest.map(({ deployment }) => listenerCluster(deployment.id))],
  isDirect: direct !== null,
});

/** Envoy limits the number of tries whatever their results, so this counts deployments and not failures. */
function triedAfter(others: readonly Candidate[]): readonly Candidate[] {
  let unbounded = 0;
  const end = others.findIndex(({ deployment }, at) => {
    if (deployment.maxConcurrentRequests === null) unbounded += 1;
    return unbounded > mostOthers || at === mostOthersInAll;
  });
  return end === -1 ? others : others.slice(0, end);
}

/** Returns null if the headers are too large for Envoy. */
function attemptsOver({
  body,
  clientBytes,
  firstAttempts,
  rest,
  route,
}: {
  readonly route: AttemptedRoute;
  readonly body: Outgoing;
  readonly rest: readonly Candidate[];
  readonly clientBytes: () => number;
  readonly firstAttempts: Pick<FirstAttempts, 'clusterOf'>;
}): Attempts | null {
  const [head] = route.failoverChain;
  const openings = openingHeaders(route, body, rest);
  const paths = [head, ...rest].flatMap((each) => pathHeader(route, each));
  const headers = [...openings, ...paths];
  const bytes = headers.reduce((sum, { header }) => sum + header.key.length + header.rawValue.length, 0);
  if (headers.length > 0 && (bytes > mostHeaderBytes || clientBytes() > mostClientBytes)) return null;
  // Only listeners can change the body, so openings that differ rule out a direct first attempt.
  const direct = openings.length === 0 ? firstAttempts.clusterOf(head.deployment) : null;
  return { first: targetOf(route, head), headers, ...inOrder(head, rest, direct) };
}

/** Returns headers with the openings that differ from the first one, and with the length of the first one. */
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

/** Compares targets without making their openings; false negatives only cost time. */
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
