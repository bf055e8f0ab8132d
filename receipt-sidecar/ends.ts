/**
 * How a broken-off call ended: ext_proc cannot tell a client's abort from a provider's cut, Envoy's access log can.
 *
 * Invariant: each call that asks gets one answer, after `waitMs` and one look into Redis at the latest, or as soon as this
 * process ends; it keeps nothing longer than `waitMs`.
 */

import { callEndKey } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';

/** Who broke the call off. `nobody`: Envoy finished the reply without this process, with a degraded receipt. */
export type BrokenBy = 'client' | 'provider' | 'nobody';

export interface Ends {
  /** Takes the word of the access log. */
  tell(receiptId: string, by: BrokenBy): void;
  /**
   * Gives `record` the answer, and settles as what that returns. It is `client` if the log stays silent, since Envoy then saw no
   * failure of the provider.
   */
  ask(receiptId: string, record: (by: BrokenBy) => Promise<unknown> | undefined): Promise<void>;
  /** Waits for the log no longer: resolves when all who have asked by now have their answer and have recorded it. Never rejects. */
  settle(): Promise<void>;
}

/** Shares the word of the access log among sidecars, since Envoy tells any one of them. Its functions never reject. */
export interface SharedEnds {
  put(receiptId: string, by: BrokenBy): void;
  get(receiptId: string): Promise<BrokenBy | null>;
}

/** Keeps each word in Redis for 30 s. */
export function redisEnds(redis: Redis): SharedEnds {
  return {
    put: (receiptId, by) => void redis.set(callEndKey(receiptId), by, 'EX', 30).catch(() => undefined),
    async get(receiptId) {
      const by = await redis.get(callEndKey(receiptId)).catch(() => null);
      return by === 'client' || by === 'provider' || by === 'nobody' ? by : null;
    },
  };
}

export function openEnds(waitMs: number, shared: SharedEnds): Ends {
  const told = new Map<string, BrokenBy>();
  const asking = new Map<string, (by: BrokenBy) => void>();
  const recording = new Set<Promise<void>>();
  const look = (receiptId: string, answer: (by: BrokenBy) => void) =>
    void shared.get(receiptId).then((by) => answer(by ?? 'client'));
  const answerFor = (receiptId: string): Promise<BrokenBy> => {
    const known = told.get(receiptId);
    if (known) return Promise.resolve(known);
    return new Promise((resolve) => {
      const answer = (by: BrokenBy) => {
        clearTimeout(timer);
        asking.delete(receiptId);
        resolve(by);
      };
      const timer = setTimeout(look, waitMs, receiptId, answer);
      asking.set(receiptId, answer);
    });
  };
  return {
    tell(receiptId, by) {
      const answer = asking.get(receiptId);
      if (answer) return answer(by);
      // Nobody here has asked: not yet, or another sidecar will.
      shared.put(receiptId, by);
      told.set(receiptId, by);
      setTimeout(() => told.delete(receiptId), waitMs).unref();
    },
    ask(receiptId, record) {
      const recorded = answerFor(receiptId).then(async (by) => void (await record(by)));
      recording.add(recorded);
      return recorded.finally(() => recording.delete(recorded));
    },
    async settle() {
      for (const [receiptId, answer] of asking) look(receiptId, answer);
      await Promise.allSettled(recording);
    },
  };
}
