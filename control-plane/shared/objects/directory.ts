/** Objects as files of a directory. Instances that share it have to see the same files. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { expectName, isName, mostBytes, type ObjectStore, ObjectsUnavailableError } from './objects.ts';

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
    get: async (name, most = mostBytes) => unlessAway(root, read(root, pathOf(name), most)),
    list: async function* (folder) {
      yield* await unlessAway(root, namesIn(root, pathOf(folder)));
    },
    remove: async (name) => unlessAway(root, remove(root, expectName(name))),
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

async function read(root: string, path: string, most: number): Promise<Buffer | null> {
  const file = await unlessAbsent(root, open(path, constants.O_RDONLY));
  if (file === null) return null;
  try {
    const { size } = await file.stat();
    const room = Buffer.allocUnsafeSlow(Math.min(size, most + 1));
    let length = 0;
    for (let bytesRead = -1; bytesRead !== 0 && length < room.length; length += bytesRead)
      ({ bytesRead } = await file.read(room, length));
    return room.subarray(0, length);
  } finally {
    await file.close();
  }
}

async function namesIn(root: string, folder: string): Promise<string[]> {
  const names = await unlessAbsent(root, readdir(folder));
  return names?.filter(isName) ?? [];
}

/** Null: it is not there. */
async function unlessAbsent<T>(root: string, opened: Promise<T>): Promise<T | null> {
  try {
    return await opened;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    // A directory that is not mounted has no files either.
    await access(root);
    return null;
  }
}

/** Its folders go with the last of their files. Whoever writes into one at this moment makes it again. */
async function remove(root: string, name: string): Promise<void> {
  await rm(join(root, name), { force: true });
  for (let folder = dirname(name); folder !== '.'; folder = dirname(folder))
    try {
      await rmdir(join(root, folder));
    } catch {
      return;
    }
}
