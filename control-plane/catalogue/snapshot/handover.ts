/**
 * From one catalogue to the next without a call in between that names what Envoy does not have.
 *
 * Invariant: a snapshot is published once each cluster that a call can name by it has been in the answers to Envoy for
 * as long as every Envoy and every other instance needs to ask, and each Envoy that asks here has taken it up; and what it names no more
 * stays in the answers until no service can name it. An Envoy that refuses an answer holds a snapshot up for ten seconds, no longer.
 */
import { firstAttemptCluster, listenerCluster } from '@gw/contract/internal/first-attempt';
import type { Snapshot } from '@gw/contract/internal/snapshot';
import { type DeploymentPlace, leafName } from '@gw/envoy/clusters';
import type { Catalogue } from './read.ts';
import { openUptake } from './uptake.ts';

type Offer = Pick<Snapshot, 'deployments'>;

export interface Handover {
  /** Takes the newest catalogue that was read; Envoy gets it from now on. */
  took(catalogue: Catalogue): void;
  /** Notes that an Envoy asks that has this version of the resources, and would get the current one. */
  asked(resources: string, version: string | undefined, current: string): void;
  /** Whether `next` can be published. `before` is what services have; null if they have none. */
  mayPublish(next: Offer, before: Offer | null): boolean;
  /** Notes that services have this version, or get it at this moment. */
  published(version: number): void;
  /** Returns the catalogues that Envoy gets beside the newest, newer ones first. */
  retiring(): readonly Catalogue[];
  /** Returns where deployments were that have moved or gone since, as far as Envoy can still lead there. */
  formerPlaces(): readonly DeploymentPlace[];
  /** Returns the clusters of places that not every Envoy may have yet: a new one with a health check takes calls only after that. */
  newPlaces(): ReadonlySet<string>;
}

/** How long every instance and every Envoy needs to ask: both do each second, and the rest is reserve. */
const settleMs = 2000;
/** How long a sidecar can still name a cluster: it looks each second, and calls that are routed end their attempts. */
const keepMs = 30_000;
/**
 * How long a connection inside Envoy can still lead to where a deployment was: the ten minutes in which Envoy lets streams end that
 * a listener has had, and the time that it keeps a connection which nobody uses.
 */
const keepPlaceMs = 660_000;

interface PastCatalogue {
  readonly catalogue: Catalogue;
  /** Ms since 1970; null: as long as services can still get it. */
  readonly until: number | null;
}

const isKeptAt =
  (at: number) =>
  ({ until }: PastCatalogue): boolean =>
    until === null || until > at;

export function openHandover(now: () => Date): Handover {
  /** When each cluster came into the answers, ms since 1970. */
  let since = new Map<string, number>();
  /** The same for the clusters of places; 0 where they were there before this process. */
  let placesSince = new Map<string, number>();
  let newest: Catalogue | null = null;
  const uptake = openUptake(settleMs);
  let former: { readonly place: DeploymentPlace; readonly until: number }[] = [];
  let past: PastCatalogue[] = [];

  return {
    took: (catalogue) => {
      const at = now().getTime();
      const named = new Set(clustersOf(catalogue));
      const last = newest === null ? [] : clustersOf(newest);
      past = past.filter(isKeptAt(at));
      // A snapshot that is published late may name what only an earlier catalogue has, which Envoy gets as well.
      const offered = new Set([...last, ...past.flatMap((each) => clustersOf(each.catalogue))]);
      const began = (cluster: string) => (offered.has(cluster) ? since.get(cluster) : null) ?? at;
      since = new Map([...offered, ...named].map((cluster) => [cluster, began(cluster)]));
      if (newest !== null && last.some((cluster) => !named.has(cluster)))
        past.unshift({ catalogue: newest, until: null });
      const first = newest === null ? 0 : at;
      const names = placesOf(catalogue).map(leafName);
      placesSince = new Map(names.map((name) => [name, placesSince.get(name) ?? first]));
      const left = newest === null ? [] : placesOf(newest).filter((place) => !placesSince.has(leafName(place)));
      former.push(...left.map((place) => ({ place, until: at + keepPlaceMs })));
      newest = catalogue;
    },
    asked: (resources, version, current) => uptake.asked(resources, version, current, now().getTime()),
    mayPublish: (next, before) => {
      // Without any snapshot every call is refused, so there is nothing to wait for.
      if (before === null) return true;
      // Envoy may have received the rest of the former snapshot only a moment ago.
      const known = new Set(clustersOf(before));
      const at = now().getTime();
      const isTaken = (cluster: string) => {
        const from = since.get(cluster) ?? at;
        return at - from >= settleMs && uptake.has(from, at);
      };
      return clustersOf(next).every((cluster) => known.has(cluster) || isTaken(cluster));
    },
    published: (version) => {
      const until = now().getTime() + keepMs;
      past = past.map((each) => (each.until === null && each.catalogue.version < version ? { ...each, until } : each));
    },
    retiring: () => {
      const at = now().getTime();
      past = past.filter(isKeptAt(at));
      return past.map(({ catalogue }) => catalogue);
    },
    formerPlaces: () => {
      const at = now().getTime();
      former = former.filter(({ until }) => until > at);
      return former.map(({ place }) => place);
    },
    newPlaces: () => {
      const at = now().getTime();
      return new Set([...placesSince].flatMap(([name, from]) => (from > 0 && at - from < settleMs ? name : [])));
    },
  };
}

function placesOf({ deployments, providers }: Catalogue): DeploymentPlace[] {
  const byId = new Map(providers.map((provider) => [provider.id, provider]));
  return deployments.flatMap(({ id, provider }) => {
    const known = byId.get(provider);
    return known === undefined ? [] : { id, baseUrl: known.baseUrl, ca: known.ca };
  });
}

/** Returns the clusters that a call can name, with one for those that a deployment always has together. */
const clustersOf = ({ deployments }: Offer): string[] =>
  deployments.flatMap(({ firstAttempt, id }) =>
    firstAttempt === undefined
      ? listenerCluster(id)
      : [listenerCluster(id), firstAttemptCluster(id, firstAttempt.origin)],
  );
