/**
 * Keeps receipts in memory for a while after Postgres has committed them, and puts them in again when Postgres has gone back in time.
 *
 * Invariants: a receipt stays for `keepMs` behind the newest one that was committed, within a bound of bytes; so while Postgres is away none is
 * dropped. While an alarm stands none is dropped for its age, and twice the bytes are kept: the Postgres that is given up may go on with commits,
 * so all is put in again when the alarm begins and when it ends. What is put in again stays here, takes no room from receipts that only Redis
 * has, and may be in Postgres, which stores it once. Fails open: receipts that are older, or were of a sidecar that has ended, are gone.
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
  /** How many entries the stream can take now. */
  readonly room: () => number;
  readonly log: Logger;
}

export interface Committed {
  /** Remembers an entry that Postgres has; its bytes are copied. */
  add(entry: Buffer): void;
  /**
   * Looks for an alarm, and puts in again what is kept, once when one begins and once when it ends. Rejects if Redis does; the next look goes
   * on, also where the stream had no room for all.
   */
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

export function openCommitted({ clock, keepMs, log, maxBytes, put, redis, room }: CommittedOptions): Committed {
  const held = new HeldEntries(maxBytes);
  let added = 0;
  let newestAt = 0;
  let putAgain = 0;
  let standing: string | null = null;
  /** These are still to be put in again, oldest first. */
  let due: string[] = [];
  const timeOf = (id: string): number => Number.parseFloat(id);
  const trim = (): void => {
    const areAllWanted = standing !== null || due.length > 0;
    held.wantAll(areAllWanted);
    if (!areAllWanted) held.forgetWhile((id) => timeOf(id) < newestAt - keepMs);
  };
  const putDue = async (): Promise<void> => {
    for (let left = room(); due.length > 0 && left > 0; left -= batch) {
      const some = new Set(due.slice(0, Math.min(batch, left)));
      const entries = held.find(some);
      await Promise.all(entries.map(([, entry]) => put(entry)));
      putAgain += entries.length;
      due = due.slice(some.size);
    }
  };

  return {
    add(entry) {
      if (keepMs === 0) return;
      newestAt = clock();
      added += 1;
      held.add(`${Math.floor(newestAt)}-${added}`, entry);
      trim();
    },
    async tend() {
      const id = alarmIn(await redis.get(groundAlarmKey))?.id ?? null;
      if (id !== standing) {
        standing = id;
        due = held.ids;
        log.warn(
          { receipts: due.length },
          id === null
            ? 'Postgres is confirmed: the receipts that were committed meanwhile are put in again'
            : 'Postgres has gone back in time: the receipts that it may have lost are put in again',
        );
      }
      await putDue();
      trim();
    },
    counts: () => {
      const oldest = held.oldestId;
      return { committedMs: oldest === null ? 0 : newestAt - timeOf(oldest), putAgain };
    },
  };
}
