/**
 * Decides which first attempts may go to their provider directly, without the deployment's listener, and finds out why one failed.
 *
 * Invariant: a call names the direct cluster only after another call has reached the provider, so that Envoy has an address and a credential
 * for it; without one of these Envoy would not fail over. For a failed reply Envoy reports the status; for a lost attempt its log has the
 * reason under the client's address, and if several reasons are found there, the reason is unknown.
 */
import { deploymentOf, firstAttemptCluster } from '@gw/contract/internal/first-attempt';
import { operatorFaultHeader } from '@gw/contract/internal/operator-faults';
import type { SnapshotDeployment } from '@gw/contract/internal/snapshot';
import type { AccessLogEntry } from '@gw/envoy/shown-receipt';
import { z } from 'zod';
import { andThen, type MaybePromise } from '../wire/maybe-promise.ts';
import type { Shared } from '../wire/shared.ts';
import {
  type AttemptOutcome,
  type JudgedReply,
  judgedReply,
  outcomeOf,
  outcomeOfReply,
  verdictOf,
} from './attempt-outcome.ts';
import { type FailedAttempt, logPatienceMs } from './failed-attempts.ts';

/** A first attempt without a reply. `client`: the client's address and port as Envoy sees them. */
export const lostAttemptSchema = z.object({
  client: z.string(),
  deployment: z.string(),
  outcome: z.enum(['no_connection', 'connection_lost', 'timed_out']),
});
export type LostAttempt = z.infer<typeof lostAttemptSchema>;

type DirectTarget = Pick<SnapshotDeployment, 'id' | 'firstAttempt'>;

export interface FirstAttempts {
  /** Returns the direct cluster; null if the attempt has to go through the listener. */
  clusterOf(at: DirectTarget): string | null;
  /** Call when the provider has answered a call. */
  reached(at: DirectTarget): void;
  /** Call when Envoy had no address or no credential for the direct cluster. */
  missed(at: DirectTarget): void;
  /** Records a lost attempt from Envoy's access log. */
  lost(attempt: LostAttempt): void;
  /**
   * Reads the header that the reply of a later attempt carries. For a lost attempt it waits for the log, at most `logPatienceMs`. `since`: when
   * the call was sent, by the clock of `now`.
   */
  failed(deployment: string, header: string, since: number): MaybePromise<FailedAttempt>;
}

/** Times are by the clock of `now`. */
interface ReachedProvider {
  readonly target: DirectTarget['firstAttempt'];
  readonly misses: number;
  /** When direct attempts may begin. After a miss it is infinite, until the provider is reached again after `notBefore`. */
  readonly from: number;
  readonly notBefore: number;
}

/** A loss is of use only while its call is in flight. */
const keptMs = 60_000;
const mostKept = 1000;

/** After this time every Envoy has the cluster, and a catalogue that was stored before a restart has been replaced. */
const settleMs = 5000;
/** Envoy may lack the cluster, its address or its credential until an operator acts, so each further miss doubles the back-off. */
const firstMissMs = 60_000;
const longestMissMs = 3_600_000;

/** Keeps what the log has told of lost attempts. */
function openLosses(now: () => number) {
  let losses: (LostAttempt & { readonly at: number })[] = [];
  /** For each call that waits for the log: rechecks whether it still has to. */
  const waiting = new Set<() => void>();
  const known = (deployment: string, client: string, since: number): AttemptOutcome | null => {
    const found = losses.filter((each) => each.client === client && each.deployment === deployment && each.at >= since);
    const [outcome = null, ...others] = new Set(found.map((each) => each.outcome));
    return others.length > 0 ? 'failed' : outcome;
  };
  return {
    take: (attempt: LostAttempt): void => {
      const at = now();
      losses = [...losses.filter((each) => at - each.at < keptMs).slice(1 - mostKept), { ...attempt, at }];
      for (const recheck of waiting) recheck();
    },
    reason: (...call: Parameters<typeof known>): MaybePromise<AttemptOutcome> =>
      known(...call) ??
      new Promise((resolve) => {
        const end = (outcome: AttemptOutcome) => {
          clearTimeout(timer);
          waiting.delete(recheck);
          resolve(outcome);
        };
        const recheck = () => {
          const outcome = known(...call);
          if (outcome !== null) end(outcome);
        };
        const timer = setTimeout(() => end('failed'), logPatienceMs);
        waiting.add(recheck);
      }),
  };
}

