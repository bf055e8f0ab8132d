/** Metrics of the spool. The disk is asked by a timer, never by a scrape, since it may hang. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gauge, registering } from '@gw/service/metric';
import { oneAtATime } from '@gw/service/one-at-a-time';
import type { Registry } from 'prom-client';

const lookEveryMs = 5000;

interface WaitingFiles {
  readonly files: number;
  readonly bytes: number;
  /** When the oldest of them was last written to, ms since 1970; null if there is none. */
  readonly oldestAt: number | null;
}

export interface SpoolMetrics {
  register(registry: Registry): void;
  stop(): void;
}

/** `folder`: of the spool. */
export function createSpoolMetrics(folder: string): SpoolMetrics {
  let waiting: WaitingFiles = { files: 0, bytes: 0, oldestAt: null };
  const look = oneAtATime(async () => {
    waiting = await waitingFiles(folder);
  });
  // The last figures stay while the disk fails.
  const lookQuietly = () => void look().catch(() => undefined);
  const timer = setInterval(lookQuietly, lookEveryMs);
  lookQuietly();
  return {
    register: registering(
      gauge('gw_spool_files', 'Files of receipts that wait on the disk for Redis', () => waiting.files),
      gauge('gw_spool_bytes', 'Their bytes', () => waiting.bytes),
      gauge('gw_spool_oldest_seconds', 'How long ago the oldest of them was written to; 0: there is none', () =>
        waiting.oldestAt === null ? 0 : Math.max(0, Date.now() - waiting.oldestAt) / 1000,
      ),
    ),
    stop: () => clearInterval(timer),
  };
}

async function waitingFiles(folder: string): Promise<WaitingFiles> {
  const names = (await readdir(folder)).filter((name) => /\.(spool|replay)$/.test(name));
  // One that is gone meanwhile was taken.
  const found = await Promise.all(names.map((name) => stat(join(folder, name)).catch(() => null)));
  const files = found.filter((file) => file !== null);
  return {
    files: files.length,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    oldestAt: files.length === 0 ? null : Math.min(...files.map(({ mtimeMs }) => mtimeMs)),
  };
}
