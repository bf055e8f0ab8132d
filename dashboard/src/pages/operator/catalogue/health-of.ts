/** The current health of a deployment, as far as the control plane can tell. */
import type { Credential, Deployment, DeploymentHealth, Provider, Region } from '../../../api/types.ts';
import { time } from '../../../words/format.ts';
import { words } from '../../../words/operator-words.ts';
import { credentialState } from './credential-state.ts';

export interface Finding {
  readonly color: 'green' | 'orange' | 'red' | 'gray';
  readonly label: string;
  readonly hint?: string;
}

/** `undefined`: not read yet. */
export interface KnownState {
  readonly regions: readonly Pick<Region, 'code' | 'status'>[] | undefined;
  readonly providers: readonly Pick<Provider, 'id' | 'base_url' | 'credential_ref'>[] | undefined;
  readonly credentials: readonly Credential[] | undefined;
  readonly health: DeploymentHealth | undefined;
}

const { findings: labels } = words.catalogue;
const ofStatus: Readonly<Record<Exclude<Region['status'], 'active'>, Finding>> = {
  degraded: { color: 'orange', label: labels.incident },
  saturated: { color: 'orange', label: labels.saturatedRegion },
  decommissioned: { color: 'gray', label: labels.decommissioned },
};

export function healthOf(
  { id, models, provider, region }: Pick<Deployment, 'id' | 'models' | 'provider' | 'region'>,
  { credentials, health, providers, regions }: KnownState,
): readonly Finding[] {
  const found: Finding[] = [];
  const status = regions?.find(({ code }) => code === region)?.status ?? 'active';
  if (status !== 'active') found.push(ofStatus[status]);
  if (Object.keys(models).length === 0) found.push({ color: 'gray', label: labels.offersNothing });
  const asked = providers?.find((each) => each.id === provider);
  if (asked && credentials && !['none', 'set'].includes(credentialState(asked, credentials)))
    found.push({ color: 'red', label: labels.credential });
  for (const { deployment, failed_at, failures, model, status: trouble } of health?.data ?? [])
    if (deployment === id)
      found.push({
        color: 'red',
        label: labels[trouble],
        hint: words.catalogue.troubleHint(model, failures, time(failed_at)),
      });
  if (health === undefined) return found;
  if (!health.known) found.push({ color: 'gray', label: labels.unknown, hint: words.catalogue.unknownHint });
  return found.length > 0 ? found : [{ color: 'green', label: labels.well }];
}
