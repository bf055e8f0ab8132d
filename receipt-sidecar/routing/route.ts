/**
 * Chooses the route of a call from the snapshot, the time and the health of deployments.
 *
 * Invariants: a pinned call goes to the deployments of its region and never leaves it. A free call goes first to the region where it is
 * estimated to cause the least carbon (choose-region.ts), or to the first by provider preference if regions cannot be compared; it fails over
 * in the same order, and then to the other targets of an alias. A call that requires measured energy only goes to
 * deployments that report it.
 */
import { type ApiError, apiError } from '@gw/contract/errors';
import { err, ok, type Result } from '@gw/contract/internal/result';
import type { SnapshotModel } from '@gw/contract/internal/snapshot';
import { gramsOf } from '@gw/methodology/footprint';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import { shapeOf } from '../api/shapes.ts';
import type { AttemptedRoute } from '../attempts/attempt-requests.ts';
import type { LiveSignal } from '../catalogue/grid-signals.ts';
import type { Candidate, Catalogue } from '../catalogue/snapshot.ts';
import { estimatedTokens, estimateFootprint } from '../guards/budgets/estimate.ts';
import { type CarbonCeiling, carbonCeiling, type KeptRoute } from './carbon-ceiling.ts';
import { chooseRegion, type Steering } from './choose-region.ts';
import type { Comparison, FallbackReason } from './compare-regions.ts';
import { type ExclusionReason, type PassedTarget, regionErrors, whyPassed } from './exclusion.ts';
import { isTranslated, nativeFirst, notSpoken, type Offer, offerFor, speaking } from './offer.ts';
import { pinnedPeers, type SharedCall } from './peers.ts';
import { unavailableRegion } from './saturated-region.ts';
import { type Intolerable, toleranceOf } from './tolerance.ts';

export interface Route extends AttemptedRoute, KeptRoute {
  /** The model that the first deployment serves. */
  readonly model: SnapshotModel;
  /** The alias that the call named; null if it named a model. */
  readonly alias: string | null;
  /** The targets of an alias that were passed over for the chosen one. */
  readonly passed: readonly PassedTarget[];
  /** The comparison of the regions, or why there was none; null if the region was pinned. */
  readonly comparison: Result<Comparison, FallbackReason> | null;
  /** The counts that the comparison assumes. */
  readonly estimated: ReturnType<typeof estimatedTokens>;
  /**
   * Every deployment of the model in the order of provider preference, even if it could not be chosen. For an alias these are the
   * deployments of the chosen target, or of all targets if the region was pinned.
   */
  readonly offered: readonly Candidate[];
  /** The deployments at which the call may begin, the first of the chain among them. */
  readonly peers: readonly Candidate[];
  /** Which of these was chosen, and why; null: there was no choice. */
  readonly shared: SharedCall | null;
  /** Returns why a deployment could not be chosen; null if it could. */
  readonly barredBy: (candidate: Candidate) => ExclusionReason | null;
  /** Returns why a deployment is outside the tolerance of the call and only serves fail-over; null if it is not. */
  readonly outside: (candidate: Candidate) => Intolerable | null;
}

type RouteResult = Result<Route, ApiError>;

const invalidModel = (message: string) => err(apiError('invalid_model', { message, param: 'model' }));

/** The JSON path of an option as the client wrote it. */
export const optionPath = ({ optionsPath = 'gw' }: ParsedRequest, name: keyof ParsedRequest['options']): string =>
  `${optionsPath}.${name}`;

/** `allowedModels`: the only models that the account can use; null means all. */
export function chooseRoute(
  request: ParsedRequest,
  catalogue: Catalogue,
  allowedModels: readonly string[] | null,
  steering: Steering,
): RouteResult {
  const { model: id } = request;
  const named = catalogue.named.get(id);
  if (!named || (allowedModels && !allowedModels.includes(id))) {
    return invalidModel(
      `The model \`${id.slice(0, 100)}\` does not exist or is not offered to this account. GET /v1/models lists the models that are.`,
    );
  }
  // All targets of an alias are of one kind.
  if (named.targets[0].model.kind !== shapeOf(request.endpoint).kind)
    return invalidModel(`The model \`${id}\` does not serve this endpoint.`);
  if (named.candidates.length > 0 && !named.candidates.some(speaking(request)))
    return err(notSpoken(request, named.candidates, ''));
  const offer = offerFor(request, named);
  if (!offer.isOffered) return invalidTier(request, offer.tiers(), `for \`${id}\``);
  const ceiling = carbonCeiling(request, named.modelOf, steering.at);
  return ceiling ? below(ceiling, request, offer, catalogue, steering) : routeFor(request, offer, catalogue, steering);
}

function routeFor(request: ParsedRequest, offer: Offer, catalogue: Catalogue, steering: Steering): RouteResult {
  const { options } = request;
  return options.region === undefined
    ? freeRoute(request, offer, { ...steering, tolerance: toleranceOf(options, steering.tolerance) })
    : pinnedRoute(request, offer, { ...steering, code: options.region, catalogue });
}

