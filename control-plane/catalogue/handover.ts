/**
 * From one catalogue to the next without a call in between that names what Envoy does not have.
 *
 * Invariant: a snapshot is published once each fail-over chain that it can name has been in the answers to Envoy for
 * as long as every Envoy and every other instance needs to ask; and what it names no more stays in the answers until no
 * service can name it.
 */
import { allFailoverChains } from '@gw/contract/internal/failover-chain';
import { failoverCluster, type Snapshot } from '@gw/contract/internal/snapshot';
import type { Catalogue } from './read.ts';

type Offer = Pick<Snapshot, 'deployments' | 'regions'>;

export interface Handover {
  /** The newest catalogue that was read; from now on Envoy gets it. */
  took(catalogue: Catalogue): void;
  /** `before`: what services have; null: nothing. */
  mayPublish(next: Offer, before: Offer | null): boolean;
  /** Services have this version, or take it up at this moment. */
  published(version: number): void;
  /** What Envoy gets beside the newest, newer ones first. */
  retiring(): readonly Catalogue[];
}

/** Instances read the database each second, Envoy asks each second; with some air. */
const settleMs = 2500;
/** Sidecars look each second, and a call that was routed before is tried again within this. */
const keepMs = 30_000;

export function openHandover(now: () => Date): Handover {
  /** When each cluster came into the answers. */
  let since = new Map<string, number>();
  let newest: Catalogue | null = null;
  let past: { readonly catalogue: Catalogue; readonly until: number | null }[] = [];

  return {
    took: (catalogue) => {
      const at = now().getTime();
      const before = since;
      since = new Map(clustersOf(catalogue).map((cluster) => [cluster, before.get(cluster) ?? at]));
      const isMissed = [...before.keys()].some((cluster) => !since.has(cluster));
      if (newest !== null && isMissed) past.unshift({ catalogue: newest, until: null });
      newest = catalogue;
    },
    mayPublish: (next, before) => {
      // Without any snapshot every call is refused, so there is nothing to wait for.
      if (before === null) return true;
      const known = new Set(clustersOf(before));
      const at = now().getTime();
      return clustersOf(next).every((cluster) => known.has(cluster) || at - (since.get(cluster) ?? at) >= settleMs);
    },
    published: (version) => {
      const until = now().getTime() + keepMs;
      past = past.map((each) => (each.until === null && each.catalogue.version < version ? { ...each, until } : each));
    },
    retiring: () => {
      const at = now().getTime();
      past = past.filter(({ until }) => until === null || until > at);
      return past.map(({ catalogue }) => catalogue);
    },
  };
}

const clustersOf = (offer: Offer): string[] => allFailoverChains(offer).map(failoverCluster);
