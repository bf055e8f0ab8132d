/**
 * Chooses where a call goes, from the snapshot, the clock, which deployments fail and where the last calls went.
 *
 * Invariant: a pinned call goes to the deployments of its region and never leaves it. A free call goes first to the region whose
 * grid has the lowest carbon intensity (compare-regions.ts), or to the first by provider preference where that cannot be
 * told; from there Envoy fails over in the order of provider preference. A call for measured energy only goes where it is
 * reported.
 */
import type { Tolerance } from '@gw/contract/access';
import { type ApiError, apiError } from '@gw/contract/errors';
import { err, ok, type Result } from '@gw/contract/internal/result';
import { failoverCluster, type SnapshotModel } from '@gw/contract/internal/snapshot';
import { availableTiers } from '@gw/methodology/assess';
import { servesTelemetry } from '@gw/methodology/tier';
import type { DeploymentHealth, Trouble } from '../deployment-health.ts';
import type { Candidate, Catalogue } from '../snapshot.ts';
import { type Comparison, compareRegions, type FallbackReason } from './compare-regions.ts';
import type { Endpoint } from './endpoint.ts';
import type { ParsedRequest } from './parsed-request.ts';
import { type Intolerable, intolerable, isAny, toleranceOf } from './tolerance.ts';

/**
 * Where a call goes. `cluster` is Envoy's for the fail-over chain.
 */
export interface Route {
  readonly model: SnapshotModel;
  readonly pinned: boolean;
  /** How the regions compared, or why they could not be; null if the region was pinned. */
  readonly comparison: Result<Comparison, FallbackReason> | null;
  /** The deployments in the order in which they are tried; at least one. */
  readonly failoverChain: readonly [Candidate, ...Candidate[]];
  readonly cluster: string;
  /** Every deployment of the model in the order of provider preference, even if it could not be chosen. */
  readonly offered: readonly Candidate[];
  /** Returns why a deployment could not be chosen; null if it could. */
  readonly barredBy: (candidate: Candidate) => Bar | null;
  /** Returns why a deployment lies outside the tolerance of the call, so that it is only there for fail-over; null if it does not. */
  readonly outside: (candidate: Candidate) => Intolerable | null;
}

export type Bar =
  | 'region_degraded'
  | 'region_saturated'
  | 'region_decommissioned'
  | 'other_region_pinned'
  | 'tier_not_served'
  | 'failing';

type Routed = Result<Route, ApiError>;

/** The region that the last free call of each model was sent to by its carbon; of one tolerance. */
export type LastRegions = Pick<Map<string, string>, 'get' | 'set'>;

/** What a choice depends on beside the request and the catalogue. */
export interface Steering {
  /** ms since 1970 */
  readonly at: number;
  /** Kept up to date here. */
  readonly lastRegions: LastRegions;
  readonly tolerance: Tolerance;
  /** Whether free calls begin elsewhere. */
  readonly isResting: DeploymentHealth['isResting'];
  /** Why a deployment cannot take a call that can go nowhere else. */
  readonly troubleOf: DeploymentHealth['troubleOf'];
}

const invalidModel = (message: string) => err(apiError('invalid_model', { message, param: 'model' }));

const regionErrors = {
  degraded: 'region_degraded',
  saturated: 'region_saturated',
  decommissioned: 'region_decommissioned',
} as const;

/** The JSON path of an option as the client wrote it. */
const optionPath = ({ optionsPath = 'gw' }: ParsedRequest, name: keyof ParsedRequest['options']): string =>
  `${optionsPath}.${name}`;

const kindOf = (endpoint: Endpoint): SnapshotModel['kind'] => (endpoint === 'embeddings' ? 'embedding' : 'chat');