/** `now`: a monotonic clock, ms. `shared` is null if there is no other sidecar. */
export function createFirstAttempts(now: () => number, shared: Shared<LostAttempt> | null): FirstAttempts {
  const providers = new Map<string, ReachedProvider>();
  const losses = openLosses(now);
  shared?.receive(losses.take);
  return {
    clusterOf: ({ firstAttempt, id }) => {
      const known = providers.get(id);
      if (!firstAttempt || !known || known.from > now() || !isSame(known.target, firstAttempt)) return null;
      return firstAttemptCluster(id, firstAttempt.origin);
    },
    reached: ({ firstAttempt: target, id }) => {
      const known = providers.get(id);
      if (!target) return;
      if (!isSame(known?.target, target))
        providers.set(id, { target, misses: 0, notBefore: 0, from: now() + settleMs });
      else if (known?.from === Number.POSITIVE_INFINITY && known.notBefore <= now())
        providers.set(id, { ...known, from: now() + settleMs });
    },
    missed: ({ firstAttempt: target, id }) => {
      if (!target) return;
      const known = providers.get(id);
      const misses = known && isSame(known.target, target) ? known.misses : 0;
      const notBefore = now() + Math.min(longestMissMs, firstMissMs * 2 ** misses);
      providers.set(id, { target, misses: misses + 1, notBefore, from: Number.POSITIVE_INFINITY });
    },
    lost: (attempt) => {
      losses.take(attempt);
      shared?.send(attempt);
    },
    failed: (deployment, header, since) => {
      const [status = '', rest = ''] = splitOnce(header);
      if (status !== '-') {
        const reply = repliedFirst(Number(status), rest);
        return { deployment, outcome: outcomeOfReply(reply), ...verdictOf(reply) };
      }
      return andThen(losses.reason(deployment, rest, since), (outcome) => ({
        deployment,
        outcome,
        result: 'down',
        retryAfterMs: null,
      }));
    },
  };
}

/** Reads the operator fault, or `-`, and headers of the reply, which Envoy joins by semicolons (envoy/first-attempt.ts). */
function repliedFirst(status: number, text: string): JudgedReply {
  const [fault = '', ...told] = text.split(';');
  const headers = new Map(told.map((each) => splitOnce(each, '=')));
  return judgedReply((name) => (name === operatorFaultHeader ? fault : headers.get(name)), status);
}

const isSame = (a: DirectTarget['firstAttempt'], b: DirectTarget['firstAttempt']): boolean =>
  a?.origin === b?.origin && a?.credential === b?.credential;

function splitOnce(text: string, by = ' '): [string, string] {
  const at = text.indexOf(by);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** Reads a lost attempt from an access log entry; null if the entry is about something else. */
export function lostAttempt(entry: AccessLogEntry): LostAttempt | null {
  const { downstreamRemoteAddress, upstreamCluster } = entry.commonProperties ?? {};
  const deployment = upstreamCluster ? deploymentOf(upstreamCluster) : null;
  const socket = downstreamRemoteAddress?.socketAddress;
  if (deployment === null || !socket?.address) return null;
  const host = socket.address.includes(':') ? `[${socket.address}]` : socket.address;
  const lost = { client: `${host}:${socket.portValue}`, deployment, outcome: outcomeOf(entry) };
  return lostAttemptSchema.safeParse(lost).data ?? null;
}
