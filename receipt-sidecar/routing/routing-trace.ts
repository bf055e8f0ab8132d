/**
 * Makes the routing trace, which explains the choice of a region and how the call ended.
 *
 * Invariant: every region that serves the model, or the chosen target of an alias, is listed as a candidate, with the carbon intensity that
 * was compared or else the best known one. Annual averages are never compared, since they do not tell one hour from another.
 */
import type { OperatorFault } from '@gw/contract/internal/operator-faults';
import type { SnapshotGridReading } from '@gw/contract/internal/snapshot';
import type { RoutingTrace } from '@gw/contract/routing-trace';
import { type Footprint, gramsOf } from '@gw/methodology/footprint';
import { gridProvenance } from '@gw/methodology/grid';
import { type JudgedReply, outcomeOfReply, verdictOf } from '../attempts/attempt-outcome.ts';
import { type FailedAttempt, failedBefore } from '../attempts/failed-attempts.ts';
import { basisOf, kindOf, type LiveSignal } from '../catalogue/grid-signals.ts';
import type { Candidate } from '../catalogue/snapshot.ts';
import type { ComparedRegion, FallbackReason } from './compare-regions.ts';
import { decisionText, type FailedCandidate } from './decision-text.ts';
import type { Route } from './route.ts';

export interface ServedCall {
  /** The deployment that answered; null if it is unknown. */
  readonly by: Candidate | null;
  /** Envoy's count of the deployments it tried. */
  readonly attempts: number;
  /** The status of the reply, whether a provider's or Envoy's own. */
  readonly status: number;
  /** Why the deployment that answered needs its operator; null if it does not. */
  readonly fault: OperatorFault | null;
  /** The failed attempts whose reasons are known. */
  readonly failures: readonly FailedAttempt[];
  /** How the call was translated for the deployment that answered; absent: it was not. */
  readonly translation?: NonNullable<RoutingTrace['translation']>;
  /** RFC 3339 */
  readonly requestedAt: string;
  /** Returns what the call took at a deployment by the formulas of its receipt, or would have taken; null if that is unknown. */
  readonly footprintAt: (candidate: Candidate) => Footprint | null;
  /** The tokens that the provider had in its cache; null if that is unknown. */
  readonly cachedTokens: number | null;
  /** Returns what the call would have taken, by the same formulas, with nothing in the cache; null if that is unknown. */
  readonly uncachedFootprint: () => Footprint | null;
}

/** Returns the reading that was compared, or else the grid reading at the time of the call. */
function readingOf({ comparison }: Route, { gridAt, region }: Candidate, at: Date): SnapshotGridReading | null {
  const compared = comparison?.ok ? comparison.value.of(region.code) : null;
  return compared?.signal.reading ?? gridAt(at);
}

function operationalSignal(
  route: Route,
  candidate: Candidate,
  requestedAt: string,
): RoutingTrace['operational_signal'] {
  const reading = readingOf(route, candidate, new Date(requestedAt));
  const provenance = reading && gridProvenance(reading, requestedAt);
  if (!reading || !provenance) return null;
  const { ageMinutes, observedAt, temporalMatch } = provenance;
  return {
    source: reading.source,
    kind: kindOf(reading),
    basis: basisOf(reading),
    g_per_kwh: reading.gPerKwh,
    observed_at: observedAt,
    requested_at: requestedAt,
    age_minutes: ageMinutes,
    temporal_match: temporalMatch,
    live_eligible: candidate.signals.some((each) => each.reading === reading && holds(each, Date.parse(requestedAt))),
  };
}

const holds = ({ from, until }: LiveSignal, at: number): boolean => from <= at && at < until;

const regionsOf = (candidates: readonly Candidate[]): string[] => [
  ...new Set(candidates.map(({ region }) => region.code)),
];

/** Returns the deployment that provider preference alone would have chosen. */
const preferredOf = ({ barredBy, offered, pinned }: Route): Candidate | null =>
  pinned ? null : (offered.find((each) => barredBy(each) === null) ?? null);

