/**
 * How a broken-off call ended: ext_proc cannot tell a client's abort from a provider's cut, Envoy's access log can.
 *
 * Invariant: each call that asks gets one answer, at the latest after `waitMs`; nothing is kept longer than that.
 */

import { callEndKey } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';

/** `nobody`: Envoy finished the reply without this process, and the client has its degraded receipt. */
export type BrokenBy = 'client' | 'provider' | 'nobody';

export interface Ends {
  /** From the access log. */
  tell(receiptId: string, by: BrokenBy): void;
  /** `client` if the log stays silent: then Envoy saw no fault of the provider. */
  ask(receiptId: string): Promise<BrokenBy>;
}

/** Where sidecars leave for each other what Envoy told them: its access log goes to any one of them. */
export interface SharedEnds {
  put(receiptId: string, by: BrokenBy): void;
  get(receiptId: string): Promise<BrokenBy | null>;
}

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
