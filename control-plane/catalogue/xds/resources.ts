/**
 * Envoy's dynamic configuration, made from the catalogue.
 *
 * Invariant: a version is a hash of its content, so every instance gives the same response, and secrets appear in the
 * response for secrets alone. Catalogues come newest first; of a deployment that several have, the newest one holds.
 */
import { createHash } from 'node:crypto';
import { allFailoverChains } from '@gw/contract/internal/failover-chain';
import { clusterResources, type DeploymentEndpoint, listenerResources, secretResources } from '@gw/envoy/clusters';
import type { Catalogue } from '../read.ts';

/** What Envoy gets of one type of resource. It has the meaning of DiscoveryResponse in the xDS protocol. */
export interface DiscoveryResponse {
  readonly version: string;
  readonly resources: readonly object[];
}

/** Returns the clusters: one for each fail-over chain and for each deployment that any of the catalogues names. */
export const clusterResponse = (catalogues: readonly Catalogue[]): DiscoveryResponse =>
  responseWith(clusterResources(endpoints(catalogues), ordersOf(catalogues)));

export const listenerResponse = (catalogues: readonly Catalogue[]): DiscoveryResponse =>
  responseWith(listenerResources(endpoints(catalogues)));

/** Returns only those secrets that were asked for, that a provider names and that the environment has. */
export function secretResponse(
  catalogues: readonly Catalogue[],
  credentials: ReadonlyMap<string, string>,
  names: readonly string[],
): DiscoveryResponse {
  const providers = catalogues.flatMap((catalogue) => catalogue.providers);
  const refs = new Set(providers.flatMap((provider) => provider.credentialRef ?? []));
  const secrets = [...new Set(names)].sort().flatMap((name) => {
    const value = refs.has(name) ? credentials.get(name) : undefined;
    return value === undefined ? [] : { name, value };
  });
  return responseWith(secretResources(secrets));
}

/** Returns the names of the secrets that the catalogue needs and the environment lacks. */
export function missingCredentials(catalogue: Catalogue, credentials: ReadonlyMap<string, string>): string[] {
  return catalogue.providers.flatMap(({ credentialRef }) =>
    credentialRef !== null && !credentials.has(credentialRef) ? credentialRef : [],
  );
}

function ordersOf(catalogues: readonly Catalogue[]): string[][] {
  const chains = catalogues.flatMap(allFailoverChains).map((chain) => [chain.join('>'), chain] as const);
  return [...new Map(chains).values()];
}

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
    const { kind, baseUrl, authHeader, authScheme, credentialRef } = provider;
    const credential =
      authHeader === null || credentialRef === null
        ? null
        : { header: authHeader, scheme: authScheme, secretName: credentialRef };
    return { id: deployment.id, baseUrl, kind, credential };
  });
}

function responseWith(resources: readonly object[]): DiscoveryResponse {
  const version = createHash('sha256').update(JSON.stringify(resources)).digest('hex').slice(0, 32);
  return { version, resources };
}
