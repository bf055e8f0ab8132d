/** JSON calls by wrk, which takes far less processor time from what is measured than a generator in JavaScript. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { JsonLoad } from './json-load.ts';
import type { Call, Load } from './target.ts';

const run = promisify(execFile);

/** A string of Lua: every byte outside of plain letters is escaped by its number. */
const luaString = (text: string): string =>
  `"${Array.from(Buffer.from(text), (byte) => `\\${String(byte).padStart(3, '0')}`).join('')}"`;

/** The request as a script, because the headers hold a key, and arguments can be read by every user of the machine. */
export function wrkScript(call: Call): string {
  const headers = Object.entries(call.headers).map(
    ([name, value]) => `wrk.headers[${luaString(name)}] = ${luaString(value)}`,
  );
  return ['wrk.method = "POST"', `wrk.body = ${luaString(call.body)}`, ...headers, ''].join('\n');
}

const msPerUnit: Record<string, number> = { us: 0.001, ms: 1, s: 1000, m: 60_000 };

/** Reads what `wrk --latency` prints. Null if it is not that. */
export function parseWrk(output: string): Load | null {
  const total = /^\s*(\d+) requests in ([\d.]+)(s|m),/m.exec(output);
  if (total === null) return null;
  const quantile = (name: string): number | null => {
    const match = new RegExp(`^\\s*${name}%\\s+([\\d.]+)(us|ms|s|m)\\s*$`, 'm').exec(output);
    return match === null ? null : Number(match[1]) * (msPerUnit[match[2] ?? ''] ?? Number.NaN);
  };
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1] ?? 0);
  const socketErrors = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(output);
  const broken = (socketErrors ?? []).slice(1).reduce((sum, count) => sum + Number(count), 0);
  return {
    requests: Number(total[1]) - refused,
    errors: refused + broken,
    durationS: (Number(total[2]) * (msPerUnit[total[3] ?? ''] ?? Number.NaN)) / 1000,
    p50Ms: quantile('50'),
    p99Ms: quantile('99'),
    events: 0,
  };
}

/** Ends wrk when `signal` is aborted. */
export function wrkLoad(binary: string, signal: AbortSignal): JsonLoad {
  return async (call, connections, seconds) => {
    const folder = mkdtempSync(join(tmpdir(), 'gw-wrk-'));
    try {
      const script = join(folder, 'call.lua');
      writeFileSync(script, wrkScript(call), { mode: 0o600 });
      const duration = `${Math.max(Math.round(seconds), 1)}s`;
      const args = ['-t1', `-c${connections}`, `-d${duration}`, '--latency', '-s', script, call.url];
      const { stdout } = await run(binary, args, { signal });
      const load = parseWrk(stdout);
      if (load === null) throw new Error(`wrk printed something unexpected: ${stdout.slice(0, 500)}`);
      return load;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}
