/** Judges the folder in which receipts wait while Valkey is away. */
import { randomUUID } from 'node:crypto';
import { mkdir, open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '@gw/contract/internal/error-text';
import type { Finding, Foundation } from './foundation.ts';

/** Types of file systems as statfs(2) tells them, that a restart of the machine empties. */
const inMemory: ReadonlyMap<number, string> = new Map([
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
]);
/** Some 15,000 receipts. */
const leastBytes = 64 * 1024 * 1024;

async function writeSynced(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, `.look-${randomUUID()}`);
  try {
    const handle = await open(file, 'wx', 0o600);
    await handle
      .write('.')
      .then(() => handle.sync())
      .finally(() => handle.close());
  } finally {
    await rm(file, { force: true });
  }
}

export const spoolGround = (folder: string): Foundation => ({
  name: 'spool',
  async look() {
    const findings: Finding[] = [];
    const unwritable = await writeSynced(folder).then(
      () => null,
      (error: unknown) => errorText(error),
    );
    if (unwritable !== null) {
      const sentence = `The sidecar cannot write and sync a file in GW_SPOOL_DIR, where receipts wait while Valkey is unavailable (${unwritable}). Give it a persistent volume that it may write to.`;
      return { facts: { folder }, findings: [{ name: 'spool_write', sentence, refuses: true }] };
    }
    const { bavail, bsize, type } = await statfs(folder);
    const [freeBytes, memory] = [bavail * bsize, inMemory.get(type)];
    if (memory !== undefined) {
      const sentence = `GW_SPOOL_DIR is in memory (${memory}), so receipts that wait there are lost when the machine restarts. Give the sidecar a persistent volume.`;
      findings.push({ name: 'spool_memory', sentence, refuses: false });
    }
    if (freeBytes < leastBytes) {
      const sentence = `GW_SPOOL_DIR has only ${Math.floor(freeBytes / 1024 ** 2)} MiB free, too little for an outage of Valkey. Free some space, or use a larger volume.`;
      findings.push({ name: 'spool_room', sentence, refuses: false });
    }
    return {
      facts: { folder, file_system: memory ?? `0x${type.toString(16)}`, free_mib: Math.floor(freeBytes / 1024 ** 2) },
      findings,
    };
  },
});
