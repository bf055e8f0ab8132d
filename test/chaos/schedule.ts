/** A schedule of what is broken when, and the ground that it is broken on, which follow from the seed alone. */
import { elementAt } from '@gw/contract/internal/defined';
import type { PartName } from '@gw/stack/stack-plans';
import { type Random, randomOf } from './random.ts';

/** The chaos may do this to a part, for this long, ms. */
const durations = {
  /** `kill -9`; the supervisor starts it again at once. */
  kill: [0, 0],
  /** `kill -9`, and it stays away. */
  away: [500, 6000],
  /** An orderly end (SIGTERM), and a new start. */
  restart: [0, 0],
  /** SIGSTOP. */
  pause: [200, 7000],
  /** Stands still for four fifths of the time, in turns of 50 ms. */
  slow: [2000, 8000],
  /** All connections to a store are cut, from its side. */
  cut: [0, 0],
  /** The volume of a sidecar's spool takes nothing. */
  disk: [2000, 10_000],
  /** Valkey takes no writes, as when its memory is full. */
  full: [1000, 6000],
  /** The clock of a service is wrong by up to ten minutes, or that of all services of a host by a minute and a half. */
  clock: [3000, 20_000],
  /** A primary of Valkey is killed or stands still, until its replica has taken over and for this long. */
  failover: [6000, 12_000],
  /** All internal certificates are replaced, and then their authority, in three steps that begin this long after each other. */
  roll: [5000, 8000],
  /** A replica that lags by this much takes the place of Postgres, and an operator confirms it. */
  promote: [2000, 6000],
} as const satisfies Record<string, readonly [number, number]>;
export type Trouble = keyof typeof durations;

export const services = [
  ...(['ext-authz', 'ext-authz-2', 'receipt-sidecar', 'receipt-sidecar-2'] as const),
  ...(['control-plane', 'control-plane-2'] as const),
] as const;
type ServiceName = (typeof services)[number];
export const envoys = ['envoy', 'envoy-2'] as const;
const sidecars = ['receipt-sidecar', 'receipt-sidecar-2'] as const;
/** The services on each of two machines. */
const hosts = {
  host: ['ext-authz', 'receipt-sidecar', 'control-plane'],
  'host-2': ['ext-authz-2', 'receipt-sidecar-2', 'control-plane-2'],
} as const satisfies Record<string, readonly ServiceName[]>;
const ofService = ['kill', 'away', 'restart', 'pause', 'slow', 'clock'] as const;
const ends: readonly Trouble[] = ['kill', 'away', 'restart'];

export type Target = PartName | keyof typeof hosts | 'certificates';

/** The parts that a strike is against. */
export const partsOf = (target: Target): readonly Target[] =>
  target === 'host' || target === 'host-2' ? hosts[target] : [target];

export interface Strike {
  /** From the begin of the chaos. */
  readonly atMs: number;
  readonly forMs: number;
  readonly part: Target;
  readonly trouble: Trouble;
  /** For `clock`: how far it is off. */
  readonly skewMs: number;
}

/** Says what a gateway stands on. */
export interface Ground {
  readonly valkey: 'one server' | 'behind Sentinels' | 'a Cluster';
  /** The parts speak TLS over loopback in place of Unix sockets. */
  readonly isOnNetwork: boolean;
}

/** Six seeds in a row have each of them once. */
export const groundOf = (seed: number): Ground => ({
  valkey: elementAt(['one server', 'behind Sentinels', 'a Cluster'] as const, seed % 3),
  isOnNetwork: seed % 2 === 1,
});

const all = (parts: readonly Target[], troubles: readonly Trouble[]): (readonly [Target, Trouble])[] =>
  parts.flatMap((part) => troubles.map((trouble) => [part, trouble] as const));