/** Returns one candidate for each region that serves the model, in the order of provider preference. */
function candidatesOf(route: Route, requestedAt: string): RoutingTrace['candidates'] {
  const { barredBy, comparison, offered, outside, pinned } = route;
  const at = Date.parse(requestedAt);
  const comparedOf = (code: string) => (comparison?.ok ? comparison.value.of(code) : null);
  const unsteered = (candidate: Candidate): RoutingTrace['candidates'][number]['excluded_reason'] => {
    if (pinned || comparedOf(candidate.region.code)) return null;
    return candidate.signals.some((signal) => holds(signal, at)) ? 'not_comparable' : 'no_live_signal';
  };
  return regionsOf(offered).flatMap((code) => {
    const inRegion = offered.filter(({ region }) => region.code === code);
    const able = inRegion.filter((each) => barredBy(each) === null);
    const candidate = able.find((each) => outside(each) === null) ?? able[0] ?? inRegion[0];
    if (!candidate) return [];
    const signal = operationalSignal(route, candidate, requestedAt);
    const excluded = barredBy(candidate) ?? outside(candidate) ?? unsteered(candidate);
    return {
      region: code,
      g_per_kwh: signal?.g_per_kwh ?? null,
      age_minutes: signal?.age_minutes ?? null,
      kind: signal?.kind ?? null,
      basis: signal?.basis ?? null,
      eligible: excluded === null,
      excluded_reason: excluded,
      estimate: estimateOf(comparedOf(code), candidate),
    };
  });
}

/** The estimate that was compared, with the facts of the site that it depends on. */
function estimateOf(
  compared: ComparedRegion | null,
  { deployment: { accelerators, pue, typicalConcurrency } }: Candidate,
): RoutingTrace['candidates'][number]['estimate'] {
  if (compared === null) return null;
  const hardware = accelerators ? { accelerators: { model: accelerators.model, count: accelerators.count } } : {};
  const concurrency = typicalConcurrency === null ? {} : { typical_concurrency: typicalConcurrency };
  return { carbon_g: compared.grams, pue, ...hardware, ...concurrency };
}

type EstimatedSaving = Pick<RoutingTrace, 'estimated_saving_g' | 'counterfactual'>;

/**
 * The carbon that the call would have caused where provider preference alone would have sent it, less what it caused where it was served,
 * both modelled from its tokens and the signals that were compared. Null if the two cannot be compared, or if that region was tried first
 * and failed.
 */
function savingOf(
  route: Route,
  { by, footprintAt, requestedAt }: ServedCall,
  failed: readonly FailedCandidate[],
): EstimatedSaving {
  const preferred = preferredOf(route);
  if (!preferred) return { estimated_saving_g: null, counterfactual: null };
  const { code } = preferred.region;
  const value = readingOf(route, preferred, new Date(requestedAt))?.gPerKwh ?? null;
  const saving = (grams: number | null, there: number | null, here: number | null): EstimatedSaving => ({
    estimated_saving_g: grams,
    counterfactual: { region: code, g_per_kwh: value, carbon_g: there, served_carbon_g: here },
  });
  if (!by) return saving(null, null, null);
  if (by.region.code === code) return saving(0, null, null);
  if (failed.some(({ candidate }) => candidate.region.code === code)) return saving(null, null, null);
  const gramsAt = (candidate: Candidate): number | null => {
    const compared = route.comparison?.ok ? route.comparison.value.of(candidate.region.code) : null;
    const footprint = compared && footprintAt(candidate);
    return footprint && gramsOf(footprint, compared.signal.reading.gPerKwh);
  };
  const here = gramsAt(by);
  const there = here === null ? null : gramsAt(preferred);
  if (here === null || there === null) return saving(null, null, null);
  return saving(Number((there - here).toPrecision(12)), there, here);
}

/** Says why the call began at its deployment; empty if there was no choice. */
function deploymentChoice(route: Route, served: ServedCall): Pick<RoutingTrace, 'deployment_choice'> {
  const { shared } = route;
  if (shared === null) return {};
  const { affinity, among, by } = shared;
  return {
    deployment_choice: {
      by,
      affinity,
      among: among.map(({ deployment, underWay, weight }) => ({ deployment, weight, calls_under_way: underWay })),
      affinity_saving: by === 'affinity' ? affinitySaving(route, served) : null,
    },
  };
}

type AffinitySaving = NonNullable<RoutingTrace['deployment_choice']>['affinity_saving'];

