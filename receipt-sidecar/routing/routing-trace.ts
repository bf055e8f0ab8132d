/**
 * Explains a choice of region, and what became of it.
 *
 * Invariant: every region that serves the model, or of an alias the target that was chosen, is a candidate, with the value that was compared or, where none was, the best
 * that is known of its grid; annual averages do not tell one hour from another, so they never steer.
 */

import type { SnapshotGridReading } from '@gw/contract/internal/snapshot';
import type { RoutingTrace } from '@gw/contract/routing-trace';
import { gridProvenance } from '@gw/methodology/grid';
import {
  type AttemptOutcome,
  type FailedAttempt,
  failedBefore,
  outcomeOfStatus,
  verdictOf,
} from '../attempts/failed-attempts.ts';
import { basisOf, kindOf, type LiveSignal } from '../catalogue/grid-signals.ts';
import type { Candidate } from '../catalogue/snapshot.ts';
import { aliasChoice, aliasOutcome } from './alias-words.ts';
import { type Comparison, type FallbackReason, switchMargin } from './compare-regions.ts';
import type { Bar, Route } from './route.ts';

/** How the call was answered. */
export interface Served {
  /** Null if nobody knows who answered. */
  readonly by: Candidate | null;
  /** Envoy's count of tried deployments. */
  readonly attempts: number;
  /** Of the reply, of whoever it is. */
  readonly status: number;
  /** What is known of the attempts that failed. */
  readonly failures: readonly FailedAttempt[];
  /** RFC 3339 */
  readonly requestedAt: string;
  /** The energy of the receipt, Wh; null if it has none. */
  readonly energyWh: number | null;
}

/** Returns the value that was compared, else what is known of the grid at the moment of the call. */
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

const barWords: Readonly<Record<Bar, string>> = {
  region_degraded: 'degraded',
  region_saturated: 'saturated',
  region_decommissioned: 'decommissioned',
  other_region_pinned: 'not pinned',
  tier_not_served: 'reports no measured energy',
  carbon_above_ceiling: 'above the ceiling of carbon',
  failing: 'failing at the moment',
};

const fallbackWords: Readonly<Record<FallbackReason, string>> = {
  no_live_grid_signal: 'no region that can be chosen has a live signal of its grid',
  too_few_live_signals: 'only one region has a live signal of its grid, so there is nothing to compare it with',
  no_comparable_signals: 'the live signals of the regions do not measure the same, so they cannot be compared',
  none_within_tolerance: 'no other region is within the tolerance of the call',
  single_region: 'no other region can be chosen at the moment',
};

const basisWords = { lifecycle: 'life cycle', combustion: 'combustion alone', unknown: 'basis unknown' } as const;

const regionsOf = (candidates: readonly Candidate[]): string[] => [
  ...new Set(candidates.map(({ region }) => region.code)),
];

/** Returns the region that provider preference alone would have chosen. */
const preferredOf = ({ barredBy, offered, pinned }: Route): Candidate | null =>
  pinned ? null : (offered.find((each) => barredBy(each) === null) ?? null);

/** Says why the first deployment of the fail-over chain was chosen. */
function choiceOf(route: Route): string {
  const { comparison, failoverChain, pinned } = route;
  const chosen = failoverChain[0].region.code;
  if (pinned || comparison === null) return `The request pinned the region ${chosen}.`;
  return comparison.ok
    ? carbonChoice(comparison.value)
    : `${preferenceChoice(route)}; ${fallbackWords[comparison.error]}.`;
}

function carbonChoice({ isKept, region, regions, signalOf }: Comparison): string {
  const own = signalOf(region);
  const inOrder = [region, ...regions.filter((code) => code !== region)];
  const values = inOrder.map((code) => `${code} ${signalOf(code)?.reading.gPerKwh}`).join(', ');
  const compared = own && `${values} gCO2e/kWh (${own.kind}, ${basisWords[own.basis]})`;
  return isKept
    ? `${region} stays chosen, since no region is lower in carbon intensity by more than ${switchMargin * 100} %: ${compared}.`
    : `${region} was chosen for the lowest carbon intensity: ${compared}.`;
}

/** Without the full stop. */
function preferenceChoice({ barredBy, failoverChain: [first], offered }: Route): string {
  const chosen = first.region.code;
  const at = offered.findIndex(({ deployment }) => deployment.id === first.deployment.id);
  const before = offered.slice(0, at).filter(({ region }) => region.code !== chosen);
  const passed = new Map(before.map((candidate) => [candidate.region.code, barredBy(candidate)]));
  if (passed.size === 0)
    return `${chosen} comes first in the provider preference among the regions that serve this model`;
  const reasons = [...passed].map(([code, bar]) => (bar === null ? code : `${code} (${barWords[bar]})`));
  return `${chosen} was chosen: it comes next in the provider preference, after ${reasons.join(', ')}`;
}

