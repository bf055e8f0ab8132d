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
import { setHeader } from '../messages.ts';
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
}

/** After so many it is not the deployments, and the client has waited long enough. */
const mostOthers = 4;
/** Envoy takes 60 KiB of headers, and there are others. */
const mostHeaderBytes = 32 * 1024;

const targetOf = ({ model }: Route, { deployment }: Candidate): BodyTarget => ({
  providerModel: deployment.models[model.id] ?? model.id,
  takesTemperature: model.takesTemperature,
  requestFields: deployment.calls?.requestFields,
});

/** Where no deployment of the chain is called otherwise than the first, it costs a comparison for each. */
export function attemptsOf(route: Route, body: Outgoing): Attempts {
  const [head, ...rest] = route.failoverChain;
  const first = targetOf(route, head);
  const own = opening(body, first);
  const openings = rest.flatMap((each) => {
    const target = targetOf(route, each);
    if (target.providerModel === first.providerModel && target.requestFields === first.requestFields) return [];
    const its = opening(body, target);
    return its === own ? [] : setHeader(attemptHeader(attemptOpening, each.deployment.id), its);
  });
  const paths = route.failoverChain.flatMap((each) =>
    each.deployment.calls?.modelInPath
      ? setHeader(attemptHeader(attemptPathModel, each.deployment.id), modelInPath(targetOf(route, each).providerModel))
      : [],
  );
  const length = openings.length > 0 ? [setHeader(attemptOpeningLength, String(own.length))] : [];
  const bytes = [...openings, ...paths].reduce((sum, { header }) => sum + header.rawValue.length + 80, 0);
  if (bytes > mostHeaderBytes) return { first, headers: paths.slice(0, 1), others: 0 };
  return { first, headers: [...openings, ...paths, ...length], others: Math.min(rest.length, mostOthers) };
}

/** Returns the time-outs of the first deployment, which hold for the call. */
export function timeoutsOf({ failoverChain: [{ deployment }] }: Route, usual: Timeouts): Timeouts {
  const { firstByteTimeoutS = usual.firstByteTimeoutS, timeoutS = usual.upstreamTimeoutS } = deployment.calls ?? {};
  return { firstByteTimeoutS, upstreamTimeoutS: timeoutS };
}