function affinitySaving(route: Route, served: ServedCall): AffinitySaving {
  const { by, cachedTokens, footprintAt, requestedAt, uncachedFootprint } = served;
  if (by !== route.failoverChain[0] || cachedTokens === null) return null;
  if (cachedTokens === 0) return { cached_tokens: 0, energy_wh: 0, carbon_g: 0 };
  const [anew, here] = [uncachedFootprint(), footprintAt(by)];
  if (anew === null || here === null) return { cached_tokens: cachedTokens, energy_wh: null, carbon_g: null };
  const value = readingOf(route, by, new Date(requestedAt))?.gPerKwh;
  const less = (more: number, fewer: number) => Math.max(0, Number((more - fewer).toPrecision(12)));
  return {
    cached_tokens: cachedTokens,
    energy_wh: less(anew.energyWh, here.energyWh),
    carbon_g: value === undefined ? null : less(gramsOf(anew, value), gramsOf(here, value)),
  };
}

/** Why the call went by provider preference, or elsewhere than carbon chose; null if it did neither. */
function fallbackOf({ comparison }: Route, by: Candidate | null): FallbackReason | 'failed_over' | null {
  if (comparison === null) return null;
  if (!comparison.ok) return comparison.error;
  return by !== null && by.region.code !== comparison.value.region ? 'failed_over' : null;
}

const replyOf = ({ fault, status }: ServedCall): JudgedReply => ({ status, fault, waitMs: null });
const isAnswer = (served: ServedCall): boolean => verdictOf(replyOf(served)).result === 'answered';

/** Returns the attempts that failed, in their order; the last one is among them if it was answered by a failure, or by Envoy alone. */
function failedOf({ failoverChain }: Route, served: ServedCall): FailedCandidate[] {
  const { attempts, by, failures, status } = served;
  const before = failedBefore(failoverChain, by?.deployment.id ?? null, attempts);
  const last = isAnswer(served) ? null : (by ?? failoverChain[Math.min(attempts, failoverChain.length) - 1] ?? null);
  const outcomeOf = ({ deployment: { id } }: Candidate, time = 0) =>
    failures.filter(({ deployment }) => deployment === id)[time]?.outcome;
  const failed = before.map((candidate) => ({ candidate, outcome: outcomeOf(candidate) ?? ('failed' as const) }));
  if (last === null) return failed;
  // Envoy's own 502 and 503 do not tell the reason.
  const outcome =
    outcomeOf(last, before.includes(last) ? 1 : 0) ??
    (by === null && status !== 504 ? 'failed' : outcomeOfReply(replyOf(served)));
  return [...failed, { candidate: last, outcome }];
}

export function routingTrace(route: Route, served: ServedCall): RoutingTrace {
  const { bound, comparison, pinned } = route;
  const { attempts, by, requestedAt, translation } = served;
  const failed = failedOf(route, served);
  const fallback = fallbackOf(route, by);
  return {
    policy: pinned ? 'pinned' : comparison?.ok ? 'carbon_aware' : 'provider_preference',
    decision: decisionText(route, by, failed, isAnswer(served)),
    fallback: fallback !== null,
    fallback_reason: fallback,
    region: by?.region.code ?? null,
    deployment: by?.deployment.id ?? null,
    attempts: {
      count: attempts,
      failed: failed.map(({ candidate: { deployment, region }, outcome }) => ({
        deployment: deployment.id,
        region: region.code,
        outcome,
      })),
    },
    estimated_tokens: comparison?.ok
      ? { prompt: route.estimated.promptTokens, completion: route.estimated.completionTokens }
      : null,
    ...(bound === null ? {} : { answer_bound: bound }),
    ...(translation && { translation }),
    ...deploymentChoice(route, served),
    operational_signal: by ? operationalSignal(route, by, requestedAt) : null,
    candidates: candidatesOf(route, requestedAt),
    ...savingOf(route, served, failed),
  };
}

/** Returns the trace as JSON, or empty text, which leaves it out, if it cannot be made. */
export function traceText(route: Route, served: ServedCall, onFault: (error: unknown) => void): string {
  try {
    return JSON.stringify(routingTrace(route, served));
  } catch (error) {
    onFault(error);
    return '';
  }
}
