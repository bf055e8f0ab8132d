/** A primary and a replica of Valkey on loopback, and three Sentinels that watch them. */
import { elementAt } from '@gw/contract/internal/defined';
import type { Child } from '@gw/stack/child';
import { freePorts } from '@gw/stack/ports';
import { ask, host, openValkeyNodes, until } from './valkey-nodes.ts';

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
  const nodes = await openValkeyNodes('sentinels');
  const [first = 0, second = 0, ...watching] = await freePorts(5);
  const startNode = (port: number, primary: number | null) =>
    nodes.start(port, [
      'save ""',
      'appendonly yes',
      'repl-diskless-sync-delay 0',
      ...(primary === null ? [] : [`replicaof ${host} ${primary}`]),
    ]);
  const primary = (): Promise<number> =>
    ask({ port: elementAt(watching, 0) }, async (redis) => {
      const [, port] = (await redis.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)) as [string, string];
      return Number(port);
    });
  const hasReplica = (port: number) =>
    ask({ port }, async (redis) => /^slave0:.*state=online/m.test(await redis.info('replication')));

  await startNode(first, null);
  await startNode(second, first);
  await until('the replica', () => hasReplica(first));
  for (const port of watching)
    await nodes.start(
      port,
      [
        `sentinel monitor ${name} ${host} ${first} 2`,
        `sentinel down-after-milliseconds ${name} ${downAfterMs}`,
        `sentinel failover-timeout ${name} 10000`,
      ],
      ['--sentinel'],
    );
  const knowAll = async (port: number) =>
    (await ask({ port }, (redis) => redis.call('SENTINEL', 'CKQUORUM', name).catch(String))) ===
    'OK 3 usable Sentinels. Quorum and failover authorization can be reached';
  await until('the Sentinels', async () => (await Promise.all(watching.map(knowAll))).every(Boolean));
  return {
    url: `redis+sentinel://${watching.map((port) => `${host}:${port}`).join(',')}/${name}`,
    primary,
    node: nodes.node,
    startAgain: async (port) => {
      const now = await primary();
      await startNode(port, now);
      await until('the replica', () => hasReplica(now));
    },
    failedOver: async (port) => {
      await until('another primary', async () => (await primary()) !== port);
      return primary();
    },
    stop: nodes.stop,
  };
}
