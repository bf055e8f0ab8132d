/** Small JSON files that may hold secrets: readable by us alone, and never seen half-written. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export function writePrivateJson(file: string, value: unknown): void {
  mkdirSync(dirname(file), { recursive: true });
  const next = `${file}.${process.pid}.new`;
  writeFileSync(next, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(next, file);
}

/** The value, or null if the file is missing or unreadable as JSON. */
export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}
