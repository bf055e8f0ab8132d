/** Which deployments of a model or an alias can serve a call: those that speak its API and have the tier that it asks for. */
import { availableTiers } from '@gw/methodology/assess';
import { servesTelemetry } from '@gw/methodology/tier';
import { apiBehind } from '../api/behind.ts';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import { shapeOf, shapes } from '../api/shapes.ts';
import type { Candidate, Named } from '../catalogue/snapshot.ts';
import type { Servable } from './choose-region.ts';

/** Whether the provider of a deployment can be sent the call. */
export const speaking =
  ({ endpoint }: ParsedRequest) =>
  ({ deployment }: Candidate): boolean =>
    apiBehind(endpoint, deployment) !== null;

/** Returns the message for a call that none of these can be sent, which names the paths that they serve. */
export function notSpoken({ endpoint, model }: ParsedRequest, candidates: readonly Candidate[], where: string): string {
  const { kind, path } = shapeOf(endpoint);
  const spoken = shapes.filter(
    (each) => each.kind === kind && candidates.some(({ deployment }) => apiBehind(each.name, deployment) !== null),
  );
  const instead = spoken.length === 0 ? '' : ` Send the call to ${spoken.map((each) => each.path).join(' or ')}.`;
  return `The model \`${model}\` is not served at ${path}${where}.${instead}`;
}

export interface Offer extends Pick<Servable, 'serves' | 'targets'> {
  readonly named: Named;
  readonly isOffered: boolean;
  /** Why a deployment does not serve the call. */
  readonly whyNot: (candidate: Candidate) => 'api_not_spoken' | 'tier_not_served' | 'carbon_above_ceiling';
  /** Returns the tiers that can be asked for in the boundary of the call. */
  readonly tiers: () => readonly string[];
}

export function offerFor(request: ParsedRequest, named: Named): Offer {
  const { options } = request;
  const { isAlias, modelOf, targets } = named;
  const speaks = speaking(request);
  const candidates = named.candidates.filter(speaks);
  const { boundary = 'comprehensive', tier = 'auto' } = options;
  const measures = ({ deployment }: Candidate) => servesTelemetry(deployment.telemetry, boundary);
  // Models that are deployed, or all targets if none is.
  const models = () => (candidates.length > 0 ? candidates.map(modelOf) : targets.map(({ model }) => model));
  const modelled = () => new Set<string>(models().flatMap((model) => [...availableTiers(model)]));
  const tiers = () => ['auto', ...modelled(), ...(candidates.some(measures) ? ['telemetry'] : [])];
  const isModelled = (each: Candidate) => tier === 'auto' || availableTiers(modelOf(each)).some((own) => own === tier);
  const hasTier = tier === 'telemetry' ? measures : isAlias ? isModelled : () => true;
  return {
    named,
    targets,
    serves: (each) => speaks(each) && hasTier(each),
    whyNot: (each) => (speaks(each) ? 'tier_not_served' : 'api_not_spoken'),
    isOffered: tier === 'auto' || tiers().includes(tier),
    tiers,
  };
}