/** Routes among the deployments at which the call is estimated to stay below its carbon ceiling. */
function below(
  ceiling: CarbonCeiling,
  request: ParsedRequest,
  offer: Offer,
  catalogue: Catalogue,
  steering: Steering,
): RouteResult {
  const { region } = request.options;
  const could = offer.named.candidates.filter(
    (each) =>
      each.region.status === 'active' && offer.serves(each) && (region === undefined || each.region.code === region),
  );
  const judged = ceiling.among(could, optionPath(request, 'max_carbon_g'));
  if (!judged.ok) return judged;
  const serves = (each: Candidate) => offer.serves(each) && judged.value(each);
  const whyNot = (each: Candidate) => (offer.serves(each) ? 'carbon_above_ceiling' : offer.whyNot(each));
  const routed = routeFor(request, { ...offer, serves, whyNot }, catalogue, steering);
  return routed.ok ? ok({ ...routed.value, ...ceiling.keptBy(routed.value.failoverChain) }) : routed;
}

function invalidTier(request: ParsedRequest, offered: readonly string[], where: string): RouteResult {
  const { boundary = 'comprehensive', tier = 'auto' } = request.options;
  const message = `The tier \`${tier}\` is not available ${where} in the ${boundary} boundary. Offered: ${offered.join(', ')}.`;
  return err(apiError('invalid_tier', { message, param: optionPath(request, 'tier') }));
}

interface PinnedRegion extends Pick<Steering, 'isResting' | 'troubleOf'> {
  readonly code: string;
  readonly catalogue: Catalogue;
}

function pinnedRoute(request: ParsedRequest, offer: Offer, pinned: PinnedRegion): RouteResult {
  const { catalogue, code, troubleOf } = pinned;
  const { named, serves } = offer;
  const region = catalogue.regions.get(code);
  if (!region)
    return err(
      apiError('invalid_region', {
        message: `There is no region \`${code.slice(0, 100)}\`. GET /v1/regions lists those that exist.`,
        param: optionPath(request, 'region'),
      }),
    );
  if (region.status !== 'active')
    return err(apiError(regionErrors[region.status], { param: optionPath(request, 'region') }));
  const inRegion = named.candidates.filter(({ deployment }) => deployment.region === code);
  if (inRegion.length === 0) return invalidModel(`The model \`${named.id}\` is not offered in the region \`${code}\`.`);
  if (!inRegion.some(speaking(request))) return err(notSpoken(request, inRegion, ` in the region \`${code}\``));
  const [first, ...others] = nativeFirst(request, inRegion.filter(serves));
  if (!first) {
    return invalidTier(
      request,
      offerFor(request, { ...named, candidates: inRegion }).tiers(),
      `for \`${named.id}\` in the region \`${code}\``,
    );
  }
  const refusal = unavailableRegion([first, ...others], (each) =>
    troubleOf(each.deployment.id, named.modelOf(each).id),
  );
  if (refusal) return err({ ...refusal, param: optionPath(request, 'region') });
  const translated = (each: Candidate) => isTranslated(request.endpoint, each);
  return routed(request, offer, [first, ...others], {
    pinnedTo: code,
    comparison: null,
    outside: () => null,
    isBarred: () => false,
    offered: named.candidates,
    passed: [],
    peers: pinnedPeers([first, ...others.filter((each) => translated(each) === translated(first))], named, pinned),
  });
}

function freeRoute(request: ParsedRequest, offer: Offer, steering: Steering): RouteResult {
  const at = new Date(steering.at).toISOString();
  const gramsAt = (candidate: Candidate, { reading }: LiveSignal): number | null => {
    const footprint = estimateFootprint(request, offer.named.modelOf(candidate), candidate, { at, signal: reading });
    return footprint && gramsOf(footprint, reading.gPerKwh);
  };
  const choice = chooseRegion({ ...offer, gramsAt }, steering);
  if (!choice) return err(apiError('upstream_error', { message: 'No region can serve this model at the moment.' }));
  const { chain, comparison, isFailing, outside, peers, target } = choice;
  const passed = offer.targets.slice(0, choice.at).filter(({ name }) => name !== target.name);
  return routed(request, offer, chain, {
    pinnedTo: null,
    comparison,
    outside,
    isBarred: isFailing,
    offered: offer.named.targets.find(({ name }) => name === target.name)?.candidates ?? target.candidates,
    passed: passed.map((each) => ({ name: each.name, why: whyPassed(each, offer) })),
    peers,
  });
}

interface ChosenRoute extends Pick<Route, 'comparison' | 'offered' | 'outside' | 'passed' | 'peers'> {
  readonly pinnedTo: string | null;
  readonly isBarred: (candidate: Candidate) => boolean;
}

function routed(
  request: ParsedRequest,
  { named, serves, whyNot }: Offer,
  failoverChain: Route['failoverChain'],
  { isBarred, pinnedTo, ...chosen }: ChosenRoute,
): RouteResult {
  const { endpoint } = request;
  const barredBy = (candidate: Candidate): ExclusionReason | null => {
    const { code, status } = candidate.region;
    if (pinnedTo !== null && code !== pinnedTo) return 'other_region_pinned';
    if (status !== 'active') return regionErrors[status];
    if (isBarred(candidate)) return 'failing';
    // It is for fail-over alone.
    if (isTranslated(endpoint, candidate) && !isTranslated(endpoint, failoverChain[0])) return 'api_not_spoken';
    return serves(candidate) ? null : whyNot(candidate);
  };
  const { modelOf } = named;
  const estimated = estimatedTokens(request);
  const asked = {
    model: modelOf(failoverChain[0]),
    modelOf,
    alias: named.isAlias ? named.id : null,
    estimated,
    bound: null,
    shared: null,
  };
  return ok({ ...asked, ...chosen, pinned: pinnedTo !== null, failoverChain, barredBy });
}
