/** Objects as files of a directory. Instances that share it have to see the same files. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { expectName, mostBytes, type ObjectStore, ObjectsUnavailableError } from './objects.ts';

/** Where files are until they are whole. No object has such a name. */
const draftsOf = (root: string): string => join(root, '.drafts');
const hourMs = 3_600_000;

export function openDirectory(root: string): ObjectStore {
  const pathOf = (name: string): string => join(root, expectName(name));
  let tidiedAt = 0;
  return {
    place: root,
    put: async (name, bytes) => {
      const path = pathOf(name);
      await unlessAway(root, write(root, path, bytes));
      if (Date.now() - tidiedAt < hourMs) return;
      tidiedAt = Date.now();
      await unlessAway(root, removeDrafts(root));
    },
    get: async (name) => unlessAway(root, read(root, pathOf(name))),
    remove: async (name) => unlessAway(root, rm(pathOf(name), { force: true })),
  };
}

async function unlessAway<T>(root: string, done: Promise<T>): Promise<T> {
  try {
    return await done;
  } catch (cause) {
    throw new ObjectsUnavailableError(`The directory of objects ${root} cannot be used.`, { cause });
  }
}

/** Under another name until it is on the disk. */
async function write(root: string, path: string, bytes: Buffer): Promise<void> {
  const folder = dirname(path);
  await makeFolder(draftsOf(root));
  await makeFolder(folder);
  const draft = join(draftsOf(root), randomUUID());
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await syncFolder(folder);
}

/** A new folder survives a crash only if the one that it is in was synced. */
async function makeFolder(path: string): Promise<void> {
  const folder = resolve(path);
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let each = folder; each.length >= first.length; each = dirname(each)) await syncFolder(dirname(each));
}

async function syncFolder(folder: string): Promise<void> {
  const entry = await open(folder, constants.O_RDONLY);
  await entry.sync().finally(() => entry.close());
}

/** Removes what processes that were killed have left half written. Another instance writes nothing for so long. */
async function removeDrafts(root: string): Promise<void> {
  for (const name of await readdir(draftsOf(root))) {
    const path = join(draftsOf(root), name);
    // Somebody else may have removed it, or finished it.
    const found = await stat(path).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > hourMs) await rm(path, { force: true });
  }
}

async function read(root: string, path: string): Promise<Buffer | null> {
  try {
    const { size } = await stat(path);
    if (size > mostBytes) throw new Error(`${path} is too large.`);
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    // A directory that is not mounted has no files either.
    await access(root);
    return null;
  }
}
