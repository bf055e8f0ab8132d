/**
 * Decides what each attempt of a call is sent. Envoy sends the same request to each deployment of the chain; the deployment's listener
 * adapts it with headers that are meant for that deployment only (envoy/attempt.lua.ts).
 */
import {
  attemptAdded,
  attemptEndpoint,
  attemptHeader,
  attemptOpening,
  attemptOpeningLength,
  attemptPathModel,
  attemptRest,
} from '@gw/contract/internal/attempt-headers';
import { modelInPath } from '@gw/contract/internal/catalogue/provider-path';
import { firstListenerCluster, listenerCluster, onceMoreCluster } from '@gw/contract/internal/first-attempt';
import { apiBehind, type Bodies, bodyFor } from '../api/behind.ts';
import {
  addedTo,
  type BodyTarget,
  type Outgoing,
  opening,
  placesOf,
  restBytes,
  withOpening,
} from '../api/provider-body.ts';
import { shapeOf } from '../api/shapes.ts';
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
  /** The whole body that Envoy gets, in parts. It is that of the first attempt, unless `headers` have each attempt cut its own out. */
  readonly body: readonly Buffer[];
  readonly headers: readonly ReturnType<typeof setHeader>[];
  /** How many more deployments may be tried; without any, the first one may be sent the call twice (`order`). */
  readonly others: number;
  /** Envoy's clusters of the attempts. */
  readonly order: readonly string[];
  /** Whether the first attempt goes to its provider without the deployment's listener. */
  readonly isDirect: boolean;
  /** The APIs that the attempts are made by. */
  readonly apis: ReadonlySet<string>;
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
  /** The API of the client. */
  readonly endpoint: string;
  readonly bodies: Bodies;
  readonly shown: FieldsShown;
}

/** Returns the body that a deployment is sent, in its API. */
const bodyOf = ({ bodies, endpoint }: Sent, { deployment }: Candidate): Outgoing =>
  bodyFor(bodies, endpoint, deployment);
const apiOf = ({ endpoint }: Sent, { deployment }: Candidate): string => apiBehind(endpoint, deployment) ?? endpoint;
const openingOf = (sent: Sent, each: Candidate): string => opening(bodyOf(sent, each), targetOf(sent, each));

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
  { endpoint, route }: { readonly endpoint: string; readonly route: AttemptedRoute },
  bodies: Bodies,
  clientBytes: () => number,
  { addedFields, firstAttempts }: Experience,
): Attempts {
  const { form } = bodies.outgoing;
  const sent: Sent = { route, endpoint, bodies, shown: addedFields.shownBy(form) };
  const [head, ...others] = route.failoverChain;
  // Only its listener asks a deployment again without a field, and sends it a call in another API.
  const isPlain = apiOf(sent, head) === endpoint && addedHeader(sent, head).length === 0;
  const direct = isPlain ? firstAttempts.clusterOf(head.deployment) : null;
  const attempts = (rest: readonly Candidate[]) => attemptsOver(sent, { rest, clientBytes, direct });
  const alone = (): MadeAttempts => ({
    body: withOpening(openingOf(sent, head), bodyOf(sent, head)),
    headers: [...ownHeaders(sent, head), ...addedHeader(sent, head)],
    others: 0,
    order: [direct ?? firstListenerCluster(head.deployment.id)],
    isDirect: direct !== null,
  });
  const made = attempts(triedAfter(others)) ?? attempts(others.slice(0, mostOthers)) ?? alone();
  const apis = new Set([head, ...others.slice(0, made.others)].map((each) => apiOf(sent, each)));
  return { ...made, apis, form, addedFor: (candidate) => addedTo(bodyOf(sent, candidate), targetOf(sent, candidate)) };
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

type MadeAttempts = Omit<Attempts, 'apis' | 'form' | 'addedFor'>;

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
  const [head] = sent.route.failoverChain;
  const whole = wholeBody(sent, rest);
  const ofEach = [head, ...rest].flatMap((each) => [...ownHeaders(sent, each), ...addedHeader(sent, each)]);
  const headers = [...whole.headers, ...ofEach];
  const bytes = headers.reduce((sum, { header }) => sum + header.key.length + header.rawValue.length, 0);
  if (headers.length > 0 && (bytes > mostHeaderBytes || clientBytes() > mostClientBytes)) return null;
  // Only listeners can change the body, so bodies that differ rule out a direct first attempt.
  return { body: whole.body, headers, ...inOrder(head, rest, whole.headers.length === 0 ? direct : null) };
}

/** Returns the body for all attempts. Where they are called by several APIs, it has the rest of each body, one behind the other. */
function wholeBody(sent: Sent, rest: readonly Candidate[]): Pick<Attempts, 'body' | 'headers'> {
  const [head] = sent.route.failoverChain;
  const own = openingOf(sent, head);
  const api = apiOf(sent, head);
  if (rest.every((each) => apiOf(sent, each) === api))
    return { body: withOpening(own, bodyOf(sent, head)), headers: openingHeaders(sent, rest, own) };
  const ofHead = restBytes(bodyOf(sent, head));
  const body = [Buffer.from(own), ofHead];
  const places = new Map([[api, `${own.length} ${ofHead.length}`]]);
  let end = own.length + ofHead.length;
  const headers = [head, ...rest].flatMap((each) => {
    const its = apiOf(sent, each);
    if (!places.has(its)) {
      const bytes = restBytes(bodyOf(sent, each));
      places.set(its, `${end} ${bytes.length}`);
      end += bytes.length;
      body.push(bytes);
    }
    const { id } = each.deployment;
    return [
      setHeader(attemptHeader(attemptOpening, id), openingOf(sent, each)),
      setHeader(attemptHeader(attemptRest, id), String(places.get(its))),
    ];
  });
  return { body, headers };
}

/** Returns headers with the openings that differ from the first one, and with the length of the first one. */
function openingHeaders(sent: Sent, rest: readonly Candidate[], own: string): Attempts['headers'] {
  const first = targetOf(sent, sent.route.failoverChain[0]);
  const others = rest.filter((each) => !isSame(targetOf(sent, each), first));
  const headers = others.flatMap((each) => {
    const its = openingOf(sent, each);
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

/** Says what depends on the deployment in its path: the endpoint of its API, and its name of the model. */
function ownHeaders(sent: Sent, each: Candidate): Attempts['headers'] {
  const { calls, id } = each.deployment;
  const api = apiOf(sent, each);
  const headers = [];
  if (api !== sent.endpoint) {
    const endpoint = shapeOf(api).path.replace('/v1/', '');
    headers.push(setHeader(attemptHeader(attemptEndpoint, id), endpoint));
  }
  if (calls?.modelInPath) {
    const model = modelInPath(targetOf(sent, each).providerModel);
    headers.push(setHeader(attemptHeader(attemptPathModel, id), model));
  }
  return headers;
}

/** Says where the added fields stand that the deployment has not taken yet, so that its listener can ask again without them. */
function addedHeader(sent: Sent, each: Candidate): Attempts['headers'] {
  const { shown } = sent;
  const body = bodyOf(sent, each);
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
