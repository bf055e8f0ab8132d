/**
 * Keeps receipts in memory for a while after Postgres has committed them, and puts them in again when Postgres has gone back in time.
 *
 * Invariants: a receipt stays for `keepMs` behind the newest one that was committed, within a bound of bytes; so while Postgres is away none is
 * dropped. What is put in again may be in Postgres, which stores it once. Fails open: receipts that are older, or were of a sidecar that has ended, are gone.
 */
import { alarmIn } from '@gw/contract/internal/ground';
import { groundAlarmKey } from '@gw/contract/internal/redis';
import type { Logger } from '@gw/service/log';
import type { Redis } from 'ioredis';
import { HeldEntries } from './held-entries.ts';

export interface CommittedOptions {
  readonly redis: Pick<Redis, 'get'>;
  readonly maxBytes: number;
  readonly keepMs: number;
  /** Monotonic, ms. */
  readonly clock: () => number;
  /** Puts an entry into the ledger's stream. */
  readonly put: (entry: Buffer) => Promise<unknown>;
  readonly log: Logger;
}

export interface Committed {
  /** Remembers an entry that Postgres has; its bytes are copied. */
  add(entry: Buffer): void;
  /** Looks for an alarm, and puts in again what is kept, once for each. Rejects if Redis does; the next look goes on. */
  tend(): Promise<void>;
  counts(): CommittedCounts;
}

export interface CommittedCounts {
  /** How far back the committed receipts reach that are kept, ms. */
  readonly committedMs: number;
  /** How many were put in again. */
  readonly putAgain: number;
}

const batch = 200;

export function openCommitted({ clock, keepMs, log, maxBytes, put, redis }: CommittedOptions): Committed {
  const held = new HeldEntries(maxBytes);
  let added = 0;
  let newestAt = 0;
  let putAgain = 0;
  /** The alarm for which all was put in again. */
  let answered: string | null = null;
  const timeOf = (id: string): number => Number.parseFloat(id);

  return {
    add(entry) {
      if (keepMs === 0) return;
      newestAt = clock();
      added += 1;
      held.add(`${Math.floor(newestAt)}-${added}`, entry);
      held.forgetWhile((id) => timeOf(id) < newestAt - keepMs);
    },
    async tend() {
      const alarm = alarmIn(await redis.get(groundAlarmKey));
      if (alarm === null || alarm.id === answered) return;
      const { ids } = held;
      for (let at = 0; at < ids.length; at += batch) {
        const some = new Set(ids.slice(at, at + batch));
        await Promise.all(held.find(some).map(([, entry]) => put(entry)));
        held.forget(some);
        putAgain += some.size;
      }
      answered = alarm.id;
      log.warn(
        { receipts: ids.length },
        'Postgres has gone back in time: the receipts that it may have lost were put in again',
      );
    },
    counts: () => {
      const oldest = held.oldestId;
      return { committedMs: oldest === null ? 0 : newestAt - timeOf(oldest), putAgain };
    },
  };
}
