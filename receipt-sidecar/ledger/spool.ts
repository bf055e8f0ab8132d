/**
 * Receipts on disk while Redis is away.
 *
 * Invariant: a receipt leaves the spool only after Redis has taken it. Replaying one twice is harmless: the ledger
 * inserts by id.
 */
import { appendFile, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

export interface Spool {
  append(entry: string): Promise<void>;
  /** Hands every waiting entry to `take`, in order; stops and keeps the rest when `take` fails. Returns how many were taken. */
  replay(take: (entries: readonly string[]) => Promise<void>): Promise<number>;
}

/** `id` tells the files of several sidecars on one volume apart. */
export async function openSpool(folder: string, id: string): Promise<Spool> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const current = join(folder, `${id}.jsonl`);
  let turn = 0;
  // Appends follow each other, so that lines never mix; a failed one does not stop the next.
  let last: Promise<void> = Promise.resolve();
  return {
    append(entry) {
      const done = last.then(() => appendFile(current, `${entry}\n`, { mode: 0o600 }));
      last = done.catch(() => undefined);
      return done;
    },
    async replay(take) {
      await last;
      await rename(current, join(folder, `${id}-${Date.now()}-${turn++}.replay`)).catch(() => undefined);
      let taken = 0;
      for (const name of (await readdir(folder)).filter((file) => file.endsWith('.replay')).sort()) {
        const file = join(folder, name);
        // The last line may be cut short if the process was killed while writing it: then it was never acknowledged.
        const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.endsWith('}'));
        if (lines.length > 0) await take(lines);
        await rm(file, { force: true });
        taken += lines.length;
      }
      return taken;
    },
  };
}
