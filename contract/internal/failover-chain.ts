/**
 * Fail-over chains: which deployments a call tries, in which order. The control plane makes an Envoy cluster for each
 * chain and the sidecar names one of them, so both take the chains from here.
 *
 * Invariant: a chain depends on the deployments, the preferences and which regions are active, never on the grid; so a
 * change of the grid needs no new cluster. Neither does a change of one region's status, in a catalogue of few regions: Envoy
 * has the chains of what may be next.
 */
import { offeredTargets, offering, triedFrom } from './alias-targets.ts';
import type { Snapshot, SnapshotDeployment } from './snapshot.ts';

type Offer = Pick<Snapshot, 'aliases' | 'deployments' | 'regions'>;

/** Returns the ids of all deployments of the model: those in `firstRegion` first, then by the preference of their regions. */
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

/** Returns the offer without the regions that take no calls at the moment. */
export function activeOffer(offer: Offer): Offer {
  const active = new Set(offer.regions.filter(({ status }) => status === 'active').map(({ code }) => code));
  return { ...offer, deployments: offer.deployments.filter(({ region }) => active.has(region)) };
}

/** Returns each chain that a call can name, once: over the active regions, and each deployment alone. */
export const namedFailoverChains = (offer: Offer): string[][] => distinct(offer, chainsOf(activeOffer(offer)));

/** Returns each chain that Envoy has to have: those that a call can name, and those that one can name next. */
export function allFailoverChains(offer: Offer): string[][] {
  let chains = known.get(offer);
  if (!chains) {
    const active = activeOffer(offer);
    const ofModels = distinct(offer, [...modelChains(offer), ...modelChains(active)]);
    chains = distinct(offer, [...ofModels, ...aliasChains(offer), ...aliasChains(active)]);
    const areModelsFew = ofModels.length <= fewChains;
    // What models have in advance does not depend on aliases; a snapshot waits for the chains of all, so without it none is of use.
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
/** By the catalogue, which never changes: Envoy asks each second. */
const known = new WeakMap<Offer, string[][]>();
/**
 * Each is a cluster of some 90 KB in Envoy; above this there are none for what may be next. It holds for the chains of models, and for
 * those that aliases add.
 */
const fewChains = 200;

/** Returns them once each, with those of each deployment alone. */
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
  return (offer.aliases ?? []).flatMap((alias) => {
    const targets = offeredTargets(inOrder, alias.targets);
    const all = targets.flat();
    const free = targets.flatMap((own, first) =>
      [...regionsOf(own)].map((code) => triedFrom(targets, first, ({ region }) => region === code)),
    );
    const pinned = [...regionsOf(all)].map((code) => all.filter(({ region }) => region === code));
    return [...free, ...pinned].map((chain) => chain.map(({ id }) => id));
  });
}

/** Each chain is a cluster in Envoy, and there are this many times as many of them for a model. */
const fewRegions = 5;

/** Returns what is active after the status of one region has changed, of the models that few regions serve. */
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
    // What this region does not serve is as before.
    const models = new Set(
      deployments.filter(({ region }) => region === changed).flatMap((each) => Object.keys(each.models)),
    );
    const affected = deployments.map((deployment) => ({
      ...deployment,
      models: Object.fromEntries(Object.entries(deployment.models).filter(([model]) => models.has(model))),
    }));
    return activeOffer({ deployments: affected, regions: regionsAfter(offer, changed) });
  });
}

/** Returns the regions with another status of one of them. */
const regionsAfter = ({ regions }: Offer, changed: string): Snapshot['regions'] =>
  regions.map((region) => {
    if (region.code !== changed) return region;
    return { ...region, status: region.status === 'active' ? ('degraded' as const) : ('active' as const) };
  });

/** The same for the aliases, each over all of its targets together. */
function nextOfAliases(offer: Offer): Offer[] {
  const served = (offer.aliases ?? []).map((alias) => ({
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
