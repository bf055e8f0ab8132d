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
import type { Shared } from '../wire/shared.ts';
import { type FailedAttempt, outcomeOf, outcomeOfStatus, verdictOf } from './failed-attempts.ts';

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
  /** A provider has answered a call there. */
  reached(at: Place): void;
  /** Envoy had nobody to ask there, or no credential. */
  missed(at: Place): void;
  /** Takes what the log of Envoy tells. */
  lost(attempt: LostAttempt): void;
  /** Reads the header of a later attempt's reply. `since`: when the call was sent, by the same clock. */
  failed(deployment: string, header: string, since: number): FailedAttempt;
}

/** Where a deployment was reached, moments by the clock. */
interface Reached {
  readonly place: Place['firstAttempt'];
  readonly misses: number;
  /** When calls may begin there; infinite until it is reached again after a miss, which counts from `notBefore` on. */
  readonly from: number;
  readonly notBefore: number;
}

/** What Envoy told is of use while the calls are under way that it can be about. */
const [keptMs, mostKept] = [60_000, 1000];

/** Every Envoy has taken up the cluster then, and a catalogue that was stored before a restart has been replaced. */
const settleMs = 5000;
/**
 * Envoy may lack the cluster, or be without an address or a credential there, for as long as nobody looks after it. Each further miss at one
 * place doubles the time.
 */
const [firstMissMs, longestMissMs] = [60_000, 3_600_000];

/** `now`: ms, of a clock that nobody sets. Without `shared` there is no other sidecar. */
export function createFirstAttempts(now: () => number, shared: Shared<LostAttempt> | null): FirstAttempts {
  const places = new Map<string, Reached>();
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
    reached: ({ firstAttempt: place, id }) => {
      const known = places.get(id);
      if (!place) return;
      if (!isSame(known?.place, place)) places.set(id, { place, misses: 0, notBefore: 0, from: now() + settleMs });
      else if (known?.from === Number.POSITIVE_INFINITY && known.notBefore <= now())
        places.set(id, { ...known, from: now() + settleMs });
    },
    missed: ({ firstAttempt: place, id }) => {
      if (!place) return;
      const known = places.get(id);
      const misses = isSame(known?.place, place) ? (known?.misses ?? 0) : 0;
      const notBefore = now() + Math.min(longestMissMs, firstMissMs * 2 ** misses);
      places.set(id, { place, misses: misses + 1, notBefore, from: Number.POSITIVE_INFINITY });
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