const outcomeWords: Readonly<Record<AttemptOutcome, string>> = {
  no_connection: ' (no connection)',
  connection_lost: ' (the connection broke)',
  timed_out: ' (no answer in time)',
  rate_limited: ' (rate limited)',
  server_error: ' (an error of the provider)',
  no_credential: ' (no credential)',
  at_capacity: ' (at capacity)',
  unhealthy: ' (unhealthy)',
  failed: '',
};

/** Says what became of the choice; empty if it answered. */
function endOf({ failoverChain: [first] }: Route, { by: served }: Served, failed: readonly Failed[]): string {
  const told = failed.map(({ candidate: { region }, outcome }) => region.code + outcomeWords[outcome]);
  const names = [...new Set(told)].join(', ');
  if (served === null)
    return failed.length > 0 ? ` ${names} failed, and no other region is known to have answered.` : '';
  if (failed.at(-1)?.candidate.deployment.id === served.deployment.id)
    return ` ${names} failed, and no other deployment was tried.`;
  if (served.deployment.id === first.deployment.id) return '';
  const { deployment, region } = served;
  if (region.code !== first.region.code)
    return ` ${names || first.region.code} failed, and ${region.code}, which comes next, answered.`;
  const why = failed[0] ? outcomeWords[failed[0].outcome] : '';
  return ` Its deployment ${first.deployment.id} did not answer${why}; ${deployment.id} of the same region did.`;
}

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

type Saving = Pick<RoutingTrace, 'estimated_saving_g' | 'counterfactual'>;

/**
 * The carbon that the same energy would have caused where provider preference alone would have sent the call, less what it caused
 * where it was served. Null if the two cannot be compared, or if that region was tried first and failed.
 */
function savingOf(route: Route, { by, energyWh, requestedAt }: Served, failed: readonly Failed[]): Saving {
  const preferred = preferredOf(route);
  if (!preferred) return { estimated_saving_g: null, counterfactual: null };
  const value = readingOf(route, preferred, new Date(requestedAt))?.gPerKwh ?? null;
  const counterfactual = { region: preferred.region.code, g_per_kwh: value };
  const unknown: Saving = { estimated_saving_g: null, counterfactual };
  if (!by) return unknown;
  if (by.region.code === preferred.region.code) return { estimated_saving_g: 0, counterfactual };
  const signalOfRegion = route.comparison?.ok ? route.comparison.value.signalOf : () => null;
  const [own, its] = [signalOfRegion(by.region.code), signalOfRegion(preferred.region.code)];
  const hasFailed = failed.some(({ candidate }) => candidate.region.code === preferred.region.code);
  if (!own || !its || hasFailed || energyWh === null) return unknown;
  const grams = (energyWh / 1000) * (its.reading.gPerKwh - own.reading.gPerKwh);
  return { estimated_saving_g: Number(grams.toPrecision(12)), counterfactual };
}

const isAnswer = (status: number): boolean => verdictOf(status, undefined).result === 'answered';

interface Failed {
  readonly candidate: Candidate;
  readonly outcome: AttemptOutcome;
}

/** Returns the attempts that failed, in their order; the last one is among them if it was answered by a failure, or by Envoy alone. */
function failedOf({ failoverChain }: Route, { attempts, by, failures, status }: Served): Failed[] {
  const before = failedBefore(failoverChain, by?.deployment.id ?? null, attempts);
  const last = isAnswer(status) ? null : (by ?? failoverChain[attempts - 1] ?? null);
  const outcomeOf = ({ deployment: { id } }: Candidate) =>
    failures.find(({ deployment }) => deployment === id)?.outcome;
  const failed = before.map((candidate) => ({ candidate, outcome: outcomeOf(candidate) ?? ('failed' as const) }));
  if (last === null) return failed;
  // Envoy's own 502 and 503 say less than a provider's.
  const outcome = outcomeOf(last) ?? (by === null && status !== 504 ? 'failed' : outcomeOfStatus(status));
  return [...failed, { candidate: last, outcome }];
}

/** Makes the trace. */
export function routingTrace(route: Route, served: Served): RoutingTrace {
  const { comparison, pinned } = route;
  const { attempts, by, requestedAt, status } = served;
  const failed = failedOf(route, served);
  return {
    policy: pinned ? 'pinned' : comparison?.ok ? 'carbon_aware' : 'provider_preference',
    decision:
      aliasChoice(route) + choiceOf(route) + endOf(route, served, failed) + aliasOutcome(route, by, isAnswer(status)),
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
