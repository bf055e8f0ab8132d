/**
 * Chooses where a free call begins, and where it goes on after a failure: the target of the model or alias that it names, and among that
 * target's regions the one where the call is estimated to cause the least carbon, then the next by carbon.
 *
 * Invariants: the order of targets takes precedence over carbon. A later target is chosen only while no deployment of those before it can
 * serve the call; if the deployments of all targets rest, resting is ignored. Regions that carbon could not choose are tried after those
 * that it could, in the order of provider preference, and those that rest at last. A region rests while all of its deployments do; until then
 * the first that does not stands for it.
 */
import type { Tolerance } from '@gw/contract/access';
import { err, type Result } from '@gw/contract/internal/result';
import type { DeploymentHealth } from '../attempts/resting-deployments.ts';
import type { Trouble } from '../attempts/unavailable-deployments.ts';
import type { LiveSignal } from '../catalogue/grid-signals.ts';
import type { Candidate, Target } from '../catalogue/named.ts';
import { type Comparison, type Contender, compareRegions, type FallbackReason } from './compare-regions.ts';
import { freePeers } from './peers.ts';
import { type Intolerable, intolerable, isAny } from './tolerance.ts';

/** The inputs of a choice besides the request and the catalogue. */
export interface Steering {
  /** ms since 1970 */
  readonly at: number;
  readonly tolerance: Tolerance;
  readonly isResting: DeploymentHealth['isResting'];
  /** Returns why a deployment is unavailable for a model; null if it is not. */
  readonly troubleOf: (deployment: string, model: string) => Trouble | null;
}

export interface Servable {
  readonly targets: readonly Target[];
  /** Whether a deployment can serve the call, its tier and carbon ceiling included. */
  readonly serves: (candidate: Candidate) => boolean;
  /** Returns what the call is estimated to take at a deployment, with this signal of its grid; null if that is unknown. */
  readonly gramsAt: (candidate: Candidate, signal: LiveSignal) => number | null;
}

export interface RegionChoice {
  /** The index of the target. */
  readonly at: number;
  readonly target: Target;
  /** The deployments in the order in which they are tried, those of other targets included. */
  readonly chain: readonly [Candidate, ...Candidate[]];
  readonly comparison: Result<Comparison, FallbackReason>;
  readonly outside: (candidate: Candidate) => Intolerable | null;
  /** Whether a deployment of the target was passed over because it rests. */
  readonly isFailing: (candidate: Candidate) => boolean;
  /** The deployments of the first region that may take the call in place of the first. */
  readonly peers: readonly Candidate[];
}

/** The deployments of a target that could serve a call; `able` are those that do not rest. */
interface TargetStanding {
  readonly at: number;
  readonly target: Target;
  readonly eligible: readonly Candidate[];
  readonly able: readonly Candidate[];
  /** Returns the deployment of the region of a candidate by which the whole region is judged. */
  readonly headOf: (candidate: Candidate) => Candidate;
}

/** Returns null if no active region can serve the call. */
export function chooseRegion(servable: Servable, steering: Steering): RegionChoice | null {
  const standings = servable.targets.map((target, at) => standingOf(target, at, servable, steering));
  const chosen = standings.find(({ able }) => able.length > 0) ?? firstEligible(standings);
  return chosen && choiceIn(chosen, standings, servable, steering);
}

function firstEligible(standings: readonly TargetStanding[]): TargetStanding | null {
  const found = standings.find(({ eligible }) => eligible.length > 0);
  return found ? { ...found, able: found.eligible } : null;
}

function standingOf(target: Target, at: number, { serves }: Servable, { isResting }: Steering): TargetStanding {
  const eligible = target.candidates.filter((each) => each.region.status === 'active' && serves(each));
  const able = eligible.filter((each) => !isResting(each.deployment.id));
  return { at, target, eligible, able, headOf: headsOf([...able, ...eligible]) };
}

function choiceIn(
  chosen: TargetStanding,
  standings: readonly TargetStanding[],
  servable: Servable,
  { at: now, tolerance }: Steering,
): RegionChoice | null {
  const { able, at, eligible, headOf, target } = chosen;
  const [preferred] = able;
  if (!preferred) return null;
  const outside = (each: Candidate) => intolerable(headOf(each), preferred, tolerance);
  const tolerable = isAny(tolerance) ? able : able.filter((each) => outside(each) === null);
  const compared = comparedBy(tolerable, servable, now);
  const isAlone = !compared.ok && regionCount(tolerable) === 1 && regionCount(able) > 1;
  const comparison = isAlone ? err('none_within_tolerance' as const) : compared;
  const own = inOrder(chosen, compared);
  // Targets that were passed over, because none of their deployments could serve, come last.
  const others = [...standings.slice(at + 1), ...standings.slice(0, at)].flatMap((each) =>
    inOrder(each, comparedBy(each.able, servable, now)),
  );
  const [first = preferred, ...later] = [...own, ...others];
  const isFailing = (each: Candidate) => eligible.includes(each) && !able.includes(each);
  const peers = freePeers(able, { first, preferred, tolerance, gramsAt: servable.gramsAt, compared });
  return { at, target, chain: [first, ...later], comparison, outside, isFailing, peers };
}

/** Compares the regions of these candidates. */
function comparedBy(candidates: readonly Candidate[], { gramsAt }: Servable, now: number) {
  const contenders = new Map<string, Contender>();
  for (const each of candidates) {
    const { region, signals } = each;
    if (contenders.has(region.code)) continue;
    contenders.set(region.code, { region: region.code, signals, gramsBy: (signal) => gramsAt(each, signal) });
  }
  return compareRegions([...contenders.values()], now);
}

/**
 * Returns the order of attempts within a target: compared regions by carbon, then the others by preference, at last what rests. In the first
 * region, what rests comes last.
 */
function inOrder({ able, eligible }: TargetStanding, compared: Result<Comparison, FallbackReason>): Candidate[] {
  const restsLast = (a: Candidate, b: Candidate) => Number(able.includes(b)) - Number(able.includes(a));
  if (!compared.ok) {
    const [preferred] = able;
    const isFirst = (each: Candidate) => each.region.code === preferred?.region.code;
    return [...eligible.filter(isFirst).sort(restsLast), ...eligible.filter((each) => !isFirst(each))];
  }
  const { ranked } = compared.value;
  const places = new Map(ranked.map(({ region }, place) => [region, place]));
  const placeOf = (each: Candidate) =>
    places.get(each.region.code) ?? (able.includes(each) ? ranked.length : ranked.length + 1);
  return eligible.toSorted((a, b) => placeOf(a) - placeOf(b) || restsLast(a, b));
}

function headsOf(eligible: readonly Candidate[]): (candidate: Candidate) => Candidate {
  const heads = new Map<string, Candidate>();
  for (const each of eligible) if (!heads.has(each.region.code)) heads.set(each.region.code, each);
  return (candidate) => heads.get(candidate.region.code) ?? candidate;
}

const regionCount = (candidates: readonly Candidate[]): number =>
  new Set(candidates.map(({ region }) => region.code)).size;
