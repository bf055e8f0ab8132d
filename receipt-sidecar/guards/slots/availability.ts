/**
 * Whether the instances can count together (streams, or budgets), that is, whether Redis answers and knows what runs.
 *
 * Invariant: after an outage, in which Redis may have lost what it knew, they count together again only once this
 * process has registered its slots, the others had time to register theirs, and what was taken meanwhile is on its way.
 */
import type { Logger } from '@gw/service/log';
import { succeedsWithin } from '../../wire/bounded.ts';
import type { Leases } from './leases.ts';

export interface Availability {
  readonly together: () => boolean;
  /** Notes that Redis failed with `error`, or without one that it did not answer in time. */
  lose(error?: unknown): void;
  stop(): void;
}

export interface AvailabilityOptions {
  readonly leases: Pick<Leases, 'probe' | 'reconnect' | 'connected' | 'watch'>;
  /** Tells Redis all slots that this process holds. */
  readonly register: () => Promise<unknown>;
  /** How many instances there are. */
  readonly instances: number;
  /** A monotonic clock, ms. */
  readonly now: () => number;
  readonly log: Logger;
  /** What this instance does alone, and what the log is told when all count together again. */
  readonly words?: { readonly alone: string; readonly together: string };
}

const wordsOfStreams = {
  alone: 'counts its own streams, for its share of the limits',
  together: 'open streams are counted together again',
};

/** While Redis is away it is asked this often whether it is back. */
const probeEveryMs = 250;
const probeWithinMs = 250;
/** After so many probes in vain the connection is replaced. */
const mostInVain = 40;
const registerWithinMs = 1000;
/** How long the other instances need to find Redis again: each tries to connect once a second at least. */
const othersMs = 2000;

/** Watches Redis. It begins with counting together if there is a connection. */
export function watchAvailability(options: AvailabilityOptions): Availability {
  const { instances, leases, log, now, register, words = wordsOfStreams } = options;
  let together = leases.connected();
  let probing = false;
  let inVain = 0;
  /** When the others have registered too; null until this process has. */
  let completeAt: number | null = null;

  const lose = (error: unknown = 'no answer in time'): void => {
    completeAt = null;
    if (!together) return;
    together = false;
    log.warn({ instances, err: error }, `Redis is away: each instance ${words.alone}`);
  };
  const registered = async (): Promise<boolean> => {
    inVain += 1;
    if (inVain % mostInVain === 0) leases.reconnect();
    if (!(await succeedsWithin(leases.probe(), { leftMs: probeWithinMs }))) return false;
    inVain = 0;
    return (await succeedsWithin(register(), { leftMs: registerWithinMs })) && leases.connected();
  };
  const probe = async (): Promise<void> => {
    if (together || probing || !leases.connected()) return;
    probing = true;
    if (completeAt === null && (await registered())) completeAt = now() + (instances > 1 ? othersMs : 0);
    probing = false;
    if (completeAt === null || now() < completeAt) return;
    completeAt = null;
    together = true;
    // Not awaited: it reaches Redis before every take that follows.
    register().catch(lose);
    log.info(words.together);
  };
  const timer = setInterval(() => void probe(), probeEveryMs);
  leases.watch({ lost: () => lose('the connection broke'), back: () => void probe() });

  return { together: () => together, lose, stop: () => clearInterval(timer) };
}
