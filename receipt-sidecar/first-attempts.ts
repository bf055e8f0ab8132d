/**
 * First attempts that go to their provider without the deployment's listener: which may, and why one failed.
 *
 * Invariant: a cluster for them is named only once a call has reached its provider, so that it has an address and a credential there: Envoy
 * tries nothing else where one of these is missing. Of a reply Envoy says what it was; where none came its log has the reason under the
 * client's address, and where that leaves more than one, the reason is not known.
 */

import { deploymentOf, firstAttemptCluster } from '@gw/contract/internal/first-attempt';
import type { SnapshotDeployment } from '@gw/contract/internal/snapshot';
import type { AccessLogEntry } from '@gw/envoy/shown-receipt';
import { z } from 'zod';
import { type FailedAttempt, outcomeOf, outcomeOfStatus, verdictOf } from './failed-attempts.ts';
import type { Shared } from './shared.ts';

/** A first attempt that got no reply. `client`: its address as Envoy sees it, with the port. */
export const lostAttemptSchema = z.object({
  client: z.string(),
  deployment: z.string(),
  outcome: z.enum(['no_connection', 'connection_lost', 'timed_out']),
});
export type LostAttempt = z.infer<typeof lostAttemptSchema>;

type Place = Pick<SnapshotDeployment, 'id' | 'firstAttempt'>;

export interface FirstAttempts {
  /** Returns the cluster by which a call may begin there; null if it has to go by the listener. */
  clusterOf(at: Place): string | null;
  /** A call has reached it. */
  reached(at: Place): void;
  /** Envoy answered such a call by itself. */
  missed(at: Place): void;
  /** Takes what the log of Envoy tells. */
  lost(attempt: LostAttempt): void;
  /** Reads the header of a later attempt's reply. `since`: when the call was sent, by the same clock. */
  failed(deployment: string, header: string, since: number): FailedAttempt;
}

/** What Envoy told is of use while the calls are under way that it can be about. */
const [keptMs, mostKept] = [60_000, 1000];

/** Every Envoy has taken up the cluster then, and a catalogue that was stored before a restart has been replaced. */
const settleMs = 5000;
/** Envoy may lack the cluster, or be without an address or a credential there, for as long as nobody looks after it. */
const missedMs = 60_000;

/** `now`: ms, of a clock that nobody sets. Without `shared` there is no other sidecar. */
export function createFirstAttempts(now: () => number, shared: Shared<LostAttempt> | null): FirstAttempts {
  /** By deployment, where it was reached, and from when on calls may begin there. */
  const places = new Map<string, { readonly place: Place['firstAttempt']; readonly from: number }>();
  const noteAt = ({ firstAttempt: place, id }: Place, afterMs: number): void => {
    if (place && !isSame(places.get(id)?.place, place)) places.set(id, { place, from: now() + afterMs });
  };
  let losses: (LostAttempt & { readonly at: number })[] = [];
  const take = (attempt: LostAttempt): void => {
    const at = now();
    losses = [...losses.filter((each) => at - each.at < keptMs).slice(1 - mostKept), { ...attempt, at }];
  };
  shared?.receive(take);
  return {
    clusterOf: ({ firstAttempt, id }) => {
      const known = places.get(id);
      if (!firstAttempt || !known || known.from > now() || !isSame(known.place, firstAttempt)) return null;
      return firstAttemptCluster(id, firstAttempt.origin);
    },
    reached: (place) => noteAt(place, settleMs),
    missed: (place) => {
      places.delete(place.id);
      noteAt(place, missedMs);
    },
    lost: (attempt) => {
      take(attempt);
      shared?.send(attempt);
    },
    failed: (deployment, header, since) => {
      const [status = '', rest = ''] = splitOnce(header);
      if (status !== '-')
        return { deployment, outcome: outcomeOfStatus(Number(status)), ...verdictOf(Number(status), rest) };
      const found = losses.filter((each) => each.client === rest && each.deployment === deployment && each.at >= since);
      const outcomes = new Set(found.map(({ outcome }) => outcome));
      const [outcome = 'failed'] = outcomes.size === 1 ? outcomes : [];
      return { deployment, outcome, result: 'down', retryAfterMs: null };
    },
  };
}

const isSame = (a: Place['firstAttempt'], b: Place['firstAttempt']): boolean =>
  a?.origin === b?.origin && a?.credential === b?.credential;

function splitOnce(text: string): [string, string] {
  const at = text.indexOf(' ');
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** Returns the lost attempt that an entry of the log tells of; null if it tells of something else. */
export function lostAttempt(entry: AccessLogEntry): LostAttempt | null {
  const { downstreamRemoteAddress, upstreamCluster } = entry.commonProperties ?? {};
  const deployment = deploymentOf(upstreamCluster ?? '');
  const socket = downstreamRemoteAddress?.socketAddress;
  if (deployment === null || !socket?.address) return null;
  const host = socket.address.includes(':') ? `[${socket.address}]` : socket.address;
  const lost = { client: `${host}:${socket.portValue}`, deployment, outcome: outcomeOf(entry) };
  return lostAttemptSchema.safeParse(lost).data ?? null;
}
