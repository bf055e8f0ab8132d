/**
 * Fail-over chains: the deployments that a call tries, in order. The control plane makes an Envoy cluster for each chain and the
 * sidecar names one of them, so both compute the chains here.
 *
 * Invariant: a chain depends on the deployments, the preferences and the active regions, never on the grid, so that a change of the
 * grid needs no new cluster. In a catalogue with few regions, neither does a change of one region's status: Envoy has the chains
 * for these states in advance.
 */
import { offeredTargets, offering, triedFrom } from './alias-targets.ts';
import type { Snapshot, SnapshotDeployment } from './snapshot.ts';

type Offer = Pick<Snapshot, 'aliases' | 'deployments' | 'regions'>;

/** Returns the ids of all deployments of the model: first those in `firstRegion`, then by the preference of their regions. */
export function failoverChain(offer: Offer, modelId: string, firstRegion: string): string[] {
  const rank = rankOf(offer, firstRegion);
  return serving(offer, modelId)
    .sort((a, b) => rank(a.region) - rank(b.region) || (a.id < b.id ? -1 : 1))
    .map((deployment) => deployment.id);
}

/** Returns the ids of the model's deployments in one region: a pinned call never leaves it. */
export function pinnedChain(offer: Offer, modelId: string, region: string): string[] {
  const own = new Set(serving(offer, modelId).flatMap((each) => (each.region === region ? each.id : [])));
  return failoverChain(offer, modelId, region).filter((id) => own.has(id));
}

/** Returns the deployments by the preference of their regions. */
export function inPreference(offer: Offer): SnapshotDeployment[] {
  const rank = rankOf(offer, '');
  return offer.deployments.toSorted((a, b) => rank(a.region) - rank(b.region) || (a.id < b.id ? -1 : 1));
}

const regionsOf = (deployments: readonly SnapshotDeployment[]): Set<string> =>
  new Set(deployments.map(({ region }) => region));

/** Returns the offer without inactive regions. */
export function activeOffer(offer: Offer): Offer {
  const active = new Set(offer.regions.filter(({ status }) => status === 'active').map(({ code }) => code));
  return { ...offer, deployments: offer.deployments.filter(({ region }) => active.has(region)) };
}

/** Returns every distinct chain that a call can name: over the active regions, and each deployment alone. */
export const namedFailoverChains = (offer: Offer): string[][] => distinct(offer, chainsOf(activeOffer(offer)));

/** Returns every chain that Envoy needs: those that a call can name now, and those after a change of one region's status. */
export function allFailoverChains(offer: Offer): string[][] {
  let chains = known.get(offer);
  if (!chains) {
    const active = activeOffer(offer);
    const ofModels = distinct(offer, [...modelChains(offer), ...modelChains(active)]);
    chains = distinct(offer, [...ofModels, ...aliasChains(offer), ...aliasChains(active)]);
    const areModelsFew = ofModels.length <= fewChains;
    // Aliases do not affect the chains of models in advance. A snapshot waits for both, so aliases need those of the models too.
    const areAliasesFew = areModelsFew && chains.length - ofModels.length <= fewChains;
    const next = [
      ...(areModelsFew ? nextOffers(offer).flatMap(modelChains) : []),
      ...(areAliasesFew ? nextOfAliases(offer).flatMap(aliasChains) : []),
    ];
    if (next.length > 0) chains = distinct(offer, [...chains, ...next]);
    known.set(offer, chains);
  }
  return chains;
}
/** Keyed by the immutable catalogue, since Envoy asks every second. */
const known = new WeakMap<Offer, string[][]>();
/**
 * Above this there are no chains in advance, since each is a cluster of some 90 KB in Envoy. It limits the chains of models and those
 * that aliases add separately.
 */
const fewChains = 200;

/** Removes duplicates and adds the chain of each deployment alone. */
function distinct({ deployments }: Offer, chains: readonly string[][]): string[][] {
  const all = [...deployments.map(({ id }) => [id]), ...chains].filter((chain) => chain.length > 0);
  return [...new Map(all.map((chain) => [chain.join('>'), chain])).values()];
}

