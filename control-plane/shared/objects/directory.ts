/** Objects as files of a directory. Instances that share it have to see the same files. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expectName, mostBytes, type ObjectStore, ObjectsUnavailableError } from './objects.ts';

export function openDirectory(root: string): ObjectStore {
  const pathOf = (name: string): string => join(root, expectName(name));
  return {
    place: root,
    put: async (name, bytes) => unlessAway(root, write(pathOf(name), bytes)),
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
async function write(path: string, bytes: Buffer): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}.part`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  const entry = await open(folder, constants.O_RDONLY);
  await entry.sync().finally(() => entry.close());
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
