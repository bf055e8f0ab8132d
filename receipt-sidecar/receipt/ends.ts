/**
 * How a broken-off call ended: ext_proc cannot tell a client's abort from a provider's cut, Envoy's access log can.
 *
 * Invariant: each call that asks gets one answer, after `waitMs` and one look into Redis at the latest, or as soon as this
 * process ends; it keeps nothing longer than `waitMs`.
 */

import { callEndKey, callEndTtlS } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';

/**
 * Who broke the call off. `nobody`: Envoy finished the reply without this process, with a degraded receipt. `unsent`: Envoy had given
 * the call up before it heard from this process, and asked no provider.
 */
const endedBy = ['client', 'provider', 'nobody', 'unsent'] as const;
export type EndedBy = (typeof endedBy)[number];

/** The two names of a call, of which the log may know one: Envoy does not learn the receipt of a call that it gave up. */
export interface EndedCall {
  readonly receiptId: string;
  readonly requestId: string | null;
}

export interface Ends {
  /** Takes the word of the access log. `name`: the id of the receipt, or of the request. */
  tell(name: string, by: EndedBy): void;
  /**
   * Gives `record` the answer, and settles as what that returns. It is `client` if the log stays silent, since Envoy then saw no
   * failure of the provider.
   */
  ask(call: EndedCall, record: (by: EndedBy) => Promise<unknown> | undefined): Promise<void>;
  /** Waits for the log no longer: resolves when all who have asked by now have their answer and have recorded it. Never rejects. */
  settle(): Promise<void>;
}

/** Shares the word of the access log among sidecars, since Envoy tells any one of them. Its functions never reject. */
export interface SharedEnds {
  put(name: string, by: EndedBy): void;
  /** Returns the end that was reported under any of these names. */
  get(names: readonly string[]): Promise<EndedBy | null>;
}

/** Keeps each word in Redis for a while. */
export function redisEnds(redis: Redis): SharedEnds {
  return {
    put: (name, by) => void redis.set(callEndKey(name), by, 'EX', callEndTtlS).catch(() => undefined),
    async get(names) {
      const told: readonly (string | null)[] = await redis.mget(names.map(callEndKey)).catch(() => []);
      return endedBy.find((by) => told.includes(by)) ?? null;
    },
  };
}

const namesOf = ({ receiptId, requestId }: EndedCall): string[] =>
  requestId === null ? [receiptId] : [receiptId, requestId];

export function openEnds(waitMs: number, shared: SharedEnds): Ends {
  const told = new Map<string, EndedBy>();
  const asking = new Map<string, (by: EndedBy) => void>();
  const waiting = new Set<() => void>();
  const recording = new Set<Promise<void>>();
  const answerFor = (names: readonly string[]): Promise<EndedBy> => {
    const known = names.flatMap((name) => told.get(name) ?? [])[0];
    if (known) return Promise.resolve(known);
    return new Promise((resolve) => {
      const answer = (by: EndedBy) => {
        clearTimeout(timer);
        waiting.delete(look);
        for (const name of names) asking.delete(name);
        resolve(by);
      };
      const look = () => void shared.get(names).then((by) => answer(by ?? 'client'));
      const timer = setTimeout(look, waitMs);
      waiting.add(look);
      for (const name of names) asking.set(name, answer);
    });
  };
  return {
    tell(name, by) {
      const answer = asking.get(name);
      if (answer) return answer(by);
      // Nobody here has asked: not yet, or another sidecar will.
      shared.put(name, by);
      told.set(name, by);
      setTimeout(() => told.delete(name), waitMs).unref();
    },
    ask(call, record) {
      const recorded = answerFor(namesOf(call)).then(async (by) => void (await record(by)));
      recording.add(recorded);
      return recorded.finally(() => recording.delete(recorded));
    },
    async settle() {
      for (const look of waiting) look();
      await Promise.allSettled(recording);
    },
  };
}
