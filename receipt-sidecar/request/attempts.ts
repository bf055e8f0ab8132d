/**
 * What the attempts of a call have of their own: Envoy sends the same request to each deployment of the chain, and the listener
 * of a deployment makes it that deployment's, from headers that are for it alone (envoy/attempt.lua).
 */
import {
  attemptHeader,
  attemptOpening,
  attemptOpeningLength,
  attemptPathModel,
} from '@gw/contract/internal/attempt-headers';
import { modelInPath } from '@gw/contract/internal/catalogue/provider-path';
import { failoverCluster } from '@gw/contract/internal/snapshot';
import type { DeploymentHealth } from '../deployment-health.ts';
import { type Headers, setHeader } from '../messages.ts';
import type { Candidate } from '../snapshot.ts';
import type { Timeouts } from './headers.ts';
import { type BodyTarget, type Outgoing, opening } from './provider-body.ts';
import type { Route } from './route.ts';

export interface Attempts {
  /** What the first deployment decides of the body. */
  readonly first: BodyTarget;
  readonly headers: readonly ReturnType<typeof setHeader>[];
  /** How many more deployments may be tried. */
  readonly others: number;
  /** Envoy's cluster of the deployments that are tried. */
  readonly cluster: string;
}

/** After so many it is not the deployments, and the client has waited long enough. */
const mostOthers = 4;
/** Of the 32 KiB that Envoy lets through with what the client has sent. */
const [mostHeaderBytes, mostClientBytes] = [12 * 1024, 16 * 1024];

const targetOf = ({ model }: Route, { deployment }: Candidate): BodyTarget => ({
  providerModel: deployment.models[model.id] ?? model.id,
  takesTemperature: model.takesTemperature,
  requestFields: deployment.calls?.requestFields,
});

/**
 * Envoy goes along the chain, so only the first few need something of their own; where none is called otherwise than the first, it
 * costs a comparison for each. `clientBytes`: of the headers that go on.
 */
export function attemptsOf(route: Route, body: Outgoing, clientBytes: number): Attempts {
  const [head, ...others] = route.failoverChain;
  const rest = others.slice(0, mostOthers);
  const first = targetOf(route, head);
  const own = opening(body, first);
  const openings = rest.flatMap((each) => {
    const its = opening(body, targetOf(route, each));
    return its === own ? [] : setHeader(attemptHeader(attemptOpening, each.deployment.id), its);
  });
  const paths = [head, ...rest].flatMap((each) => pathHeader(route, each));
  const length = openings.length > 0 ? [setHeader(attemptOpeningLength, String(own.length))] : [];
  const headers = [...openings, ...paths, ...length];
  const bytes = headers.reduce((sum, { header }) => sum + header.key.length + header.rawValue.length, 0);
  if (bytes <= mostHeaderBytes && (headers.length === 0 || clientBytes <= mostClientBytes))
    return { first, headers, others: rest.length, cluster: route.cluster };
  // Alone in its cluster, so that no other deployment gets what was made for this one.
  return { first, headers: pathHeader(route, head), others: 0, cluster: failoverCluster([head.deployment.id]) };
}

const pathHeader = (route: Route, each: Candidate) =>
  each.deployment.calls?.modelInPath
    ? [setHeader(attemptHeader(attemptPathModel, each.deployment.id), modelInPath(targetOf(route, each).providerModel))]
    : [];

/** Returns the time-outs of a call: of a whole reply that of the first deployment, of the first byte the shortest of the chain. */
export function timeoutsOf({ failoverChain }: Route, usual: Timeouts): Timeouts {
  const [{ deployment }] = failoverChain;
  const firstBytes = failoverChain.map((each) => each.deployment.calls?.firstByteTimeoutS ?? usual.firstByteTimeoutS);
  return {
    firstByteTimeoutS: Math.min(...firstBytes),
    upstreamTimeoutS: deployment.calls?.timeoutS ?? usual.upstreamTimeoutS,
  };
}

interface Answered {
  /** Null if it is not known who answered. */
  readonly deployment: string | null;
  /** Envoy's count of tried deployments. */
  readonly attempts: number;
  readonly headers: Headers;
}

/** Tells what came of the attempts: those before the one that answered have failed, and so has one that says so. */
export function noteAttempts(
  health: DeploymentHealth,
  route: Route,
  { attempts, deployment, headers }: Answered,
): void {
  const ids = route.failoverChain.map((each) => each.deployment.id);
  const at = deployment === null ? -1 : ids.indexOf(deployment);
  for (const failed of ids.slice(0, at === -1 ? attempts : at)) health.note({ deployment: failed, isGood: false });
  if (at === -1 || deployment === null) return;
  const status = Number(headers.get(':status'));
  const isBusy = status === 429 || status === 503;
  const retryAfterMs = isBusy ? Number(headers.get('retry-after') ?? Number.NaN) * 1000 : Number.NaN;
  health.note({ deployment, isGood: status < 500 && status !== 429, ...(retryAfterMs > 0 && { retryAfterMs }) });
}
