/**
 * Chooses where a free call begins: the target of the model or alias that it names, and among that target's regions the one with the
 * lowest carbon intensity.
 *
 * Invariant: the order of targets takes precedence over carbon. A later target is chosen only while no deployment of those before it can
 * serve the call; if the deployments of all targets rest, resting is ignored.
 */
import type { Tolerance } from '@gw/contract/access';
import { err, type Result } from '@gw/contract/internal/result';
import type { DeploymentHealth } from '../attempts/resting-deployments.ts';
import type { Trouble } from '../attempts/unavailable-deployments.ts';
import type { Candidate, Target } from '../catalogue/named.ts';
import { type Comparison, compareRegions, type FallbackReason } from './compare-regions.ts';
import { type Intolerable, intolerable, isAny } from './tolerance.ts';

/** Remembers the region of the last carbon-aware choice for each model and tolerance. */
export type LastRegions = Pick<Map<string, string>, 'get' | 'set'>;

/** The inputs of a choice besides the request and the catalogue. */
export interface Steering {
  /** ms since 1970 */
  readonly at: number;
  /** `chooseRegion` updates it. */
  readonly lastRegions: LastRegions;
  readonly tolerance: Tolerance;
  readonly isResting: DeploymentHealth['isResting'];
  /** Returns why a deployment is unavailable for a model; null if it is not. */
  readonly troubleOf: (deployment: string, model: string) => Trouble | null;
}

export interface Servable {
  readonly targets: readonly Target[];
  /** The id of the model or alias that the call named. */
  readonly name: string;
  /** Whether a deployment can serve the call, its tier and carbon ceiling included. */
  readonly serves: (candidate: Candidate) => boolean;
  /** Whether every deployment serves the call, so that the choice may be remembered for other calls. */
  readonly isEverywhere: boolean;
}

export interface RegionChoice {
  /** The index of the target. */
  readonly at: number;
  readonly target: Target;
  readonly first: Candidate;
  readonly region: string;
  readonly comparison: Result<Comparison, FallbackReason>;
  readonly outside: (candidate: Candidate) => Intolerable | null;
  /** Whether a deployment of the target was passed over because its region rests. */
  readonly isFailing: (candidate: Candidate) => boolean;
}

/** The deployments of a target that could serve a call; `able` are those whose regions do not rest. */
interface TargetStanding {
  readonly at: number;
  readonly target: Target;
  readonly eligible: readonly Candidate[];
  readonly able: readonly Candidate[];
  readonly headOf: (candidate: Candidate) => Candidate;
}

/** Returns null if no active region can serve the call. */
export function chooseRegion(servable: Servable, steering: Steering): RegionChoice | null {
  let fallback: TargetStanding | null = null;
  for (const [at, target] of servable.targets.entries()) {
    const standing = standingOf(target, at, servable, steering);
    if (standing.able.length > 0) return choiceIn(standing, servable, steering);
    if (fallback === null && standing.eligible.length > 0) fallback = standing;
  }
  return fallback && choiceIn({ ...fallback, able: fallback.eligible }, servable, steering);
}

function standingOf(target: Target, at: number, { serves }: Servable, { isResting }: Steering): TargetStanding {
  const eligible = target.candidates.filter((each) => each.region.status === 'active' && serves(each));
  const headOf = headsOf(eligible);
  const able = eligible.filter((each) => !isResting(headOf(each).deployment.id));
  return { at, target, eligible, able, headOf };
}

function choiceIn(
  { able, at, eligible, headOf, target }: TargetStanding,
  { isEverywhere, name }: Servable,
  { at: now, lastRegions, tolerance }: Steering,
): RegionChoice | null {
  const [preferred] = able;
  if (!preferred) return null;
  const outside = (each: Candidate) => intolerable(headOf(each), preferred, tolerance);
  const tolerable = isAny(tolerance) ? able : able.filter((each) => outside(each) === null);
  const contenders = new Map(tolerable.map(({ region, signals }) => [region.code, { region: region.code, signals }]));
  const memory = `${name} ${at} ${tolerance.addedLatencyMs} ${tolerance.addedCostPercent}`;
  const compared = compareRegions([...contenders.values()], lastRegions.get(memory), now);
  const isAlone = !compared.ok && contenders.size === 1 && regionCount(able) > 1;
  const comparison = isAlone ? err('none_within_tolerance' as const) : compared;
  if (compared.ok && isEverywhere) lastRegions.set(memory, compared.value.region);
  const region = compared.ok ? compared.value.region : preferred.region.code;
  const first = able.find((each) => each.region.code === region) ?? preferred;
  const isFailing = (each: Candidate) => eligible.includes(each) && !able.includes(each);
  return { at, target, first, region, comparison, outside, isFailing };
}

/** Returns for each deployment the first one of its region, by which the whole region is judged. */
function headsOf(eligible: readonly Candidate[]): (candidate: Candidate) => Candidate {
  const heads = new Map<string, Candidate>();
  for (const each of eligible) if (!heads.has(each.region.code)) heads.set(each.region.code, each);
  return (candidate) => heads.get(candidate.region.code) ?? candidate;
}

const regionCount = (candidates: readonly Candidate[]): number =>
  new Set(candidates.map(({ region }) => region.code)).size;

/** Clients choose their tolerance, so the number of keys needs a bound. */
const mostLastRegions = 10_000;

/** Forgets the oldest keys when it is full. */
export function createLastRegions(): LastRegions {
  const regions = new Map<string, string>();
  return {
    get: (key) => regions.get(key),
    set: (key, region) => {
      if (regions.get(key) === region) return regions;
      const [oldest] = regions.keys();
      if (oldest !== undefined && regions.size >= mostLastRegions) regions.delete(oldest);
      return regions.set(key, region);
    },
  };
}
