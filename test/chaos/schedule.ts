/** A schedule of what is broken when, which follows from its seed alone. */
import type { PartName } from '@gw/stack/stack-plans';
import { randomOf } from './random.ts';

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
  /** The clock of a service is wrong by up to ten minutes. */
  clock: [3000, 20_000],
} as const satisfies Record<string, readonly [number, number]>;
export type Trouble = keyof typeof durations;

export const services = [
  ...(['ext-authz', 'ext-authz-2', 'receipt-sidecar', 'receipt-sidecar-2'] as const),
  ...(['control-plane', 'control-plane-2'] as const),
] as const;
export const envoys = ['envoy', 'envoy-2'] as const;
const sidecars = ['receipt-sidecar', 'receipt-sidecar-2'] as const;
const ofService = ['kill', 'away', 'restart', 'pause', 'slow', 'clock'] as const;

export interface Strike {
  /** From the begin of the chaos. */
  readonly atMs: number;
  readonly forMs: number;
  readonly part: PartName;
  readonly trouble: Trouble;
  /** For `clock`: how far it is off. */
  readonly skewMs: number;
}

/** Every pair of part and trouble that there is. */
const targets: readonly [PartName, Trouble][] = [
  ...services.flatMap((part) => ofService.map((trouble): [PartName, Trouble] => [part, trouble])),
  ...sidecars.map((part): [PartName, Trouble] => [part, 'disk']),
  ...envoys.flatMap((part) =>
    (['kill', 'restart', 'pause', 'slow'] as const).map((trouble): [PartName, Trouble] => [part, trouble]),
  ),
  ...(['kill', 'away', 'restart', 'pause', 'slow', 'cut', 'full'] as const).map((trouble): [PartName, Trouble] => [
    'valkey',
    trouble,
  ]),
  ...(['kill', 'away', 'restart', 'pause', 'slow', 'cut'] as const).map((trouble): [PartName, Trouble] => [
    'postgres',
    trouble,
  ]),
];

const longestGapMs = 4000;

/** Until what Valkey has not taken is in it again. */
const recoveryMs = 6000;

/**
 * One trouble after the other, up to four seconds apart, so that some lie over each other; none lies over another of its part.
 * One pair is left out: what an ext-authz keeps while Valkey is broken is in no other place, so its end loses it
 * (docs/failure-modes.md).
 */
export function scheduleOf(seed: number, durationMs: number): Strike[] {
  const random = randomOf(seed);
  const strikes: Strike[] = [];
  const busyUntil = new Map<PartName, number>();
  for (let atMs = 1000; atMs < durationMs; atMs += random.between(200, longestGapMs)) {
    const [part, trouble] = random.pick(targets);
    const [least, most] = durations[trouble];
    const forMs = random.between(least, most);
    const skewMs = random.between(-600, 600) * 1000;
    if ((busyUntil.get(part) ?? 0) > atMs) continue;
    const isEnd = trouble === 'kill' || trouble === 'away' || trouble === 'restart';
    if (part.startsWith('ext-authz') && isEnd && (busyUntil.get('valkey') ?? 0) + recoveryMs > atMs) continue;
    // A killed part needs a while to come back; a second blow belongs to its next life.
    busyUntil.set(part, atMs + forMs + 1500);
    strikes.push({ atMs, forMs, part, trouble, skewMs });
  }
  return strikes;
}
