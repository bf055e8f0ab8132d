/**
 * Makes the routing trace, which explains the choice of a region and how the call ended.
 *
 * Invariant: every region that serves the model, or the chosen target of an alias, is listed as a candidate, with the carbon intensity that
 * was compared or else the best known one. Annual averages are never compared, since they do not tell one hour from another.
 */
import type { OperatorFault } from '@gw/contract/internal/operator-faults';
import type { SnapshotGridReading } from '@gw/contract/internal/snapshot';
import type { RoutingTrace } from '@gw/contract/routing-trace';
import { gridProvenance } from '@gw/methodology/grid';
import { type JudgedReply, outcomeOfReply, verdictOf } from '../attempts/attempt-outcome.ts';
import { type FailedAttempt, failedBefore } from '../attempts/failed-attempts.ts';
import { basisOf, kindOf, type LiveSignal } from '../catalogue/grid-signals.ts';
import type { Candidate } from '../catalogue/snapshot.ts';
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
  /** RFC 3339 */
  readonly requestedAt: string;
  /** The energy of the receipt, Wh; null if it has none. */
  readonly energyWh: number | null;
}

/** Returns the reading that was compared, or else the grid reading at the time of the call. */
function readingOf({ comparison }: Route, { gridAt, region }: Candidate, at: Date): SnapshotGridReading | null {
  const compared = comparison?.ok ? comparison.value.signalOf(region.code) : null;
  return compared?.reading ?? gridAt(at);
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
  const unsteered = (candidate: Candidate): RoutingTrace['candidates'][number]['excluded_reason'] => {
    if (pinned || (comparison?.ok && comparison.value.signalOf(candidate.region.code))) return null;
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
    };
  });
}

type EstimatedSaving = Pick<RoutingTrace, 'estimated_saving_g' | 'counterfactual'>;

/**
 * The carbon that the same energy would have caused where provider preference alone would have sent the call, less what it caused
 * where it was served. Null if the two cannot be compared, or if that region was tried first and failed.
 */
function savingOf(
  route: Route,
  { by, energyWh, requestedAt }: ServedCall,
  failed: readonly FailedCandidate[],
): EstimatedSaving {
  const preferred = preferredOf(route);
  if (!preferred) return { estimated_saving_g: null, counterfactual: null };
  const value = readingOf(route, preferred, new Date(requestedAt))?.gPerKwh ?? null;
  const counterfactual = { region: preferred.region.code, g_per_kwh: value };
  const unknown: EstimatedSaving = { estimated_saving_g: null, counterfactual };
  if (!by) return unknown;
  if (by.region.code === preferred.region.code) return { estimated_saving_g: 0, counterfactual };
  const signalOfRegion = route.comparison?.ok ? route.comparison.value.signalOf : () => null;
  const [own, its] = [signalOfRegion(by.region.code), signalOfRegion(preferred.region.code)];
  const hasFailed = failed.some(({ candidate }) => candidate.region.code === preferred.region.code);
  if (!own || !its || hasFailed || energyWh === null) return unknown;
  const grams = (energyWh / 1000) * (its.reading.gPerKwh - own.reading.gPerKwh);
  return { estimated_saving_g: Number(grams.toPrecision(12)), counterfactual };
}

const replyOf = ({ fault, status }: ServedCall): JudgedReply => ({ status, fault, waitMs: null });
const isAnswer = (served: ServedCall): boolean => verdictOf(replyOf(served)).result === 'answered';

/** Returns the attempts that failed, in their order; the last one is among them if it was answered by a failure, or by Envoy alone. */
function failedOf({ failoverChain }: Route, served: ServedCall): FailedCandidate[] {
  const { attempts, by, failures, status } = served;
  const before = failedBefore(failoverChain, by?.deployment.id ?? null, attempts);
  const last = isAnswer(served) ? null : (by ?? failoverChain[attempts - 1] ?? null);
  const outcomeOf = ({ deployment: { id } }: Candidate) =>
    failures.find(({ deployment }) => deployment === id)?.outcome;
  const failed = before.map((candidate) => ({ candidate, outcome: outcomeOf(candidate) ?? ('failed' as const) }));
  if (last === null) return failed;
  // Envoy's own 502 and 503 do not tell the reason.
  const outcome = outcomeOf(last) ?? (by === null && status !== 504 ? 'failed' : outcomeOfReply(replyOf(served)));
  return [...failed, { candidate: last, outcome }];
}

export function routingTrace(route: Route, served: ServedCall): RoutingTrace {
  const { comparison, pinned } = route;
  const { attempts, by, requestedAt } = served;
  const failed = failedOf(route, served);
  return {
    policy: pinned ? 'pinned' : comparison?.ok ? 'carbon_aware' : 'provider_preference',
    decision: decisionText(route, by, failed, isAnswer(served)),
    fallback: comparison !== null && !comparison.ok,
    fallback_reason: comparison === null || comparison.ok ? null : comparison.error,
    region: by?.region.code ?? null,
    deployment: by?.deployment.id ?? null,
    attempts: {
      count: attempts,
      failed: failed.map(({ candidate, outcome }) => ({ deployment: candidate.deployment.id, outcome })),
    },
    operational_signal: by ? operationalSignal(route, by, requestedAt) : null,
    candidates: candidatesOf(route, requestedAt),
    ...savingOf(route, served, failed),
  };
}
