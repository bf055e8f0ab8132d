/** What the trace of a call says of the alias that it named: its receipt names the model that answered, and nothing else does. */

import type { Candidate } from '../catalogue/snapshot.ts';
import type { Passed, Route } from './route.ts';

const passedWords: Readonly<Record<Passed['why'], string>> = {
  region_degraded: 'its region is degraded',
  region_saturated: 'its region is saturated',
  region_decommissioned: 'its region is decommissioned',
  tier_not_served: 'does not have the tier that was asked for',
  carbon_above_ceiling: 'is above the ceiling of carbon',
  failing: 'failing at the moment',
  not_deployed: 'nothing serves it',
};

/** Says which model of the alias was chosen; empty if the call named a model. A space follows. */
export function aliasChoice({ alias, failoverChain: [first], model, passed, pinned }: Route): string {
  if (alias === null) return '';
  const asked = `The alias ${alias} was asked for, and ${model.id} at ${first.deployment.provider} was chosen`;
  if (pinned) return `${asked}, the first of it in that region that can serve the call. `;
  const before = passed.map(({ name, why }) => `${name} (${passedWords[why]})`).join(', ');
  return before === '' ? `${asked}, which comes first. ` : `${asked}, which comes next after ${before}. `;
}

/** Says which other model answered; empty if none did. `hasAnswered`: whether the reply is no failure. */
export function aliasOutcome({ alias, model, modelOf }: Route, served: Candidate | null, hasAnswered: boolean): string {
  if (alias === null || served === null || !hasAnswered) return '';
  const { id } = modelOf(served);
  return id === model.id ? '' : ` ${model.id} did not answer; ${id} of the same alias did.`;
}
