/** Tells operators how long bodies of requests wait for their turn, and that some found none: by metrics, health and log. */
import { minuteMs } from '@gw/contract/internal/durations';
import type { Logger } from '@gw/service/log';
import { counter, registering } from '@gw/service/metric';
import { Gauge, Histogram, type Registry } from 'prom-client';

/** `loop`: small bodies, which the event loop reads. `thread`: all others. */
const places = ['loop', 'thread'] as const;
export type ReadingPlace = (typeof places)[number];

/** `full`: too many waited. `late`: its turn did not come in time. */
const refusals = ['full', 'late'] as const;
export type NoTurn = (typeof refusals)[number];

export interface TurnWatchOptions {
  readonly log: Pick<Logger, 'warn'>;
  /** A monotonic clock, ms. */
  readonly clock: () => number;
  readonly waiting: (place: ReadingPlace) => number;
}

export interface TurnWatch {
  had(place: ReadingPlace, waitedS: number): void;
  hadNone(place: ReadingPlace, why: NoTurn, account: string): void;
  /** Whether each body of the last minute had its turn. */
  readonly inTime: () => boolean;
  register(registry: Registry): void;
}

export function watchTurns({ clock, log, waiting }: TurnWatchOptions): TurnWatch {
  const waited = new Histogram({
    name: 'gw_body_wait_seconds',
    help: 'How long request bodies that had to wait waited for their turn to be read',
    labelNames: ['place'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [],
  });
  for (const place of places) waited.zero({ place });
  const without = counter(
    'gw_body_turns_missed_total',
    'Requests that were refused because their body was not read in time',
    {
      place: places,
      why: refusals,
    },
  );
  const now = new Gauge({
    name: 'gw_bodies_waiting',
    help: 'Request bodies that wait for their turn to be read',
    labelNames: ['place'],
    registers: [],
    collect() {
      for (const place of places) this.set({ place }, waiting(place));
    },
  });
  let missedAt = Number.NEGATIVE_INFINITY;
  let saidAt = Number.NEGATIVE_INFINITY;
  return {
    had: (place, seconds) => waited.observe({ place }, seconds),
    hadNone: (place, why, accountId) => {
      without.inc({ place, why });
      missedAt = clock();
      if (missedAt - saidAt < minuteMs) return;
      saidAt = missedAt;
      log.warn(
        { place, why, accountId },
        'a request was refused as overloaded because its body was not read in time: this account sends more than the sidecar can read; lower its limits or add sidecars. Further refusals within a minute are only counted',
      );
    },
    inTime: () => clock() - missedAt >= minuteMs,
    register: registering(waited, without, now),
  };
}
