/**
 * Reserves disk space with a dummy file, which is deleted when the disk is full, so that the spool can still take receipts of an outage.
 * Other writers on the same disk may take the space first, so the spool belongs on a volume of its own.
 */
import { randomFillSync } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';

export interface DiskReserve {
  /** Takes the space if it is not held yet and the disk has it. Never rejects. */
  take(): Promise<void>;
  /** Resolves to whether there was space to give back. Never rejects. */
  giveBack(): Promise<boolean>;
}

const blockBytes = 1024 * 1024;

export function openReserve(file: string, bytes: number): DiskReserve {
  const write = async (): Promise<void> => {
    if (bytes === 0 || (await sizeOf(file)) >= bytes) return;
    const half = `${file}.part`;
    try {
      // The bytes are written, since a sparse file reserves nothing, and random, since a disk may compress.
      const handle = await open(half, 'w', 0o600);
      try {
        const block = Buffer.alloc(Math.min(blockBytes, bytes));
        for (let written = 0; written < bytes; written += blockBytes)
          await handle.writeFile(randomFillSync(block).subarray(0, bytes - written));
        await handle.datasync();
      } finally {
        await handle.close();
      }
      await rename(half, file);
    } catch {
      await rm(half, { force: true }).catch(() => undefined);
    }
  };
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
  return {
    take: () => inTurn(write),
    giveBack: () =>
      inTurn(() =>
        rm(file).then(
          () => true,
          () => false,
        ),
      ),
  };
}

const sizeOf = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );
