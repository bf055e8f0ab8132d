/**
 * Chooses the deployment of a region at which a call begins, among those that share the calls of its model there.
 *
 * A call that names an affinity (a session, say) begins where the others with it do, so that its provider still has the beginning of its
 * prompt, unless that deployment has too much to do. Any other begins where the fewest calls are under way, by weight.
 *
 * Invariants: the region, and the order of the other deployments, stay as they were chosen. The deployment of an affinity depends on the
 * affinity and on the deployments alone, so that all sidecars agree on it without asking each other; where a deployment goes or comes,
 * only its own part moves. The rest is by the calls of this process.
 */
import { hash } from 'node:crypto';
import { elementAt } from '@gw/contract/internal/defined';
import type { Affinity } from '../api/port/affinity.ts';
import type { CallsUnderWay } from '../attempts/calls-under-way.ts';
import type { Candidate } from '../catalogue/snapshot.ts';
import type { SharedCall } from './peers.ts';
import type { Route } from './route.ts';

export interface SharedBy {
  readonly accountId: string;
  readonly affinity: Affinity | null;
}

export interface CallSharing {
  /** Returns the route as it begins at the deployment of its region that is to take the call. */
  shared(route: Route, by: SharedBy): Route;
}

/** A deployment with fewer calls under way never has too much to do for an affinity, so that a session can make some at once. */
const fewCalls = 8;
/** Otherwise it has with this many times as much to do, by weight, as the deployment with the least. */
const busyTimes = 3;

export function shareCalls({ at: underWay }: Pick<CallsUnderWay, 'at'>): CallSharing {
  const turns = openTurns();
  return {
    shared(route, { accountId, affinity }) {
      const { failoverChain, model, peers } = route;
      const among = peers.filter((each) => failoverChain.includes(each));
      if (among.length < 2) return route;
      const places = among.map((candidate) => placeOf(candidate, underWay));
      const open = places.filter(({ isFull }) => !isFull);
      const able = open.length > 0 ? open : places;
      const session = affinity && `${accountId}\n${model.id}\n${affinity.key}`;
      const kept = session === null ? null : keeperOf(session, able);
      const keeps = kept !== null && !isBusy(kept, able);
      const { candidate } = turns.take(able, keeps ? kept : null);
      const shared: SharedCall = {
        by: keeps ? 'affinity' : 'load',
        affinity: affinity?.by ?? null,
        among: places.map(({ candidate: { deployment }, calls }) => ({
          deployment: deployment.id,
          weight: deployment.weight,
          underWay: calls,
        })),
      };
      return { ...route, shared, failoverChain: [candidate, ...failoverChain.filter((each) => each !== candidate)] };
    },
  };
}

/** A deployment, and how much it has to do. */
interface LoadedDeployment {
  readonly candidate: Candidate;
  readonly calls: number;
  readonly weight: number;
  readonly isFull: boolean;
}

function placeOf(candidate: Candidate, underWay: CallsUnderWay['at']): LoadedDeployment {
  const { id, maxConcurrentRequests: most, weight } = candidate.deployment;
  const calls = underWay(id);
  return { candidate, calls, weight: weight || 1, isFull: most !== null && calls >= most };
}

/**
 * Returns where the calls of a session go: each deployment draws a number by the session, and the lowest by weight has it (rendezvous
 * hashing).
 */
function keeperOf(session: string, places: readonly LoadedDeployment[]): LoadedDeployment {
  const drawn = places.map((place) => {
    const bits = hash('sha256', `${session}\n${place.candidate.deployment.id}`, 'buffer').readUIntBE(0, 6);
    return { place, at: -Math.log((bits + 1) / (2 ** 48 + 1)) / place.weight };
  });
  return drawn.reduce((first, each) => (each.at < first.at ? each : first)).place;
}

function isBusy({ calls, weight }: LoadedDeployment, places: readonly LoadedDeployment[]): boolean {
  const loadOf = (place: Pick<LoadedDeployment, 'calls' | 'weight'>) => (place.calls + 1) / place.weight;
  return calls >= fewCalls && loadOf({ calls, weight }) > busyTimes * Math.min(...places.map(loadOf));
}

/** A deployment that is owed or owes more calls than this has the rest forgiven. */
const mostOwed = 4;

/**
 * Counts what each deployment is owed, in calls: of each call its part by weight and by what is under way there, and less those that it has
 * taken. Weights hold exactly that way, also where one call comes after the other.
 */
function openTurns() {
  /** Only deployments of the catalogue get in, so the map stays small. */
  const owed = new Map<string, number>();
  return {
    /** Takes a turn of `kept`, or of the one that is owed most. */
    take(places: readonly LoadedDeployment[], kept: LoadedDeployment | null): LoadedDeployment {
      const parts = places.map(({ calls, weight }) => weight / (calls + 1));
      const sum = parts.reduce((all, part) => all + part, 0);
      const dues = places.map(
        ({ candidate }, at) => (owed.get(candidate.deployment.id) || 0) + elementAt(parts, at) / sum,
      );
      const taken = kept ?? elementAt(places, dues.indexOf(Math.max(...dues)));
      for (const [at, place] of places.entries()) {
        const due = elementAt(dues, at) - (place === taken ? 1 : 0);
        owed.set(place.candidate.deployment.id, Math.min(mostOwed, Math.max(-mostOwed, due)));
      }
      return taken;
    },
  };
}
