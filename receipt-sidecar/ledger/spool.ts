/**
 * Stores receipts on disk while Redis is unavailable.
 *
 * Invariants: a receipt leaves the spool only after Redis has taken it. Replaying one twice is harmless, since the ledger inserts by id.
 * Entries that `append` has taken survive a killed process and a power cut: they are synced, and all that wait at one time share a sync, so
 * that a reply waits for two syncs at most. Damaged lines are kept for a human and hold up no others.
 */
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { openReserve } from './disk-reserve.ts';

export interface Spool {
  /** Rejects if the disk refuses it. */
  append(entry: Buffer): Promise<void>;
  /**
   * Hands the waiting entries to `take`, a file at a time and in order, and deletes each file that was taken. Returns
   * how many entries were taken. Rejects if `take` does; then that file and those after it stay.
   */
  replay(take: (entries: readonly Buffer[]) => Promise<void>): Promise<number>;
}

export interface SpoolOptions {
  /** Called with the number of damaged lines and the file in which they are kept. */
  readonly onDamaged?: (lines: number, keptIn: string) => void;
  /** Disk space that is reserved for the case that the disk is full. */
  readonly reserveBytes?: number;
  /** Appends to a file and syncs it; tests replace it. */
  readonly write?: (file: string, text: string) => Promise<void>;
}

/**
 * A line of the spool has the version of its format, the CRC-32 of the entry and the entry in base64, so that a line which the disk has
 * damaged is told from one that somebody has altered: that has a right checksum, and a wrong code (sealed-entry.ts).
 */
const headPattern = /^2:([0-9a-f]{8}):/;

const checksum = (entry: Buffer): string => crc32(entry).toString(16).padStart(8, '0');

/** Returns the line of an entry without the line feed. */
export const recordOf = (entry: Buffer): string => `2:${checksum(entry)}:${entry.toString('base64')}`;

/** Returns the entry, or null if the line is not what was written, or of a form that is not known here. */
function entryOfRecord(line: string): Buffer | null {
  const [head, sum] = headPattern.exec(line) ?? [];
  if (head === undefined) return null;
  const entry = Buffer.from(line.slice(head.length), 'base64');
  return checksum(entry) === sum ? entry : null;
}

/** A file is read in full, and all of it is replayed again if a part was refused. */
const maxFileBytes = 16 * 1024 * 1024;

interface WaitingEntry {
  readonly entry: Buffer;
  readonly settle: (error?: unknown) => void;
}

/**
 * Opens the spool and creates its folder. Files of an earlier process are taken over, even under another `id`, since a recreated container
 * has another name; so each sidecar needs a folder of its own.
 */
export async function openSpool(
  folder: string,
  id: string,
  { onDamaged = () => undefined, reserveBytes = 0, write = writeSynced }: SpoolOptions = {},
): Promise<Spool> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const current = join(folder, `${id}.spool`);
  const reserve = openReserve(join(folder, `${id}.reserve`), reserveBytes);
  let [turn, written] = [0, 0];
  const setAside = async (): Promise<void> => {
    written = 0;
    const name = `${id}-${Date.now()}-${String(turn++).padStart(6, '0')}.replay`;
    await rename(current, join(folder, name)).catch(() => undefined);
  };
  // A killed process may have left half a line, to which nothing must be appended.
  await setAside();
  await takeOver(folder, `${id}.`);
  void reserve.take(); // This takes a while and is not awaited.
  let torn = false;
  let waiting: WaitingEntry[] = [];
  // Writes run one after another, so that lines never mix; a failed one does not stop the next.
  let last: Promise<void> = Promise.resolve();

  const writeLines = async (lines: string): Promise<void> => {
    // A full disk may have taken a part of the previous line.
    const text = () => `${torn ? '\n' : ''}${lines}`;
    try {
      await write(current, text());
    } catch (error) {
      torn = true;
      if (!isFull(error) || !(await reserve.giveBack())) throw error;
      await write(current, text());
    }
    torn = false;
  };
  const flush = async (): Promise<void> => {
    const group = waiting;
    waiting = [];
    const lines = group.map(({ entry }) => `${recordOf(entry)}\n`).join('');
    const error = await writeLines(lines).catch((failed: unknown) => failed);
    for (const { settle } of group) settle(error);
    written += lines.length;
    if (written > maxFileBytes) await setAside();
  };

  return {
    append: (entry) =>
      new Promise((resolve, reject) => {
        waiting.push({ entry, settle: (error) => (error === undefined ? resolve() : reject(error)) });
        if (waiting.length === 1) last = last.then(flush);
      }),
    async replay(take) {
      // In turn with the writes: one that was under way would write into a file that was already read.
      last = last.then(setAside);
      await last;
      let taken = 0;
      const files = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile());
      for (const name of files.map((entry) => entry.name).sort()) {
        if (!name.endsWith('.replay')) continue;
        const file = join(folder, name);
        const { entries, wrong } = readLines(await readFile(file));
        if (entries.length > 0) await take(entries);
        if (wrong.length === 0) await rm(file, { force: true });
        else onDamaged(wrong.length, await keepDamaged(file, wrong));
        taken += entries.length;
      }
      void reserve.take();
      return taken;
    },
  };
}

/** Prepares spool files of other ids for replay, and frees the disk space that they reserved. */
async function takeOver(folder: string, own: string): Promise<void> {
  const others = (await readdir(folder)).filter((name) => !name.startsWith(own));
  for (const name of others.sort()) {
    const file = join(folder, name);
    if (name.endsWith('.spool')) await rename(file, `${file.slice(0, -'.spool'.length)}-0.replay`);
    if (/\.reserve(\.part)?$/.test(name)) await rm(file, { force: true });
  }
}

const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');

async function writeSynced(file: string, text: string): Promise<void> {
  const handle = await open(file, 'a', 0o600);
  try {
    const { size } = await handle.stat();
    await handle.appendFile(text);
    await handle.datasync();
    // A new file is only found again once its folder is synced too.
    if (size === 0) await syncFolder(dirname(file));
  } finally {
    await handle.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Rewrites the file in place with these lines only, since the disk may have no space for a copy. Returns its new name. */
async function keepDamaged(file: string, lines: readonly Buffer[]): Promise<string> {
  const kept = file.replace(/\.replay$/, '.damaged');
  const bytes = Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]));
  const handle = await open(file, 'r+');
  try {
    await handle.writeFile(bytes);
    await handle.truncate(bytes.length);
  } finally {
    await handle.close();
  }
  await rename(file, kept);
  return kept;
}

/** `wrong`: the damaged lines, as bytes. */
function readLines(bytes: Buffer): { readonly entries: Buffer[]; readonly wrong: Buffer[] } {
  const entries: Buffer[] = [];
  const wrong: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\n', at);
    const line = bytes.subarray(at, end < 0 ? bytes.length : end);
    at = end < 0 ? bytes.length : end + 1;
    if (line.length === 0) continue;
    const entry = entryOfRecord(line.toString('latin1'));
    if (entry === null) wrong.push(line);
    else entries.push(entry);
  }
  return { entries, wrong };
}
