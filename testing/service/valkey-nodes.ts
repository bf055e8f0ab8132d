/** Processes of Valkey on ports of loopback, each with a folder of its own. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { defined } from '@gw/contract/internal/defined';
import { valkeyBinary } from '@gw/stack/binaries';
import { type Child, startChild } from '@gw/stack/child';
import { Redis } from 'ioredis';

export const host = '127.0.0.1';

export async function openValkeyNodes(name: string) {
  const dir = mkdtempSync(join(tmpdir(), `gw-${name}-`));
  const command = await valkeyBinary(() => {});
  const nodes = new Map<number, Child>();
  return {
    dir,
    /** `lines`: of its configuration. */
    start: async (port: number, lines: readonly string[], args: readonly string[] = []): Promise<void> => {
      const home = join(dir, String(port));
      mkdirSync(home, { recursive: true });
      const file = join(home, 'valkey.conf');
      writeFileSync(file, [`port ${port}`, `bind ${host}`, `dir ${home}`, ...lines, ''].join('\n'));
      const env = { LC_ALL: 'C', PATH: process.env.PATH ?? '', TZ: 'UTC' };
      nodes.set(port, await startChild({ command, args: [file, ...args], env, logFile: join(home, 'log') }));
    },
    node: (port: number): Child => defined(nodes.get(port), `The node at ${port}`),
    stop: async () => {
      await Promise.all([...nodes.values()].map((child) => child.stop('SIGKILL')));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

interface Whom {
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
}

/** Asks one of them, which may only be starting. */
export async function ask<T>(whom: Whom, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis({ host, maxRetriesPerRequest: 50, ...whom });
  redis.on('error', () => {});
  return question(redis).finally(() => redis.disconnect());
}

/** Tries until `attempt` neither rejects nor resolves to false, for a minute. */
export async function until(what: string, attempt: () => Promise<unknown>): Promise<void> {
  let last: unknown;
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await delay(100)) {
    try {
      last = await attempt();
      if (last !== false) return;
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`Waited for a minute in vain for ${what}: ${last}`);
}
