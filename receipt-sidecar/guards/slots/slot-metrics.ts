import { Counter, Gauge, type Registry } from 'prom-client';

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
  const decisions = new Counter({
    name: 'gw_stream_slots_total',
    help: 'Streams that asked for a slot here, by outcome, and by whether all instances counted or this one alone',
    labelNames: ['outcome', 'counted'],
    registers: [],
  });
  const labels = (outcome: SlotOutcome, local: boolean) => ({ outcome, counted: local ? 'local' : 'exact' });
  // Exported as 0 from the start, so that the first one is an increase.
  for (const outcome of outcomes) for (const local of [false, true]) decisions.inc(labels(outcome, local), 0);
  const ended = new Counter({
    name: 'gw_stream_slots_ended_total',
    help: 'Leases of streams, found here, that ended without a release',
    registers: [],
  });
  const open = new Gauge({
    name: 'gw_stream_slots_open',
    help: 'Streams with a slot that this instance holds',
    registers: [],
    collect() {
      this.set(now().open);
    },
  });
  const local = new Gauge({
    name: 'gw_stream_slots_local',
    help: 'Whether this instance counts open streams alone, for its share of each limit',
    registers: [],
    collect() {
      this.set(now().local ? 1 : 0);
    },
  });
  return {
    decided: (outcome, isLocal) => decisions.inc(labels(outcome, isLocal)),
    ended: (leases) => ended.inc(leases),
    register: (registry) => {
      for (const metric of [decisions, ended, open, local]) registry.registerMetric(metric);
    },
  };
}