/** Every pair of part and trouble that there is, except for the promotion of a replica. */
const targetsOn = ({ isOnNetwork, valkey }: Ground): readonly (readonly [Target, Trouble])[] => [
  ...all(services, ofService),
  ...all(['host', 'host-2'], ['clock']),
  ...all(sidecars, ['disk']),
  ...all(envoys, ['kill', 'restart', 'pause', 'slow']),
  ...(valkey === 'one server'
    ? all(['valkey'], ['kill', 'away', 'restart', 'pause', 'slow', 'cut', 'full'])
    : all(['valkey'], ['failover', 'failover', 'failover', 'cut'])),
  ...all(['postgres'], ['kill', 'away', 'restart', 'pause', 'slow', 'cut']),
  ...(isOnNetwork ? all(['certificates'], ['roll', 'roll']) : []),
];

const longestGapMs = 4000;

/** Until what Valkey has not taken is in it again. */
const recoveryMs = 6000;

/** One replica is promoted in each span of this length, and not in the first minute. */
const promotedEveryMs = 150_000;
const firstMinuteMs = 60_000;
/** The calls of a dead sidecar are closed within so long, and a promotion is over within so long. */
const closedMs = 45_000;

function promotionsWithin(random: Random, durationMs: number): Strike[] {
  const [least, most] = durations.promote;
  const spans = Math.floor((durationMs + promotedEveryMs / 2) / promotedEveryMs);
  return Array.from({ length: spans }, (_, span): Strike => {
    const atMs = span * promotedEveryMs + random.between(firstMinuteMs, promotedEveryMs - closedMs);
    return { atMs, forMs: random.between(least, most), part: 'postgres', trouble: 'promote', skewMs: 0 };
  }).filter(({ atMs }) => atMs + closedMs < durationMs);
}

/**
 * Two things at once that nothing holds what is lost by (docs/failure-modes.md): a Postgres that goes back in time while a sidecar ends,
 * whose memory has what is put in again, or while Valkey may forget, which knows what Postgres had.
 */
function isLostBy(promotion: Strike, part: Target, trouble: Trouble, atMs: number): boolean {
  if (Math.abs(promotion.atMs - atMs) > closedMs) return false;
  if (part === 'postgres') return true;
  if (part === 'valkey') return trouble === 'failover' || ends.includes(trouble);
  return part.startsWith('receipt-sidecar') && ends.includes(trouble);
}

/**
 * One trouble after the other, up to four seconds apart, so that some lie over each other; none lies over another of its part.
 * Left out is what nothing is left of: what an ext-authz keeps while Valkey is broken is in no other place, so its end loses it, and so does
 * the end of a sidecar what a primary of Valkey takes with it (docs/failure-modes.md).
 */
export function scheduleOf(seed: number, durationMs: number): Strike[] {
  const random = randomOf(seed);
  const targets = targetsOn(groundOf(seed));
  const promotions = promotionsWithin(random, durationMs);
  const strikes: Strike[] = [...promotions];
  const busyUntil = new Map<Target, number>();
  let replacedUntil = 0;
  for (let atMs = 1000; atMs < durationMs; atMs += random.between(200, longestGapMs)) {
    const [part, trouble] = random.pick(targets);
    const [least, most] = durations[trouble];
    const forMs = random.between(least, most);
    const skewS = part.startsWith('host') ? random.pick([-90, 90]) : random.between(-600, 600);
    if (partsOf(part).some((each) => (busyUntil.get(each) ?? 0) > atMs)) continue;
    if (promotions.some((each) => isLostBy(each, part, trouble, atMs))) continue;
    const isEnd = ends.includes(trouble);
    if (part.startsWith('ext-authz') && isEnd && (busyUntil.get('valkey') ?? 0) + recoveryMs > atMs) continue;
    if (part.startsWith('receipt-sidecar') && isEnd && replacedUntil > atMs) continue;
    const steps = trouble === 'roll' ? 3 : 1;
    // A killed part needs a while to come back; a second blow belongs to its next life.
    for (const each of partsOf(part)) busyUntil.set(each, atMs + steps * forMs + 1500);
    if (trouble === 'failover') replacedUntil = atMs + forMs + recoveryMs;
    strikes.push({ atMs, forMs, part, trouble, skewMs: skewS * 1000 });
  }
  return strikes.sort((a, b) => a.atMs - b.atMs);
}
