/** A Valkey Cluster on loopback: three primaries with a replica each, and the users of the parts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { elementAt } from '@gw/contract/internal/defined';
import { type RedisUser, redisOwner, redisUserName, redisUsersFile } from '@gw/contract/internal/redis-users';
import type { Child } from '@gw/stack/child';
import { freePorts } from '@gw/stack/ports';
import { ask, host, openValkeyNodes, until } from './valkey-nodes.ts';

export interface ValkeyCluster {
  /** `GW_REDIS_URL` of a part. */
  urlAs(user: RedisUser): string;
  /** The same for whoever may do everything. */
  readonly ownerUrl: string;
  /** The primary that has a key now, by the nodes that live. */
  primaryOf(key: string): Promise<{ readonly port: number; readonly child: Child }>;
  /** Starts a node that was killed; resolves when it is a replica with all that its primary has. */
  startAgain(port: number): Promise<void>;
  stop(): Promise<void>;
}

const password = 'only-in-tests';
const primaries = [0, 1, 2] as const;
/** The first slot of each primary, and the end. */
const slotsFrom = [0, 5461, 10_923, 16_384] as const;

export async function startCluster(): Promise<ValkeyCluster> {
  const nodes = await openValkeyNodes('cluster');
  const all = await freePorts(12);
  const [ports, buses] = [all.slice(0, 6), all.slice(6)];
  const users = join(nodes.dir, 'users.acl');
  writeFileSync(
    users,
    redisUsersFile(() => `>${password}`),
    { mode: 0o600 },
  );
  const start = (port: number): Promise<void> =>
    nodes.start(port, [
      ...['save ""', 'appendonly yes', `aclfile ${users}`, `masteruser ${redisOwner}`, `masterauth ${password}`],
      ...['cluster-enabled yes', `cluster-port ${buses[ports.indexOf(port)]}`, 'cluster-node-timeout 2000'],
      'repl-diskless-sync-delay 0',
    ]);
  for (const port of ports) await start(port);
  const owner = { username: redisOwner, password };
  const tell = (port: number, ...args: readonly (string | number)[]): Promise<unknown> =>
    ask({ port, ...owner }, (redis) => redis.call('CLUSTER', ...args.map(String)));
  const first = elementAt(ports, 0);
  for (const [at, port] of ports.entries()) await tell(first, 'MEET', host, port, elementAt(buses, at));
  for (const at of primaries)
    await tell(elementAt(ports, at), 'ADDSLOTSRANGE', slotsFrom[at], elementAt(slotsFrom, at + 1) - 1);
  for (const at of primaries) {
    const primary = String(await tell(elementAt(ports, at), 'MYID'));
    await until('the nodes to know each other', () => tell(elementAt(ports, at + 3), 'REPLICATE', primary));
  }
  for (const port of ports)
    await until('the cluster to be whole', async () => {
      const [info, known] = [String(await tell(port, 'INFO')), String(await tell(port, 'NODES'))];
      if (!info.includes('cluster_state:ok') || known.match(/[ ,]slave /g)?.length !== 3) throw new Error(known);
    });
  const urlOf = (name: string): string =>
    `redis+cluster://${name}:${password}@${ports.map((port) => `${host}:${port}`).join(',')}`;
  return {
    urlAs: (user) => urlOf(redisUserName(user)),
    ownerUrl: urlOf(redisOwner),
    startAgain: async (port) => {
      await start(port);
      await until('the node to be a replica', () =>
        ask({ port, ...owner }, async (redis) => (await redis.info('replication')).includes('master_link_status:up')),
      );
    },
    primaryOf: async (key) => {
      const living = ports.find((port) => nodes.node(port).alive()) ?? first;
      const slot = Number(await tell(living, 'KEYSLOT', key));
      const slots = (await tell(living, 'SLOTS')) as [number, number, [string, number]][];
      const port = slots.find(([from, to]) => from <= slot && slot <= to)?.[2][1];
      if (port === undefined) throw new Error(`No node has ${key}.`);
      return { port, child: nodes.node(port) };
    },
    stop: nodes.stop,
  };
}
