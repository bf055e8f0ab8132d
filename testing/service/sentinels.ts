/** A primary and a replica of Valkey on loopback, and three Sentinels that watch them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { elementAt } from '@gw/contract/internal/defined';
import { valkeyBinary } from '@gw/stack/binaries';
import { type Child, startChild } from '@gw/stack/child';
import { freePorts } from '@gw/stack/ports';
import { Redis } from 'ioredis';

export interface Sentinels {
  /** As `GW_REDIS_URL` has it. */
  readonly url: string;
  /** The port of the primary, as the Sentinels name it. */
  primary(): Promise<number>;
  /** The node of a port. */
  node(port: number): Child;
  /** Starts a node that was killed; it becomes a replica. */
  startAgain(port: number): Promise<void>;
  /** Resolves when another node than that of `port` is the primary. */
  failedOver(port: number): Promise<number>;
  stop(): Promise<void>;
}

const name = 'gw';
/** A primary that is silent for so long counts as down. */
const downAfterMs = 1000;

export async function startSentinels(): Promise<Sentinels> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-sentinels-'));
  const command = await valkeyBinary(() => {});
  const [first = 0, second = 0, ...watching] = await freePorts(5);
  const children = new Map<number, Child>();
  const start = async (port: number, lines: readonly string[], args: readonly string[] = []): Promise<void> => {
    const home = join(dir, String(port));
    mkdirSync(home, { recursive: true });
    const file = join(home, 'valkey.conf');
    writeFileSync(file, [`port ${port}`, 'bind 127.0.0.1', `dir ${home}`, ...lines, ''].join('\n'));
    const env = { LC_ALL: 'C', PATH: process.env.PATH ?? '', TZ: 'UTC' };
    children.set(port, await startChild({ command, args: [file, ...args], env, logFile: join(home, 'log') }));
  };
  const startNode = (port: number, primary: number | null) =>
    start(port, [
      'save ""',
      'appendonly yes',
      'repl-diskless-sync-delay 0',
      ...(primary === null ? [] : [`replicaof 127.0.0.1 ${primary}`]),
    ]);
  const ask = async <T>(port: number, question: (redis: Redis) => Promise<T>): Promise<T> => {
    const redis = new Redis({ port, maxRetriesPerRequest: 50 });
    redis.on('error', () => {});
    return question(redis).finally(() => redis.disconnect());
  };
  const primary = (): Promise<number> =>
    ask(elementAt(watching, 0), async (redis) => {
      const [, port] = (await redis.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)) as [string, string];
      return Number(port);
    });
  const until = async (what: string, condition: () => Promise<boolean>): Promise<void> => {
    for (const deadline = Date.now() + 60_000; Date.now() < deadline; await delay(100)) if (await condition()) return;
    throw new Error(`Waited for a minute in vain for ${what}.`);
  };
  const hasReplica = (port: number) =>
    ask(port, async (redis) => /^slave0:.*state=online/m.test(await redis.info('replication')));

  await startNode(first, null);
  await startNode(second, first);
  await until('the replica', () => hasReplica(first));
  for (const port of watching)
    await start(
      port,
      [
        `sentinel monitor ${name} 127.0.0.1 ${first} 2`,
        `sentinel down-after-milliseconds ${name} ${downAfterMs}`,
        `sentinel failover-timeout ${name} 10000`,
      ],
      ['--sentinel'],
    );
  const knowAll = async (port: number) =>
    (await ask(port, (redis) => redis.call('SENTINEL', 'CKQUORUM', name).catch(String))) ===
    'OK 3 usable Sentinels. Quorum and failover authorization can be reached';
  await until('the Sentinels', async () => (await Promise.all(watching.map(knowAll))).every(Boolean));
  return {
    url: `redis+sentinel://${watching.map((port) => `127.0.0.1:${port}`).join(',')}/${name}`,
    primary,
    node: (port) => {
      const child = children.get(port);
      if (child === undefined) throw new Error(`No node was started at ${port}.`);
      return child;
    },
    startAgain: async (port) => {
      const now = await primary();
      await startNode(port, now);
      await until('the replica', () => hasReplica(now));
    },
    failedOver: async (port) => {
      await until('another primary', async () => (await primary()) !== port);
      return primary();
    },
    stop: async () => {
      await Promise.all([...children.values()].map((child) => child.stop('SIGKILL')));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
