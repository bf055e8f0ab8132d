/**
 * Fail-over chains: which deployments a call tries, in which order. The control plane makes an Envoy cluster for each
 * chain and the sidecar names one of them, so both take the chains from here.
 *
 * Invariant: a chain depends on the deployments, the preferences and which regions are active, never on the grid; so a
 * change of the grid needs no new cluster. After a change of a region's status Envoy has the new chains within a second.
 */
import type { Snapshot, SnapshotDeployment } from './snapshot.ts';

type Offer = Pick<Snapshot, 'deployments' | 'regions'>;

/** Returns the ids of all deployments of the model: those in `firstRegion` first, then by the preference of their regions. */
export function failoverChain(offer: Offer, modelId: string, firstRegion: string): string[] {
  const rank = rankOf(offer, firstRegion);
  return serving(offer, modelId)
    .sort((a, b) => rank(a.region) - rank(b.region) || (a.id < b.id ? -1 : 1))
    .map((deployment) => deployment.id);
}

/** Returns the ids of the model's deployments in one region: a pinned call never leaves it. */
export function pinnedChain(offer: Offer, modelId: string, region: string): string[] {
  return failoverChain(offer, modelId, region).filter((id) =>
    offer.deployments.some((deployment) => deployment.id === id && deployment.region === region),
  );
}

/** Returns the offer without the regions that take no calls at the moment. */
export function activeOffer(offer: Offer): Offer {
  const active = new Set(offer.regions.filter(({ status }) => status === 'active').map(({ code }) => code));
  return { ...offer, deployments: offer.deployments.filter(({ region }) => active.has(region)) };
}

/** Returns each chain that a call can name once: over all regions, over the active ones, and each deployment alone. */
export function allFailoverChains(offer: Offer): string[][] {
  const chains = new Map<string, string[]>();
  const add = (chain: string[]): void => void (chain.length > 0 && chains.set(chain.join('>'), chain));
  for (const { id } of offer.deployments) add([id]);
  for (const part of [offer, activeOffer(offer)]) {
    const modelIds = new Set(part.deployments.flatMap((deployment) => Object.keys(deployment.models)));
    for (const modelId of modelIds) {
      for (const { region } of serving(part, modelId)) {
        add(failoverChain(part, modelId, region));
        add(pinnedChain(part, modelId, region));
      }
    }
  }
  return [...chains.values()];
}

function serving(offer: Offer, modelId: string): SnapshotDeployment[] {
  return offer.deployments.filter((deployment) => Object.hasOwn(deployment.models, modelId));
}

function rankOf(offer: Offer, firstRegion: string): (region: string) => number {
  const byPreference = [...offer.regions].sort((a, b) => a.preference - b.preference || (a.code < b.code ? -1 : 1));
  const ranks = new Map(byPreference.map((region, index) => [region.code, index]));
  return (region) => (region === firstRegion ? -1 : (ranks.get(region) ?? byPreference.length));
}