/** Chooses the route, or says why there is none. `allowedModels` are the only ones that can be used; null means all. */
export function chooseRoute(
  request: ParsedRequest,
  catalogue: Catalogue,
  allowedModels: readonly string[] | null,
  steering: Steering,
): Routed {
  const { model: id, options } = request;
  const model = catalogue.models.get(id);
  if (!model || (allowedModels && !allowedModels.includes(id))) {
    return invalidModel(
      `The model \`${id.slice(0, 100)}\` does not exist or is not offered to this account. GET /v1/models lists the models that are.`,
    );
  }
  if (model.kind !== kindOf(request.endpoint)) return invalidModel(`The model \`${id}\` does not serve this endpoint.`);
  const offer = offerFor(request, model, catalogue.candidates(id));
  if (!offer.isOffered) return invalidTier(request, offer.tiers(), `for \`${id}\``);
  return options.region === undefined
    ? freeRoute(model, offer, { ...steering, tolerance: toleranceOf(options, steering.tolerance) })
    : pinnedRoute(request, model, offer, { code: options.region, catalogue, troubleOf: steering.troubleOf });
}

interface Offer {
  /** Every deployment of the model, in the order of provider preference. */
  readonly all: readonly Candidate[];
  /** Whether a deployment can serve the tier that was asked for. */
  readonly serves: (candidate: Candidate) => boolean;
  /** Whether every deployment can. */
  readonly isEverywhere: boolean;
  readonly isOffered: boolean;
  /** Returns the tiers that can be asked for in the boundary of the call. */
  readonly tiers: () => readonly string[];
}

function offerFor({ options }: ParsedRequest, model: SnapshotModel, all: readonly Candidate[]): Offer {
  const { boundary = 'comprehensive', tier = 'auto' } = options;
  const measures = ({ deployment }: Candidate) => servesTelemetry(deployment.telemetry, boundary);
  const tiers = () => ['auto', ...availableTiers(model), ...(all.some(measures) ? ['telemetry'] : [])];
  const isEverywhere = tier !== 'telemetry';
  const serves = isEverywhere ? () => true : measures;
  return { all, serves, isEverywhere, isOffered: tier === 'auto' || tiers().includes(tier), tiers };
}

function invalidTier(request: ParsedRequest, offered: readonly string[], where: string): Routed {
  const { boundary = 'comprehensive', tier = 'auto' } = request.options;
  const message = `The tier \`${tier}\` is not available ${where} in the ${boundary} boundary. Offered: ${offered.join(', ')}.`;
  return err(apiError('invalid_tier', { message, param: optionPath(request, 'tier') }));
}

interface Pin extends Pick<Steering, 'troubleOf'> {
  readonly code: string;
  readonly catalogue: Catalogue;
}

function pinnedRoute(
  request: ParsedRequest,
  model: SnapshotModel,
  offer: Offer,
  { catalogue, code, troubleOf }: Pin,
): Routed {
  const { all, serves, tiers } = offer;
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
  const inRegion = all.filter(({ deployment }) => deployment.region === code);
  if (inRegion.length === 0) return invalidModel(`The model \`${model.id}\` is not offered in the region \`${code}\`.`);
  const candidate = inRegion.find(serves);
  if (!candidate) {
    const others = tiers().filter((tier) => tier !== 'telemetry');
    return invalidTier(request, others, `for \`${model.id}\` in the region \`${code}\``);
  }
  const trouble = troubleOfAll(inRegion.filter(serves), troubleOf);
  if (trouble) {
    const { forMs, status } = trouble;
    const when = status === 'saturated' ? { retryAfterS: Math.ceil(forMs / 1000) } : {};
    return err(apiError(regionErrors[status], { param: optionPath(request, 'region'), ...when }));
  }
  const pinned = { pinnedTo: code, comparison: null, outside: () => null, isBarred: () => false };
  return routed(model, offer, chainFrom(offer, candidate, inRegion), pinned);
}

/** Returns why none of them can take a call, and for how long; null if one can. Where one only has too much to do, all have. */
function troubleOfAll(
  candidates: readonly Candidate[],
  troubleOf: Steering['troubleOf'],
): Pick<Trouble, 'status' | 'forMs'> | null {
  const troubles = candidates.flatMap(({ deployment }) => troubleOf(deployment.id) ?? []);
  if (troubles.length < candidates.length) return null;
  const forMs = Math.min(...troubles.map((each) => each.forMs));
  return { status: troubles.every(({ status }) => status === 'degraded') ? 'degraded' : 'saturated', forMs };
}

