/** The folder of the logs at the start of a stack. */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { logFileOf, type PartName } from './stack-plans.ts';

/** Empties the logs of these parts, and removes those of parts that there were more of the last time. */
export function prepareLogs(dir: string, names: readonly PartName[], accessLogs: readonly string[]): string {
  const logs = logFolder(dir);
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  const ours = [...names.map((name) => logFileOf(logs, name)), ...accessLogs];
  for (const file of readdirSync(logs).map((name) => join(logs, name)))
    if (/-\d+\.log$/.test(file) && !ours.includes(file)) rmSync(file);
  for (const file of ours) if (existsSync(file)) truncateSync(file);
  for (const file of accessLogs) {
    // Envoy would make it for everybody to read.
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
  }
  return logs;
}

export const logFolder = (dir: string): string => join(dir, 'logs');
