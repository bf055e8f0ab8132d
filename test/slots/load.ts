/** Streams that clients open and end in every way there is, as many at once as the gateway lets them. */
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '@gw/stack/stack';

/** How a stream ends: what the simulated provider is asked for, and when the client leaves, if it does. */
interface Way {
  readonly sim: Readonly<Record<string, string>>;
  readonly leavesAfterMs?: () => number;
}

const talking = { 'x-sim-tokens': '20', 'x-sim-tokens-per-second': '20' };
const fault = (name: string, sim = talking): Way => ({ sim: { ...sim, 'x-sim-fault': name } });
const soon = () => randomInt(1000);

export const ways = {
  complete: { sim: talking },
  'complete at once': { sim: { 'x-sim-tokens-per-second': '0' } },
  'left by the client': { sim: talking, leavesAfterMs: soon },
  'left before it began': { sim: { ...talking, 'x-sim-delay-ms': '5000' }, leavesAfterMs: soon },
  'late first byte': { sim: { ...talking, 'x-sim-delay-ms': '1500' } },
  'refused by the provider': fault('status-400'),
  'failed by every provider': fault('status-503'),
  'reset by the provider': fault('reset'),
  'error event': fault('error-event'),
  cut: fault('cut'),
  'silent in the middle': fault('stall-mid'),
  'silent at the end': fault('stall-end'),
  'without its last event': fault('no-done'),
  'not a stream': fault('html'),
} as const satisfies Readonly<Record<string, Way>>;
export type WayName = keyof typeof ways;

export interface StreamCounts {
  /** Streams that had a slot and have ended, by the way that they were to end. */
  readonly ended: Map<WayName, number>;
  /** Refused for want of a slot. */
  refused: number;
  /** Broken by what happened to the gateway, before it let them in. */
  failed: number;
}

const wayNames = Object.keys(ways) as WayName[];
const body = JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'Hello' }], stream: true });

export interface Load {
  readonly counts: StreamCounts;
  readonly total: () => number;
  /** Ends once all that is under way has. */
  stop(): Promise<void>;
}

/** `clients` ask again and again, each as soon as its stream has ended. */
export function startStreams(stack: Pick<Stack, 'publicUrl'>, key: string, marker: string, clients: number): Load {
  const counts: StreamCounts = { ended: new Map(), refused: 0, failed: 0 };
  let running = true;
  const open = async (name: WayName): Promise<void> => {
    const way: Way = ways[name];
    const leaving = new AbortController();
    const timer = way.leavesAfterMs && setTimeout(() => leaving.abort(), way.leavesAfterMs());
    // Whether it reached a provider, and with that had a slot; a client that leaves early cannot know, but had time to.
    let had = way.leavesAfterMs !== undefined;
    try {
      const response = await fetch(`${stack.publicUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'x-sim-marker': marker,
          ...way.sim,
        },
        body,
        signal: leaving.signal,
      });
      had = response.headers.has('x-gw-receipt-id');
      if (response.status === 429) counts.refused += 1;
      await response.arrayBuffer();
      if (!had) await delay(100);
    } catch {
      if (!had) await delay(100);
    } finally {
      clearTimeout(timer);
    }
    if (had) counts.ended.set(name, (counts.ended.get(name) ?? 0) + 1);
    else counts.failed += 1;
  };
  const ask = async (at: number): Promise<void> => {
    for (let turn = at; running; turn += 1) await open(wayNames[turn % wayNames.length] ?? 'complete');
  };
  const asking = Array.from({ length: clients }, (_, at) => ask(at));
  return {
    counts,
    total: () => [...counts.ended.values()].reduce((sum, each) => sum + each, 0),
    stop: async () => {
      running = false;
      await Promise.all(asking);
    },
  };
}
