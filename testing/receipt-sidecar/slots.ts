/** Runs the slots of several sidecars by the timers' clock, with a Redis in memory. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Caller } from '@gw/receipt-sidecar/internals/guards/caller';
import { type Slot, StreamSlots } from '@gw/receipt-sidecar/internals/guards/slots/slots';
import { pino } from 'pino';
import { vi } from 'vitest';
import { caller } from './asked.ts';
import { type ConnectionForTests, connectionForTests, RedisForTests } from './leases.ts';

export interface SidecarForTests {
  readonly slots: StreamSlots;
  readonly connection: ConnectionForTests;
}

export interface SlotsForTests {
  readonly redis: RedisForTests;
  /** The messages of the log. */
  readonly logged: string[];
  /** The outcomes, each with `local` or `exact`. */
  readonly decided: string[];
  ended(): number;
  /** Adds a sidecar that knows of this many instances. */
  sidecar(instances?: number): SidecarForTests;
  stop(): void;
}

/** Fakes timers, but not the turns of the event loop. */
export function slotsForTests(): SlotsForTests {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] });
  const redis = new RedisForTests();
  const logged: string[] = [];
  const decided: string[] = [];
  const opened: StreamSlots[] = [];
  let ended = 0;
  let ids = 0;
  return {
    redis,
    logged,
    decided,
    ended: () => ended,
    sidecar(instances = 1) {
      const connection = connectionForTests(redis);
      const slots = new StreamSlots({
        leases: connection.leases,
        instances,
        newId: () => {
          ids += 1;
          return `${ids}`;
        },
        now: () => performance.now(),
        metrics: {
          decided: (outcome, local) => void decided.push(`${outcome} ${local ? 'local' : 'exact'}`),
          ended: (leases) => {
            ended += leases;
          },
        },
        log: pino({ level: 'info' }, { write: (line: string) => logged.push(JSON.parse(line).msg) }),
      });
      opened.push(slots);
      return { slots, connection };
    },
    stop() {
      for (const slots of opened) slots.stop();
      vi.useRealTimers();
    },
  };
}

export async function advance(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await turn();
}

export const callerWith = (limit: number, more: Partial<Caller> = {}): Caller =>
  caller({ streams: { limit, shadow: false }, ...more });

/** Returns the slot, or the message of the refusal. */
export async function take(slots: StreamSlots, by: Caller): Promise<Slot | string> {
  const taken = await slots.take(by);
  return taken.ok ? taken.value : taken.error.message;
}

export async function taken(slots: StreamSlots, by: Caller): Promise<Slot> {
  const slot = await take(slots, by);
  if (typeof slot === 'string') throw new Error(slot);
  return slot;
}

/** Returns how many of `count` streams get a slot. */
export async function admitted(slots: StreamSlots, by: Caller, count: number): Promise<number> {
  let got = 0;
  for (let asked = 0; asked < count; asked += 1) got += typeof (await take(slots, by)) === 'string' ? 0 : 1;
  return got;
}
