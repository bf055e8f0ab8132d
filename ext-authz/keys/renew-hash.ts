/**
 * Rehashes keys that were verified with an older pepper, so that it can be removed later.
 *
 * Invariant: it runs one statement at a time. A key whose renewal failed or found no room keeps its old hash and is retried when it is
 * next read from the database.
 */
import { hashApiKey } from '@gw/contract/internal/api-key';
import type { Pepper } from '@gw/contract/internal/pepper';
import type { FoundKey } from '@gw/prisma/find-key';
import type { Logger } from '@gw/service/log';

/** The most waiting renewals. */
const capacity = 1000;

export interface RenewalOptions {
  readonly current: Pepper;
  readonly store: (key: FoundKey, renewed: { hash: Buffer; pepperVersion: number }) => Promise<void>;
  readonly log: Logger;
}

export function openRenewal({ current, store, log }: RenewalOptions): (key: FoundKey, plaintext: string) => void {
  const seen = new WeakSet<FoundKey>();
  const waiting = new Map<FoundKey, Buffer>();
  let running = false;

  const drain = async (): Promise<void> => {
    running = true;
    for (const [key, hash] of waiting) {
      waiting.delete(key);
      await store(key, { hash, pepperVersion: current.version }).catch((error: unknown) => {
        log.warn({ err: error, key: key.publicId }, 'a key was not hashed with the current pepper');
      });
    }
    running = false;
  };

  return (key, plaintext) => {
    if (seen.has(key) || waiting.size >= capacity) return;
    seen.add(key);
    waiting.set(key, hashApiKey(plaintext, current.secret));
    if (!running) void drain();
  };
}
