/**
 * Takes over the spools of sidecars that will not start again because fewer were asked for this time.
 *
 * Invariant: nothing is copied or read, only moved, to where a sidecar that does start looks for what waits.
 */
import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';

/** `spool`, `spool-2`, …; findings of screening have a folder of their own in each. */
const folders = ['', 'policy-events'];

const filesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder).filter((name) => /\.(spool|replay)$/.test(name));
  } catch {
    // It was never made.
    return [];
  }
};

/** Call it before any sidecar is started. */
export function takeOverSpools(dir: string, instances: number): void {
  const numberOf = (name: string): number => Number(/^spool-(\d+)$/.exec(name)?.[1]);
  const left = readdirSync(dir).filter((name) => numberOf(name) > instances);
  for (const spool of left) {
    for (const folder of folders) {
      const [from, to] = [join(dir, spool, folder), join(dir, 'spool', folder)];
      mkdirSync(to, { recursive: true, mode: 0o700 });
      for (const file of filesIn(from)) renameSync(join(from, file), join(to, `${spool}-${Date.now()}-${file}.replay`));
    }
  }
}