function freeRoute(model: SnapshotModel, offer: Offer, { at, isResting, lastRegions, tolerance }: Steering): Routed {
  const active = offer.all.filter(({ region }) => region.status === 'active');
  const eligible = active.filter(offer.serves);
  const headOf = headsOf(eligible);
  const failing = new Set(eligible.filter((each) => isResting(headOf(each).deployment.id)));
  const able = eligible.filter((each) => !failing.has(each));
  // Where all fail, no choice is better than the usual one.
  const offered = able.length > 0 ? able : eligible;
  const [preferred] = offered;
  if (!preferred) return err(apiError('upstream_error', { message: 'No region can serve this model at the moment.' }));
  const outside = (each: Candidate) => intolerable(headOf(each), preferred, tolerance);
  const tolerable = isAny(tolerance) ? offered : offered.filter((each) => outside(each) === null);
  const contenders = new Map(tolerable.map(({ region, signals }) => [region.code, { region: region.code, signals }]));
  const memory = `${model.id} ${tolerance.addedLatencyMs ?? ''} ${tolerance.addedCostPercent ?? ''}`;
  const compared = compareRegions([...contenders.values()], lastRegions.get(memory), at);
  const isAlone = !compared.ok && contenders.size === 1 && regionCount(offered) > 1;
  const comparison = isAlone ? err('none_within_tolerance' as const) : compared;
  if (compared.ok && offer.isEverywhere) lastRegions.set(memory, compared.value.region);
  const chosen = compared.ok ? compared.value.region : preferred.region.code;
  const isFirst = ({ region }: Candidate) => region.code === chosen;
  const first = offered.find(isFirst) ?? preferred;
  const inOrder = [...active.filter(isFirst), ...active.filter((each) => !isFirst(each))];
  const isBarred = (each: Candidate) => able.length > 0 && failing.has(each);
  return routed(model, offer, chainFrom(offer, first, inOrder), { pinnedTo: null, comparison, outside, isBarred });
}

/** Returns the deployment of a region at which its calls begin, whatever the others cost and however they are. */
function headsOf(eligible: readonly Candidate[]): (candidate: Candidate) => Candidate {
  const heads = new Map<string, Candidate>();
  for (const each of eligible) if (!heads.has(each.region.code)) heads.set(each.region.code, each);
  return (candidate) => heads.get(candidate.region.code) ?? candidate;
}

const regionCount = (candidates: readonly Candidate[]): number =>
  new Set(candidates.map(({ region }) => region.code)).size;

/**
 * Returns the deployments that are tried: Envoy has one chain for each region that comes first, with all of them, so there is one
 * only if every deployment serves the tier.
 */
function chainFrom(
  { serves }: Offer,
  first: Candidate,
  [head, ...others]: readonly Candidate[],
): Route['failoverChain'] {
  return head && serves(head) && others.every(serves) ? [head, ...others] : [first];
}

interface Chosen extends Pick<Route, 'comparison' | 'outside'> {
  readonly pinnedTo: string | null;
  readonly isBarred: (candidate: Candidate) => boolean;
}

function routed(
  model: SnapshotModel,
  offer: Offer,
  failoverChain: Route['failoverChain'],
  { comparison, isBarred, outside, pinnedTo }: Chosen,
): Routed {
  const barredBy = (candidate: Candidate): Bar | null => {
    const { code, status } = candidate.region;
    if (pinnedTo !== null && code !== pinnedTo) return 'other_region_pinned';
    if (status !== 'active') return regionErrors[status];
    if (isBarred(candidate)) return 'failing';
    return offer.serves(candidate) ? null : 'tier_not_served';
  };
  const cluster = failoverCluster(failoverChain.map(({ deployment }) => deployment.id));
  const pinned = pinnedTo !== null;
  return ok({ model, pinned, comparison, outside, failoverChain, cluster, offered: offer.all, barredBy });
}
