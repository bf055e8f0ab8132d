/** Which deployments of a model or an alias can serve a call: those that speak its API and have the tier that it asks for. */
import { type ApiError, apiError } from '@gw/contract/errors';
import { availableTiers } from '@gw/methodology/assess';
import { servesTelemetry } from '@gw/methodology/tier';
import { apiBehind, lackOf, takes, toolWithoutLeave } from '../api/behind.ts';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import { shapeOf, shapes } from '../api/shapes.ts';
import type { Candidate, Named, Target } from '../catalogue/snapshot.ts';
import type { Servable } from './choose-region.ts';

/** Whether the provider of a deployment can be sent the call. */
export const speaking =
  (request: ParsedRequest) =>
  ({ deployment }: Candidate): boolean =>
    takes(request, deployment);

/** Refuses a call that none of these can be sent: by the field without a counterpart in their APIs, or with the paths that they serve. */
export function notSpoken(request: ParsedRequest, candidates: readonly Candidate[], where: string): ApiError {
  const { endpoint, model } = request;
  const { counts, kind, path } = shapeOf(endpoint);
  const deployments = candidates.map(({ deployment }) => deployment);
  const tool = toolWithoutLeave(request, deployments);
  if (tool !== null)
    return apiError('unsupported_field', {
      param: tool.at,
      message: `The provider would run the tool \`${tool.kind}\` by itself, and call elsewhere for it, which no provider of \`${model}\` may do${where}. Run it yourself, as a tool with a schema of its own.`,
    });
  if (counts !== undefined)
    return apiError('invalid_model', {
      param: 'model',
      message: `The tokens of this prompt for \`${model}\` cannot be counted${where}: none of its providers speaks the API of ${shapeOf(counts).path}, and the catalogue names no tokenizer of the model, or the prompt has pictures, files or other parts that a tokenizer does not count.`,
    });
  const lack = lackOf(request, deployments);
  if (lack !== null) {
    const message = `The call would have to be translated for \`${model}\`${where}, whose providers do not speak the API of ${path}, and \`${lack.field}\` cannot be: ${lack.why}.`;
    return apiError('unsupported_field', { param: lack.field, message });
  }
  const spoken = shapes.filter(
    (each) =>
      each.kind === kind &&
      each.counts === undefined &&
      candidates.some(({ deployment }) => apiBehind(each.name, deployment) !== null),
  );
  const instead = spoken.length === 0 ? '' : ` Send the call to ${spoken.map((each) => each.path).join(' or ')}.`;
  return apiError('invalid_model', {
    param: 'model',
    message: `The model \`${model}\` is not served at ${path}${where}.${instead}`,
  });
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
  const isOwn = ({ deployment }: Candidate) => apiBehind(request.endpoint, deployment) === request.endpoint;
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
    // Deployments that speak the API come first; a call is translated where they fail.
    targets: candidates.every(isOwn) ? targets : targets.flatMap((each) => ownFirst(each, speaks, isOwn)),
    serves: (each) => speaks(each) && hasTier(each),
    whyNot: (each) => (speaks(each) ? 'tier_not_served' : 'api_not_spoken'),
    isOffered: tier === 'auto' || tiers().includes(tier),
    tiers,
  };
}

type Is = (candidate: Candidate) => boolean;

/** Parts a target by whether a call has to be translated. */
function ownFirst(target: Target, speaks: Is, isOwn: Is): Target[] {
  const own = target.candidates.filter((each) => isOwn(each) || !speaks(each));
  if (!own.some(isOwn)) return [target];
  return [
    { ...target, candidates: own },
    { ...target, candidates: target.candidates.filter((each) => !own.includes(each)) },
  ];
}

/** Returns the deployments in the same order, first those that speak the API of the call. */
export const nativeFirst = ({ endpoint }: ParsedRequest, candidates: readonly Candidate[]): Candidate[] =>
  candidates.toSorted((a, b) => Number(isTranslated(endpoint, a)) - Number(isTranslated(endpoint, b)));

/** Whether a deployment could be sent the call in another API than its own alone. */
export const isTranslated = (endpoint: string, { deployment }: Candidate): boolean =>
  apiBehind(endpoint, deployment) !== endpoint;
