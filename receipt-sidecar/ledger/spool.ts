/**
 * Receipts on disk while Redis is away.
 *
 * Invariant: a receipt leaves the spool only after Redis has taken it. Replaying one twice is harmless: the ledger
 * inserts by id.
 */
import { appendFile, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

export interface Spool {
  /** Appends one line of JSON. Rejects if the disk refuses it. */
  append(entry: string): Promise<void>;
  /**
   * Hands the waiting entries to `take`, a file at a time, and deletes each file that was taken. Returns how many
   * entries were taken. Rejects if `take` does; then that file and those after it stay.
   */
  replay(take: (entries: readonly string[]) => Promise<void>): Promise<number>;
}

/** Opens the spool, and makes its folder. `id` tells the files of several sidecars on one volume apart. */
export async function openSpool(folder: string, id: string): Promise<Spool> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const current = join(folder, `${id}.jsonl`);
  let turn = 0;
  const setAside = () => rename(current, join(folder, `${id}-${Date.now()}-${turn++}.replay`)).catch(() => undefined);
  // A process that was killed may have left half a line, which must not run into one of ours.
  await setAside();
  let torn = false;
  // Appends follow each other, so that lines never mix; a failed one does not stop the next.
  let last: Promise<void> = Promise.resolve();
  return {
    append(entry) {
      const done = last.then(() => appendFile(current, `${torn ? '\n' : ''}${entry}\n`, { mode: 0o600 }));
      last = done.then(
        () => {
          torn = false;
        },
        // A full disk may have taken a part of the line.
        () => {
          torn = true;
        },
      );
      return done;
    },
    async replay(take) {
      // In turn with the appends: one that was under way would write into a file that was already read.
      last = last.then(setAside);
      await last;
      let taken = 0;
      for (const name of (await readdir(folder)).filter((file) => file.endsWith('.replay')).sort()) {
        const file = join(folder, name);
        // A line is cut short if the process was killed, or the disk was full, while writing it: nobody relied on it.
        const lines = (await readFile(file, 'utf8')).split('\n').filter(isJson);
        if (lines.length > 0) await take(lines);
        await rm(file, { force: true });
        taken += lines.length;
      }
      return taken;
    },
  };
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
