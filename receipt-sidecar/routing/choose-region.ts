/**
 * Chooses where a free call begins: the target of what it names, and among that target's regions the one with the lowest carbon
 * intensity.
 *
 * Invariant: the order of targets comes before carbon. Another target is chosen only while none of the deployments before it can
 * serve the call; where all fail, none is passed over for that.
 */
import type { Tolerance } from '@gw/contract/access';
import { err, type Result } from '@gw/contract/internal/result';
import type { DeploymentHealth } from '../attempts/deployment-health.ts';
import type { Trouble } from '../attempts/measured-trouble.ts';
import type { Candidate, Target } from '../catalogue/named.ts';
import { type Comparison, compareRegions, type FallbackReason } from './compare-regions.ts';
import { type Intolerable, intolerable, isAny } from './tolerance.ts';

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
  /** Why a deployment cannot take a call of a model that can go nowhere else. */
  readonly troubleOf: (deployment: string, model: string) => Trouble | null;
}

/** What a call can be served by. */
export interface Servable {
  readonly targets: readonly Target[];
  /** What the call named. */
  readonly name: string;
  /** Whether a deployment can serve the tier that was asked for. */
  readonly serves: (candidate: Candidate) => boolean;
  /** Whether each deployment of a model can, so that the choice says something of other calls. */
  readonly isEverywhere: boolean;
}

export interface RegionChoice {
  /** The place of the target. */
  readonly at: number;
  readonly target: Target;
  readonly first: Candidate;
  readonly region: string;
  readonly comparison: Result<Comparison, FallbackReason>;
  readonly outside: (candidate: Candidate) => Intolerable | null;
  /** Whether a deployment of the target was passed over because its region fails. */
  readonly isFailing: (candidate: Candidate) => boolean;
}

/** The deployments of a target that could serve a call: `able` are those whose regions do not fail. */
interface Stand {
  readonly at: number;
  readonly target: Target;
  readonly eligible: readonly Candidate[];
  readonly able: readonly Candidate[];
  readonly headOf: (candidate: Candidate) => Candidate;
}

/** Returns null if no active region can serve the call. */
export function chooseRegion(servable: Servable, steering: Steering): RegionChoice | null {
  let fallback: Stand | null = null;
  for (const [at, target] of servable.targets.entries()) {
    const stand = standOf(target, at, servable, steering);
    if (stand.able.length > 0) return choiceIn(stand, servable, steering);
    if (fallback === null && stand.eligible.length > 0) fallback = stand;
  }
  // Where all fail, no choice is better than the usual one.
  return fallback && choiceIn({ ...fallback, able: fallback.eligible }, servable, steering);
}

function standOf(target: Target, at: number, { serves }: Servable, { isResting }: Steering): Stand {
  const eligible = target.candidates.filter((each) => each.region.status === 'active' && serves(each));
  const headOf = headsOf(eligible);
  const able = eligible.filter((each) => !isResting(headOf(each).deployment.id));
  return { at, target, eligible, able, headOf };
}

function choiceIn(
  { able, at, eligible, headOf, target }: Stand,
  { isEverywhere, name }: Servable,
  { at: now, lastRegions, tolerance }: Steering,
): RegionChoice | null {
  const [preferred] = able;
  if (!preferred) return null;
  const outside = (each: Candidate) => intolerable(headOf(each), preferred, tolerance);
  const tolerable = isAny(tolerance) ? able : able.filter((each) => outside(each) === null);
  const contenders = new Map(tolerable.map(({ region, signals }) => [region.code, { region: region.code, signals }]));
  const memory = `${name} ${at} ${tolerance.addedLatencyMs ?? ''} ${tolerance.addedCostPercent ?? ''}`;
  const compared = compareRegions([...contenders.values()], lastRegions.get(memory), now);
  const isAlone = !compared.ok && contenders.size === 1 && regionCount(able) > 1;
  const comparison = isAlone ? err('none_within_tolerance' as const) : compared;
  if (compared.ok && isEverywhere) lastRegions.set(memory, compared.value.region);
  const region = compared.ok ? compared.value.region : preferred.region.code;
  const first = able.find((each) => each.region.code === region) ?? preferred;
  const isFailing = (each: Candidate) => eligible.includes(each) && !able.includes(each);
  return { at, target, first, region, comparison, outside, isFailing };
}

/** Returns the deployment of a region at which its calls begin, whatever the others cost and however they are. */
function headsOf(eligible: readonly Candidate[]): (candidate: Candidate) => Candidate {
  const heads = new Map<string, Candidate>();
  for (const each of eligible) if (!heads.has(each.region.code)) heads.set(each.region.code, each);
  return (candidate) => heads.get(candidate.region.code) ?? candidate;
}

const regionCount = (candidates: readonly Candidate[]): number =>
  new Set(candidates.map(({ region }) => region.code)).size;
