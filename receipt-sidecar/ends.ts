/**
 * How a broken-off call ended: ext_proc cannot tell a client's abort from a provider's cut, Envoy's access log can.
 *
 * Invariant: each call that asks gets one answer, after `waitMs` and one look into Redis at the latest; this process
 * keeps nothing longer than `waitMs`.
 */

import { callEndKey } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';

/** Who broke the call off. `nobody`: Envoy finished the reply without this process, with a degraded receipt. */
export type BrokenBy = 'client' | 'provider' | 'nobody';

export interface Ends {
  /** Takes the word of the access log. */
  tell(receiptId: string, by: BrokenBy): void;
  /** Never rejects. It gives `client` if the log stays silent, since Envoy then saw no failure of the provider. */
  ask(receiptId: string): Promise<BrokenBy>;
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
  return {
    tell(receiptId, by) {
      const answer = asking.get(receiptId);
      if (answer) return answer(by);
      // Nobody here has asked: not yet, or another sidecar will.
      shared.put(receiptId, by);
      told.set(receiptId, by);
      setTimeout(() => told.delete(receiptId), waitMs).unref();
    },
    ask(receiptId) {
      const known = told.get(receiptId);
      if (known) return Promise.resolve(known);
      return new Promise((resolve) => {
        const answer = (by: BrokenBy) => {
          clearTimeout(timer);
          asking.delete(receiptId);
          resolve(by);
        };
        const timer = setTimeout(() => void shared.get(receiptId).then((by) => answer(by ?? 'client')), waitMs);
        asking.set(receiptId, answer);
      });
    },
  };
}
