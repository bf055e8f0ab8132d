/**
 * Tracks whether the instances can count streams or budgets together, that is, whether Redis answers and knows what is in flight.
 *
 * Invariant: after an outage, in which Redis may have lost its data, they count together again only once this process has registered its
 * slots, the others have had time to register theirs, and the slots taken meanwhile are on their way.
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
  /** Registers in Redis all slots that this process holds. */
  readonly register: () => Promise<unknown>;
  /** How many instances there are. */
  readonly instances: number;
  /** A monotonic clock, ms. */
  readonly now: () => number;
  readonly log: Logger;
  /** Words for the log: what this instance does alone, and that all count together again. */
  readonly words?: { readonly alone: string; readonly together: string };
}

const wordsOfStreams = {
  alone: 'counts its own streams, for its share of the limits',
  together: 'open streams are counted together again',
};

/** How often Redis is probed while it is unavailable. */
const probeEveryMs = 250;
const probeWithinMs = 250;
/** The connection is replaced after this many failed probes. */
const mostFailedProbes = 40;
const registerWithinMs = 1000;
/** How long the other instances need to reconnect: each tries at least once a second. */
const othersMs = 2000;

/** If there is a connection at the start, the instances count together from the start. */
export function watchAvailability(options: AvailabilityOptions): Availability {
  const { instances, leases, log, now, register, words = wordsOfStreams } = options;
  let together = leases.connected();
  let probing = false;
  let failedProbes = 0;
  /** When the others will have registered too; null until this process has. */
  let completeAt: number | null = null;

  const lose = (error: unknown = 'no answer in time'): void => {
    completeAt = null;
    if (!together) return;
    together = false;
    log.warn({ instances, err: error }, `Redis is away: each instance ${words.alone}`);
  };
  const registered = async (): Promise<boolean> => {
    failedProbes += 1;
    if (failedProbes % mostFailedProbes === 0) leases.reconnect();
    if (!(await succeedsWithin(leases.probe(), { leftMs: probeWithinMs }))) return false;
    failedProbes = 0;
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
    // It is not awaited, since it reaches Redis before every take that follows.
    register().catch(lose);
    log.info(words.together);
  };
  const timer = setInterval(() => void probe(), probeEveryMs);
  leases.watch({ lost: () => lose('the connection broke'), back: () => void probe() });

  return { together: () => together, lose, stop: () => clearInterval(timer) };
}