const chainsOf = (offer: Offer): string[][] => [...modelChains(offer), ...aliasChains(offer)];

function modelChains(offer: Offer): string[][] {
  const modelIds = new Set(offer.deployments.flatMap((deployment) => Object.keys(deployment.models)));
  return [...modelIds].flatMap((modelId) =>
    serving(offer, modelId).flatMap(({ region }) => [
      failoverChain(offer, modelId, region),
      pinnedChain(offer, modelId, region),
    ]),
  );
}

/** Returns the chains of calls that name an alias: from each region of each target, and within each region. */
function aliasChains(offer: Offer): string[][] {
  const inOrder = inPreference(offer);
  return offer.aliases.flatMap((alias) => {
    const targets = offeredTargets(inOrder, alias.targets);
    const all = targets.flat();
    const free = targets.flatMap((own, first) =>
      [...regionsOf(own)].map((code) => triedFrom(targets, first, ({ region }) => region === code)),
    );
    const pinned = [...regionsOf(all)].map((code) => all.filter(({ region }) => region === code));
    return [...free, ...pinned].map((chain) => chain.map(({ id }) => id));
  });
}

/** The chains in advance multiply the clusters of a model by the number of its regions. */
const fewRegions = 5;

/** Returns the active offers after a change of one region's status, limited to models in few regions. */
function nextOffers(offer: Offer): Offer[] {
  const models = [...new Set(offer.deployments.flatMap((deployment) => Object.keys(deployment.models)))];
  const regionsOf = (model: string) => new Set(serving(offer, model).map(({ region }) => region));
  const few = new Set(models.filter((model) => regionsOf(model).size <= fewRegions));
  if (few.size === 0) return [];
  const isFew = ([model]: readonly [string, string]) => few.has(model);
  const deployments = offer.deployments.map((deployment) => ({
    ...deployment,
    models: Object.fromEntries(Object.entries(deployment.models).filter(isFew)),
  }));
  return [...new Set(deployments.map(({ region }) => region))].map((changed) => {
    // Only models in the changed region get new chains.
    const models = new Set(
      deployments.filter(({ region }) => region === changed).flatMap((each) => Object.keys(each.models)),
    );
    const affected = deployments.map((deployment) => ({
      ...deployment,
      models: Object.fromEntries(Object.entries(deployment.models).filter(([model]) => models.has(model))),
    }));
    return activeOffer({ deployments: affected, regions: regionsAfter(offer, changed), aliases: [] });
  });
}

/** Returns the regions with the status of one of them changed. */
const regionsAfter = ({ regions }: Offer, changed: string): Snapshot['regions'] =>
  regions.map((region) => {
    if (region.code !== changed) return region;
    return { ...region, status: region.status === 'active' ? ('degraded' as const) : ('active' as const) };
  });

/** Like `nextOffers` for aliases, each with all of its targets. */
function nextOfAliases(offer: Offer): Offer[] {
  const served = offer.aliases.map((alias) => ({
    alias,
    own: offeredTargets(offer.deployments, alias.targets).flat(),
  }));
  const few = served.filter(({ own }) => regionsOf(own).size <= fewRegions);
  return [...new Set(few.flatMap(({ own }) => [...regionsOf(own)]))].map((changed) => {
    const affected = few.filter(({ own }) => regionsOf(own).has(changed));
    const aliases = affected.map(({ alias }) => alias);
    return activeOffer({ ...offer, regions: regionsAfter(offer, changed), aliases });
  });
}

const serving = ({ deployments }: Offer, modelId: string): SnapshotDeployment[] => offering(deployments, modelId);

function rankOf(offer: Offer, firstRegion: string): (region: string) => number {
  const byPreference = [...offer.regions].sort((a, b) => a.preference - b.preference || (a.code < b.code ? -1 : 1));
  const ranks = new Map(byPreference.map((region, index) => [region.code, index]));
  return (region) => (region === firstRegion ? -1 : (ranks.get(region) ?? byPreference.length));
}
