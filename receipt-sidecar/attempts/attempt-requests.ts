/**
 * Decides what each attempt of a call is sent. Envoy sends the same request to each deployment of the chain; the deployment's listener
 * adapts it with headers that are meant for that deployment only (envoy/attempt.lua.ts).
 */
import {
  attemptAdded,
  attemptHeader,
  attemptOpening,
  attemptOpeningLength,
  attemptPathModel,
} from '@gw/contract/internal/attempt-headers';
import { modelInPath } from '@gw/contract/internal/catalogue/provider-path';
import { firstListenerCluster, listenerCluster, onceMoreCluster } from '@gw/contract/internal/first-attempt';
import { addedTo, type BodyTarget, type Outgoing, opening, placesOf } from '../api/provider-body.ts';
import type { Candidate, Named } from '../catalogue/snapshot.ts';
import { setHeader } from '../wire/ext-proc.ts';
import type { Timeouts } from '../wire/headers.ts';
import { type AddedFields, type FieldsShown, refusedBy, untriedBy } from './added-fields.ts';
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
  /** How many more deployments may be tried; without any, the first one may be sent the call twice (`order`). */
  readonly others: number;
  /** Envoy's clusters of the attempts. */
  readonly order: readonly string[];
  /** Whether the first attempt goes to its provider without the deployment's listener. */
  readonly isDirect: boolean;
  /** The form of the request, by which deployments are judged. */
  readonly form: string;
  /** Returns the fields that the gateway adds to the body for this deployment. */
  readonly addedFor: (candidate: Candidate) => readonly string[];
}

/** The results of earlier calls. */
interface Experience {
  readonly firstAttempts: Pick<FirstAttempts, 'clusterOf'>;
  readonly addedFields: Pick<AddedFields, 'shownBy'>;
}

/** A request, and what calls of its form have shown. */
interface Sent {
  readonly route: AttemptedRoute;
  readonly body: Outgoing;
  readonly shown: FieldsShown;
}

/** If this many fail as well, the deployments are not the cause, and the client has waited long enough. */
const mostOthers = 4;
/** Deployments with a limit do not count among the four, since a full one costs neither time nor a provider call. */
const mostOthersInAll = 9;
/** Together these stay within the 32 KiB of headers that Envoy accepts. */
const mostHeaderBytes = 12 * 1024;
const mostClientBytes = 16 * 1024;

function targetOf({ route, shown }: Sent, candidate: Candidate): BodyTarget {
  const { id, takesTemperature } = route.modelOf(candidate);
  const { calls, id: deploymentId, models } = candidate.deployment;
  const refused = refusedBy(shown, deploymentId);
  return { providerModel: models[id] ?? id, takesTemperature, requestFields: calls?.requestFields, refused };
}

/**
 * Only the deployments that Envoy may try get headers of their own; those that are called like the first one cost a comparison each.
 * `clientBytes` counts the bytes of the client's headers that are forwarded.
 */
export function attemptsOf(
  route: AttemptedRoute,
  body: Outgoing,
  clientBytes: () => number,
  { addedFields, firstAttempts }: Experience,
): Attempts {
  const sent: Sent = { route, body, shown: addedFields.shownBy(body.form) };
  const [head, ...others] = route.failoverChain;
  // Only its listener asks a deployment again without a field.
  const direct = addedHeader(sent, head).length === 0 ? firstAttempts.clusterOf(head.deployment) : null;
  const attempts = (rest: readonly Candidate[]) => attemptsOver(sent, { rest, clientBytes, direct });
  const alone = (): MadeAttempts => ({
    first: targetOf(sent, head),
    headers: [...pathHeader(sent, head), ...addedHeader(sent, head)],
    others: 0,
    order: [direct ?? firstListenerCluster(head.deployment.id)],
    isDirect: direct !== null,
  });
  const made = attempts(triedAfter(others)) ?? attempts(others.slice(0, mostOthers)) ?? alone();
  return { ...made, form: body.form, addedFor: (candidate) => addedTo(body, targetOf(sent, candidate)) };
}

