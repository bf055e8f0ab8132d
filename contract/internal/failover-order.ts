/**
 * In which order deployments are tried. The control plane makes an Envoy cluster for each of these orders and the
 * sidecar names one of them, so both take them from here.
 *
 * Invariant: an order depends on the deployments, the preferences and which regions are active, never on the grid; so a
 * change of the grid needs no new cluster. After a change of a region's status Envoy has the new orders within a second.
 */
import type { Snapshot, SnapshotDeployment } from './snapshot.ts';

type Offer = Pick<Snapshot, 'deployments' | 'regions'>;

/** Every deployment of the model: those in `firstRegion` first, then by the provider preference of their regions. */
export function failoverOrder(offer: Offer, modelId: string, firstRegion: string): string[] {
  const rank = rankOf(offer, firstRegion);
  return serving(offer, modelId)
    .sort((a, b) => rank(a.region) - rank(b.region) || (a.id < b.id ? -1 : 1))
    .map((deployment) => deployment.id);
}

/** The deployments of the model in one region: a pinned call never leaves it. */
export function pinnedOrder(offer: Offer, modelId: string, region: string): string[] {
  return failoverOrder(offer, modelId, region).filter((id) =>
    offer.deployments.some((deployment) => deployment.id === id && deployment.region === region),
  );
}

/** The offer without the regions that take no calls at the moment. */
export function activeOffer(offer: Offer): Offer {
  const active = new Set(offer.regions.filter(({ status }) => status === 'active').map(({ code }) => code));
  return { ...offer, deployments: offer.deployments.filter(({ region }) => active.has(region)) };
}

/** Every order that can be asked for, over all regions and over the active ones, and each deployment alone; without repetition. */
export function allOrders(offer: Offer): string[][] {
  const orders = new Map<string, string[]>();
  const add = (order: string[]): void => void (order.length > 0 && orders.set(order.join('>'), order));
  for (const { id } of offer.deployments) add([id]);
  for (const part of [offer, activeOffer(offer)]) {
    const modelIds = new Set(part.deployments.flatMap((deployment) => Object.keys(deployment.models)));
    for (const modelId of modelIds) {
      for (const { region } of serving(part, modelId)) {
        add(failoverOrder(part, modelId, region));
        add(pinnedOrder(part, modelId, region));
      }
    }
  }
  return [...orders.values()];
}

function serving(offer: Offer, modelId: string): SnapshotDeployment[] {
  return offer.deployments.filter((deployment) => Object.hasOwn(deployment.models, modelId));
}

function rankOf(offer: Offer, firstRegion: string): (region: string) => number {
  const byPreference = [...offer.regions].sort((a, b) => a.preference - b.preference || (a.code < b.code ? -1 : 1));
  const ranks = new Map(byPreference.map((region, index) => [region.code, index]));
  return (region) => (region === firstRegion ? -1 : (ranks.get(region) ?? byPreference.length));
}
