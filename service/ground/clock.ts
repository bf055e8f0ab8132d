/** Compares the clock of this machine with that of a store. */
import { Gauge } from 'prom-client';
import type { Finding } from './foundation.ts';

/** Keys end at their second, and days of limits at midnight UTC; machines that keep time by NTP differ by some ms. */
const boundS = 2;

export interface Clock {
  /** The time of the machine, ms since 1970. */
  readonly now: () => number;
  /** Monotonic, ms. */
  readonly steady: () => number;
}

export const machineClock: Clock = { now: () => Date.now(), steady: () => performance.now() };

export interface Comparison {
  /** How far this machine is ahead. */
  readonly aheadS: number;
  /** How far that may be off: half of the round trip. */
  readonly doubtS: number;
}

/** Called before a store is asked; the function takes its answer, ms since 1970. */
export function openComparison({ now, steady }: Clock): (theirs: number) => Comparison {
  const asked = steady();
  return (theirs) => {
    // The answer is assumed to come from the middle of the round trip.
    const doubtMs = (steady() - asked) / 2;
    return { aheadS: Math.round(now() - doubtMs - theirs) / 1000, doubtS: doubtMs / 1000 };
  };
}

export function skewFinding(store: 'valkey' | 'postgres', { aheadS, doubtS }: Comparison): readonly Finding[] {
  if (Math.abs(aheadS) <= boundS + doubtS) return [];
  const where = store === 'valkey' ? 'Valkey' : 'Postgres';
  const how = `${Math.round(Math.abs(aheadS))} s ${aheadS > 0 ? 'ahead of' : 'behind'}`;
  const sentence = `The clock of this machine is ${how} that of ${where}, so keys expire and limits reset at another time here. Synchronise both with NTP.`;
  return [{ name: `${store}_clock`, refuses: false, sentence }];
}

export const createSkewMetric = () =>
  new Gauge({
    name: 'gw_clock_skew_seconds',
    help: 'How far the clock of this machine is ahead of that of the store, as last compared',
    labelNames: ['store'],
    registers: [],
  });