/** `direct`: the cluster of a direct first attempt; null for one through the listener. */
const inOrder = (
  { deployment: { id } }: Candidate,
  rest: readonly Candidate[],
  direct: string | null,
): Pick<Attempts, 'isDirect' | 'order' | 'others'> => {
  const others = rest.map(({ deployment }) => listenerCluster(deployment.id));
  return {
    others: rest.length,
    // Where there is no other, it may have lost the call by closing an idle connection.
    order: [direct ?? firstListenerCluster(id), ...(rest.length > 0 ? others : [onceMoreCluster(id)])],
    isDirect: direct !== null,
  };
};

/** Envoy limits the number of tries whatever their results, so this counts deployments and not failures. */
function triedAfter(others: readonly Candidate[]): readonly Candidate[] {
  let unbounded = 0;
  const end = others.findIndex(({ deployment }, at) => {
    if (deployment.maxConcurrentRequests === null) unbounded += 1;
    return unbounded > mostOthers || at === mostOthersInAll;
  });
  return end === -1 ? others : others.slice(0, end);
}

type MadeAttempts = Omit<Attempts, 'form' | 'addedFor'>;

/** Returns null if the headers are too large for Envoy. */
function attemptsOver(
  sent: Sent,
  {
    clientBytes,
    direct,
    rest,
  }: {
    readonly rest: readonly Candidate[];
    readonly clientBytes: () => number;
    /** The cluster of a direct first attempt; null: there can be none. */
    readonly direct: string | null;
  },
): MadeAttempts | null {
  const { route } = sent;
  const [head] = route.failoverChain;
  const openings = openingHeaders(sent, rest);
  const ofEach = [head, ...rest].flatMap((each) => [...pathHeader(sent, each), ...addedHeader(sent, each)]);
  const headers = [...openings, ...ofEach];
  const bytes = headers.reduce((sum, { header }) => sum + header.key.length + header.rawValue.length, 0);
  if (headers.length > 0 && (bytes > mostHeaderBytes || clientBytes() > mostClientBytes)) return null;
  // Only listeners can change the body, so openings that differ rule out a direct first attempt.
  const first = targetOf(sent, head);
  return { first, headers, ...inOrder(head, rest, openings.length === 0 ? direct : null) };
}

/** Returns headers with the openings that differ from the first one, and with the length of the first one. */
function openingHeaders(sent: Sent, rest: readonly Candidate[]): Attempts['headers'] {
  const { body, route } = sent;
  const first = targetOf(sent, route.failoverChain[0]);
  const others = rest.filter((each) => !isSame(targetOf(sent, each), first));
  if (others.length === 0) return [];
  const own = opening(body, first);
  const headers = others.flatMap((each) => {
    const its = opening(body, targetOf(sent, each));
    return its === own ? [] : setHeader(attemptHeader(attemptOpening, each.deployment.id), its);
  });
  return headers.length === 0 ? [] : [...headers, setHeader(attemptOpeningLength, String(own.length))];
}

/** Compares targets without making their openings; false negatives only cost time. */
const isSame = (a: BodyTarget, b: BodyTarget): boolean =>
  a.providerModel === b.providerModel &&
  a.takesTemperature === b.takesTemperature &&
  a.requestFields === b.requestFields &&
  a.refused === b.refused;

const pathHeader = (sent: Sent, each: Candidate) =>
  each.deployment.calls?.modelInPath
    ? [setHeader(attemptHeader(attemptPathModel, each.deployment.id), modelInPath(targetOf(sent, each).providerModel))]
    : [];

/** Says where the added fields stand that the deployment has not taken yet, so that its listener can ask again without them. */
function addedHeader(sent: Sent, each: Candidate): Attempts['headers'] {
  const { body, shown } = sent;
  const target = targetOf(sent, each);
  const untried = untriedBy(shown, each.deployment.id, addedTo(body, target));
  if (untried.length === 0) return [];
  return [setHeader(attemptHeader(attemptAdded, each.deployment.id), placesOf(untried, body, target))];
}

/** Returns the time-outs of the first deployment, which hold for the call. */
export function timeoutsOf(
  { failoverChain: [{ deployment }] }: Pick<AttemptedRoute, 'failoverChain'>,
  usual: Timeouts,
): Timeouts {
  const { firstByteTimeoutS = usual.firstByteTimeoutS, timeoutS = usual.upstreamTimeoutS } = deployment.calls ?? {};
  return { firstByteTimeoutS, upstreamTimeoutS: timeoutS };
}
