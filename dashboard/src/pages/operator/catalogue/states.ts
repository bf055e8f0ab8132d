/** The states of catalogue entries that pages derive from what the API says: health, credentials, coverage and prices. */
import type { Credential, Deployment, DeploymentHealth, Price, Provider, Region } from '../../../api/types.ts';
import { time } from '../../../words/format.ts';
import { words } from '../../../words/operator-words.ts';

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
  degraded: { color: 'orange', label: 'region in incident mode' },
  saturated: { color: 'orange', label: 'region saturated' },
  decommissioned: { color: 'gray', label: 'region decommissioned' },
};

/** Returns the current health of a deployment, as far as the control plane can tell. */
export function healthOf(
  { id, models, provider, region }: Pick<Deployment, 'id' | 'models' | 'provider' | 'region'>,
  { credentials, health, providers, regions }: KnownState,
): readonly Finding[] {
  const found: Finding[] = [];
  const status = regions?.find(({ code }) => code === region)?.status ?? 'active';
  if (status !== 'active') found.push(ofStatus[status]);
  if (Object.keys(models).length === 0) found.push({ color: 'gray', label: 'offers no model' });
  const asked = providers?.find((each) => each.id === provider);
  if (asked && credentials && !['none', 'set'].includes(credentialState(asked, credentials)))
    found.push({ color: 'red', label: 'credential missing' });
  for (const { deployment, failed_at, failures, model, status: trouble } of health?.data ?? [])
    if (deployment === id)
      found.push({
        color: 'red',
        label: labels[trouble],
        hint: `${model}: ${failures} calls in a row failed, the last at ${time(failed_at)}.`,
      });
  if (health === undefined) return found;
  if (!health.known)
    found.push({
      color: 'gray',
      label: 'not known',
      hint: 'Valkey is unavailable, so what calls have found is unknown.',
    });
  return found.length > 0 ? found : [{ color: 'green', label: 'no trouble known' }];
}

export type CredentialState = 'none' | 'set' | 'missing' | 'elsewhere' | 'unreadable';
type KnownCredential = Pick<Credential, 'name' | 'origin' | 'readable'>;

/** Whether calls to a provider get its credential, and why not: one that was set goes to its own address alone. */
export function credentialState(
  { base_url, credential_ref: name }: Pick<Provider, 'base_url' | 'credential_ref'>,
  credentials: readonly KnownCredential[],
): CredentialState {
  if (name === null) return 'none';
  const known = credentials.find((each) => each.name === name);
  if (known === undefined) return 'missing';
  if (!known.readable) return 'unreadable';
  return known.origin === null || known.origin === new URL(base_url).origin ? 'set' : 'elsewhere';
}

/** Returns the ids of models that no active region but this one serves. */
export function servedAlone(
  code: string,
  regions: readonly Pick<Region, 'code' | 'status'>[],
  deployments: readonly Pick<Deployment, 'models' | 'region'>[],
): readonly string[] {
  const others = new Set(regions.filter((each) => each.status === 'active' && each.code !== code).map((r) => r.code));
  const offeredIn = (isThere: (region: string) => boolean) =>
    new Set(deployments.filter(({ region }) => isThere(region)).flatMap(({ models }) => Object.keys(models)));
  const elsewhere = offeredIn((region) => others.has(region));
  return [...offeredIn((region) => region === code)].filter((id) => !elsewhere.has(id)).sort();
}

export type PriceState = 'now' | 'later' | 'over';
type Dated = Pick<Price, 'id' | 'provider' | 'model' | 'region' | 'valid_from'>;

/** Returns by id which prices hold at `at` (ms since 1970): of each provider, model and region the newest that has begun. */
export function priceStates(prices: readonly Dated[], at: number): ReadonlyMap<string, PriceState> {
  const newest = new Map<string, Dated>();
  const groupOf = ({ model, provider, region }: Dated): string => [provider, region ?? '*', model].join(' ');
  const hasBegun = ({ valid_from }: Dated): boolean => Date.parse(valid_from) <= at;
  for (const price of prices.filter(hasBegun)) {
    const other = newest.get(groupOf(price));
    if (other === undefined || other.valid_from < price.valid_from) newest.set(groupOf(price), price);
  }
  return new Map(
    prices.map((price) => {
      if (!hasBegun(price)) return [price.id, 'later'];
      return [price.id, newest.get(groupOf(price)) === price ? 'now' : 'over'];
    }),
  );
}
