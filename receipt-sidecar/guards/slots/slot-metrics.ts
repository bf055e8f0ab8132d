import { counter, gauge, registering } from '@gw/service/metric';
import type { Registry } from 'prom-client';

const outcomes = ['taken', 'denied', 'shadowed'] as const;
/** `shadowed`: the slot was taken, but would have been denied if the limit were in force. */
export type SlotOutcome = (typeof outcomes)[number];

export interface SlotMetrics {
  /** Counts a decision; `local` is true if this instance counted alone. */
  decided(outcome: SlotOutcome, local: boolean): void;
  /** Counts leases that expired, because the lease holder died or could not reach Redis. */
  ended(leases: number): void;
  register(registry: Registry): void;
}

export function createSlotMetrics(now: () => { readonly open: number; readonly local: boolean }): SlotMetrics {
  const decisions = counter(
    'gw_stream_slots_total',
    'Streams that asked for a slot here, by outcome, and by whether all instances counted or this one alone',
    { outcome: outcomes, counted: ['exact', 'local'] },
  );
  const ended = counter(
    'gw_stream_slots_ended_total',
    'Leases of streams, found here, that ended without a release',
    {},
  );
  const gauges = [
    gauge('gw_stream_slots_open', 'Streams with a slot that this instance holds', () => now().open),
    gauge(
      'gw_stream_slots_local',
      'Whether this instance counts open streams alone, for its share of each limit',
      () => now().local,
    ),
  ];
  return {
    decided: (outcome, isLocal) => decisions.inc({ outcome, counted: isLocal ? 'local' : 'exact' }),
    ended: (leases) => ended.inc(leases),
    register: registering(decisions, ended, ...gauges),
  };
}
