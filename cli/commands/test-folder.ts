/** Where tests have their data, logs and sockets. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { dayMs } from '@gw/contract/internal/durations';
import { inCheckout } from '@gw/stack/checkout';

const memory = '/dev/shm';
/** The type that `statfs` gives for a file system in memory. */
const tmpfs = 0x01021994;
const gib = 1024 ** 3;
const prefix = 'gw-test-';
/** Three times what all tests have there at once. */
const neededBytes = 2 * gib;
/** With what the tests themselves need. */
const availableBytes = 8 * gib;

/**
 * Makes a folder for this user alone. In memory where there is room for it: the stores of tests flush whatever they write, and all of
 * them would wait for a disk, and for one that is busy for seconds. `onDisk`: in the checkout, as it is where there is no room.
 * The folders of killed runs are deleted after a day.
 */
export function makeTestFolder(onDisk: boolean): string {
  const parent = onDisk || !isRoomInMemory() ? inCheckout('.gw') : memory;
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(parent).filter((each) => each.startsWith(prefix))) removeIfOld(join(parent, name));
  return mkdtempSync(join(parent, prefix));
}

/** The age decides, since the processes of another container cannot be seen. Folders of other users stay. */
function removeIfOld(folder: string): void {
  const { mtimeMs, uid } = statSync(folder, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now(), uid: null };
  if (uid === process.getuid?.() && Date.now() - mtimeMs > dayMs) rmSync(folder, { recursive: true, force: true });
}

function isRoomInMemory(): boolean {
  try {
    const { bavail, bsize, type } = statfsSync(memory);
    return type === tmpfs && bavail * bsize >= neededBytes && process.availableMemory() >= availableBytes;
  } catch {
    return false;
  }
}
