/** A Valkey Cluster on loopback: three primaries with a replica each, and the users of the parts. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { elementAt } from '@gw/contract/internal/defined';
import { type RedisUser, redisOwner, redisUserName, redisUsersFile } from '@gw/contract/internal/redis-users';
import { valkeyBinary } from '@gw/stack/binaries';
import { type Child, startChild } from '@gw/stack/child';
import { freePorts } from '@gw/stack/ports';
import { Redis } from 'ioredis';

export interface ValkeyCluster {
  /** `GW_REDIS_URL` of a part. */
  urlAs(user: RedisUser): string;
  /** The primary that has a key now, by the nodes that live. */
  primaryOf(key: string): Promise<{ readonly port: number; readonly child: Child }>;
  stop(): Promise<void>;
}

const password = 'only-in-tests';
const host = '127.0.0.1';
const primaries = [0, 1, 2] as const;
/** The first slot of each primary, and the end. */
const slotsFrom = [0, 5461, 10_923, 16_384] as const;

export async function startCluster(): Promise<ValkeyCluster> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-cluster-'));
  const command = await valkeyBinary(() => {});
  const all = await freePorts(12);
  const [ports, buses] = [all.slice(0, 6), all.slice(6)];
  const children = new Map<number, Child>();
  const users = join(dir, 'users.acl');
  writeFileSync(
    users,
    redisUsersFile(() => `>${password}`),
    { mode: 0o600 },
  );
  for (const [at, port] of ports.entries()) {
    const home = join(dir, String(port));
    mkdirSync(home);
    const file = join(home, 'valkey.conf');
    const lines = [
      ...[`port ${port}`, `bind ${host}`, `dir ${home}`, 'save ""', 'appendonly yes', `aclfile ${users}`],
      ...['cluster-enabled yes', `cluster-port ${buses[at]}`, 'cluster-node-timeout 2000'],
      ...[`masteruser ${redisOwner}`, `masterauth ${password}`, ''],
    ];
    writeFileSync(file, lines.join('\n'));
    const env = { LC_ALL: 'C', PATH: process.env.PATH ?? '', TZ: 'UTC' };
    children.set(port, await startChild({ command, args: [file], env, logFile: join(home, 'log') }));
  }
  const ask = async (port: number, ...args: readonly (string | number)[]): Promise<unknown> => {
    const redis = new Redis({ port, host, username: redisOwner, password, maxRetriesPerRequest: 20 });
    redis.on('error', () => {});
    return redis.call('CLUSTER', ...args.map(String)).finally(() => redis.disconnect());
  };
  const first = elementAt(ports, 0);
  for (const [at, port] of ports.entries()) await ask(first, 'MEET', host, port, elementAt(buses, at));
  for (const at of primaries)
    await ask(elementAt(ports, at), 'ADDSLOTSRANGE', slotsFrom[at], elementAt(slotsFrom, at + 1) - 1);
  for (const at of primaries) {
    const primary = String(await ask(elementAt(ports, at), 'MYID'));
    await until('the nodes to know each other', () => ask(elementAt(ports, at + 3), 'REPLICATE', primary));
  }
  for (const port of ports)
    await until('the cluster to be whole', async () => {
      const [info, nodes] = [String(await ask(port, 'INFO')), String(await ask(port, 'NODES'))];
      if (!info.includes('cluster_state:ok') || nodes.match(/[ ,]slave /g)?.length !== 3) throw new Error(nodes);
    });
  return {
    urlAs: (user) =>
      `redis+cluster://${redisUserName(user)}:${password}@${ports.map((port) => `${host}:${port}`).join(',')}`,
    primaryOf: async (key) => {
      const living = ports.find((port) => children.get(port)?.alive()) ?? first;
      const slot = Number(await ask(living, 'KEYSLOT', key));
      const slots = (await ask(living, 'SLOTS')) as [number, number, [string, number]][];
      const port = slots.find(([from, to]) => from <= slot && slot <= to)?.[2][1];
      const child = children.get(port ?? 0);
      if (port === undefined || !child) throw new Error(`No node has ${key}.`);
      return { port, child };
    },
    stop: async () => {
      await Promise.all([...children.values()].map((child) => child.stop('SIGKILL')));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function until(what: string, attempt: () => Promise<unknown>): Promise<void> {
  let last: unknown;
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await delay(100)) {
    try {
      await attempt();
      return;
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`Waited for a minute in vain for ${what}: ${last}`);
}
