/**
 * Envoy's dynamic configuration, made from the catalogue.
 *
 * Invariant: a version is a hash of its content, so every instance gives the same response, and secrets appear in the
 * response for secrets alone. Catalogues come newest first; of a deployment that several have, the newest one holds.
 */
import { createHash } from 'node:crypto';
import { type DeploymentPlace, leafClusters, leafName, probeClusters, secretResources } from '@gw/envoy/clusters';
import { type DeploymentEndpoint, listenerResources } from '@gw/envoy/deployment-listener';
import { attemptClusters, canBeFirst, firstAttemptName } from '@gw/envoy/first-attempt';
import type { CredentialView } from '../credentials/credentials.ts';
import type { Catalogue } from '../snapshot/read.ts';

/** The resources of one type that Envoy gets, in the form of xDS's DiscoveryResponse. */
export interface DiscoveryResponse {
  readonly version: string;
  readonly resources: readonly object[];
}

/**
 * Returns the clusters of each deployment that any of the catalogues names. Those of `newPlaces`
 * have no health check yet: Envoy would not use them before the first is answered, and a listener may lead there sooner.
 */
export const clusterResponse = (
  catalogues: readonly Catalogue[],
  formerPlaces: readonly DeploymentPlace[],
  newPlaces: ReadonlySet<string>,
): DiscoveryResponse => {
  const current = endpoints(catalogues).map((each) =>
    newPlaces.has(leafName(each)) ? { ...each, healthPath: null } : each,
  );
  const names = new Set(current.map(leafName));
  const former = new Map(formerPlaces.map((place) => [leafName(place), place]));
  const left = [...former].flatMap(([name, place]) => (names.has(name) ? [] : place));
  return responseWith([
    ...leafClusters(left, current),
    ...attemptClusters(firstAttempts(catalogues), current),
    ...probeClusters(catalogues[0]?.providers ?? []),
  ]);
};

/** One for each place that a service can still name, as the newest catalogue has it. */
function firstAttempts(catalogues: readonly Catalogue[]): DeploymentEndpoint[] {
  const able = catalogues
    .flatMap(endpointsOf)
    .filter((each) => canBeFirst({ ...each, authHeader: each.credential?.header ?? null }));
  return [...new Map(able.toReversed().map((each) => [firstAttemptName(each), each])).values()];
}

export const listenerResponse = (catalogues: readonly Catalogue[]): DiscoveryResponse =>
  responseWith(listenerResources(endpoints(catalogues)));

/** The origin is in the name, so that a credential is bound to where it goes. */
const secretNameOf = (credentialRef: string, baseUrl: string): string => `${credentialRef}@${new URL(baseUrl).origin}`;

/**
 * Returns the secrets that were asked for. One that nobody has given is empty, which Envoy takes for none; were it left out, Envoy
 * would go on with the one before. Null if no provider names one of them: another instance may know of a newer catalogue, so
 * Envoy is to ask again.
 */
export function secretResponse(
  catalogues: readonly Catalogue[],
  credentials: CredentialView,
  names: readonly string[],
): DiscoveryResponse | null {
  const secrets = [];
  for (const name of [...new Set(names)].sort()) {
    const provider = providerNaming(name, catalogues);
    if (provider === undefined) return null;
    secrets.push({ name, value: credentials.find(String(provider.credentialRef), provider.baseUrl) ?? '' });
  }
  return responseWith(secretResources(secrets));
}

/** Envoy asks for each secret each second, so only what can be it is looked at. */
const providerNaming = (name: string, catalogues: readonly Catalogue[]) =>
  catalogues
    .flatMap(({ providers }) => providers)
    .find(
      ({ baseUrl, credentialRef }) =>
        credentialRef !== null && name.startsWith(`${credentialRef}@`) && name === secretNameOf(credentialRef, baseUrl),
    );

function endpoints(catalogues: readonly Catalogue[]): DeploymentEndpoint[] {
  const byId = new Map<string, DeploymentEndpoint>();
  for (const endpoint of catalogues.flatMap(endpointsOf)) if (!byId.has(endpoint.id)) byId.set(endpoint.id, endpoint);
  return [...byId.values()];
}

function endpointsOf(catalogue: Catalogue): DeploymentEndpoint[] {
  const providers = new Map(catalogue.providers.map((provider) => [provider.id, provider]));
  return catalogue.deployments.flatMap((deployment) => {
    const provider = providers.get(deployment.provider);
    if (provider === undefined) return [];
    const { kind, baseUrl, ca, path, headers, healthPath, authHeader, authScheme, credentialRef } = provider;
    const credential =
      authHeader === null || credentialRef === null
        ? null
        : {
            header: authHeader,
            scheme: authScheme,
            secretName: secretNameOf(credentialRef, baseUrl),
          };
    const { id, maxConcurrentRequests } = deployment;
    return { id, baseUrl, ca, maxConcurrentRequests, healthPath, path, headers, kind, credential };
  });
}

function responseWith(resources: readonly object[]): DiscoveryResponse {
  const version = createHash('sha256').update(JSON.stringify(resources)).digest('hex').slice(0, 32);
  return { version, resources };
}
