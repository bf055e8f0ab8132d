/** Writes the `decision` of a routing trace: why the first deployment was chosen, and which deployment answered in the end. */
import type { AttemptOutcome } from '../attempts/attempt-outcome.ts';
import type { Candidate } from '../catalogue/snapshot.ts';
import type { Comparison, FallbackReason } from './compare-regions.ts';
import type { ExclusionReason, PassedTarget } from './exclusion.ts';
import type { Route } from './route.ts';

export interface FailedCandidate {
  readonly candidate: Candidate;
  readonly outcome: AttemptOutcome;
}

/**
 * `served`: the deployment that answered, null if it is unknown; `failed`: the attempts that failed, in their order; `hasAnswered`: whether
 * the reply is no failure.
 */
export function decisionText(
  route: Route,
  served: Candidate | null,
  failed: readonly FailedCandidate[],
  hasAnswered: boolean,
): string {
  return (
    aliasChoice(route) +
    choiceOf(route) +
    deploymentChoice(route) +
    endOf(route, served, failed, hasAnswered) +
    aliasOutcome(route, served, hasAnswered)
  );
}

const barWords: Readonly<Record<ExclusionReason, string>> = {
  region_degraded: 'degraded',
  region_saturated: 'saturated',
  region_decommissioned: 'decommissioned',
  other_region_pinned: 'not pinned',
  api_not_spoken: 'does not speak the API of the call',
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

function choiceOf(route: Route): string {
  const { comparison, failoverChain, pinned } = route;
  const chosen = failoverChain[0].region.code;
  if (pinned || comparison === null) return `The request pinned the region ${chosen}.`;
  return comparison.ok
    ? carbonChoice(comparison.value)
    : `${preferenceChoice(route)}; ${fallbackWords[comparison.error]}.`;
}

function carbonChoice({ ranked, region }: Comparison): string {
  const [first] = ranked;
  const values = ranked.map(({ grams, region: code, signal: { reading } }) => {
    return `${code} ${Number(grams.toPrecision(3))} g at ${reading.gPerKwh} gCO2e/kWh`;
  });
  const scale = first && ` (${first.signal.kind}, ${basisWords[first.signal.basis]})`;
  return `${region} was chosen for the lowest estimated carbon of this call: ${values.join(', ')}${scale}.`;
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

/** Says which deployment of the region the call began at; '' if there was no choice. */
function deploymentChoice({ failoverChain: [first], shared }: Route): string {
  if (shared === null) return '';
  const { id } = first.deployment;
  const { affinity, among, by } = shared;
  if (by === 'affinity') return ` Calls with the same ${affinity} begin at its deployment ${id}.`;
  const load = ` ${id} was next of its ${among.length} deployments by weight and calls under way.`;
  return affinity === null ? load : `${load} The one for this ${affinity} has too much to do.`;
}

const outcomeWords: Readonly<Record<AttemptOutcome, string>> = {
  no_connection: ' (no connection)',
  connection_lost: ' (the connection broke)',
  timed_out: ' (no answer in time)',
  rate_limited: ' (rate limited)',
  server_error: ' (an error of the provider)',
  auth_failed: ' (it refused the credential)',
  quota_exhausted: ' (no credit left)',
  model_missing: ' (it does not have the model)',
  no_credential: ' (no credential)',
  at_capacity: ' (at capacity)',
  unhealthy: ' (unhealthy)',
  not_ready: ' (not known to Envoy yet)',
  failed: '',
};

/** Returns '' if the first deployment answered. */
function endOf(
  { failoverChain: [first] }: Route,
  served: Candidate | null,
  failed: readonly FailedCandidate[],
  hasAnswered: boolean,
): string {
  const told = failed.map(({ candidate: { region }, outcome }) => region.code + outcomeWords[outcome]);
  const names = [...new Set(told)].join(', ');
  if (served === null)
    return failed.length > 0 ? ` ${names} failed, and no other region is known to have answered.` : '';
  const isLast = failed.at(-1)?.candidate.deployment.id === served.deployment.id;
  if (isLast && hasAnswered) return ` ${names} failed, was sent the call once more, and answered.`;
  if (isLast) return ` ${names} failed, and no other deployment was tried.`;
  if (served.deployment.id === first.deployment.id) return '';
  const { deployment, region } = served;
  if (region.code !== first.region.code)
    return ` ${names || first.region.code} failed, and ${region.code}, which comes next, answered.`;
  const why = failed[0] ? outcomeWords[failed[0].outcome] : '';
  return ` Its deployment ${first.deployment.id} did not answer${why}; ${deployment.id} of the same region did.`;
}

const passedWords: Readonly<Record<PassedTarget['why'], string>> = {
  region_degraded: 'its region is degraded',
  region_saturated: 'its region is saturated',
  region_decommissioned: 'its region is decommissioned',
  api_not_spoken: 'does not speak the API of the call',
  tier_not_served: 'does not have the tier that was asked for',
  carbon_above_ceiling: 'is above the ceiling of carbon',
  failing: 'failing at the moment',
  not_deployed: 'nothing serves it',
};

/** The receipt names the model that answered, so only this text tells which alias the call named; '' if it named a model. */
function aliasChoice({ alias, failoverChain: [first], model, passed, pinned }: Route): string {
  if (alias === null) return '';
  const asked = `The alias ${alias} was asked for, and ${model.id} at ${first.deployment.provider} was chosen`;
  if (pinned) return `${asked}, the first of it in that region that can serve the call. `;
  const before = passed.map(({ name, why }) => `${name} (${passedWords[why]})`).join(', ');
  return before === '' ? `${asked}, which comes first. ` : `${asked}, which comes next after ${before}. `;
}

/** Returns '' unless another model of the alias answered. */
function aliasOutcome({ alias, model, modelOf }: Route, served: Candidate | null, hasAnswered: boolean): string {
  if (alias === null || served === null || !hasAnswered) return '';
  const { id } = modelOf(served);
  return id === model.id ? '' : ` ${model.id} did not answer; ${id} of the same alias did.`;
}
