/** A load balancer as they are: connections go in turn to those whose `/readyz` says 200, and stay where they are. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const checkEveryMs = 100;

export interface Balancer {
  readonly url: string;
  /** Gives it no more connections, and resolves when it has none. */
  takeOut(url: string): Promise<void>;
  /** Resolves when it is given connections again: before that, the other must not be taken out. */
  takeIn(url: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startBalancer(urls: readonly string[]): Promise<Balancer> {
  const healthy = new Set(urls);
  const out = new Set<string>();
  /** How many connections each has. */
  const connections = new Map(urls.map((url) => [url, 0]));
  const sockets = new Set<Socket>();
  let turn = 0;
  let isWanted = true;
  const check = async (url: string): Promise<void> => {
    while (isWanted) {
      const isOk = await fetch(`${url}/readyz`, { headers: { connection: 'close' } }).then(
        ({ status }) => status === 200,
        () => false,
      );
      if (isOk) healthy.add(url);
      else healthy.delete(url);
      await delay(checkEveryMs);
    }
  };
  const accept = (client: Socket): void => {
    const choice = [...healthy].filter((each) => !out.has(each)).sort();
    const url = choice[turn++ % choice.length];
    if (url === undefined) return void client.destroy();
    const { hostname, port } = new URL(url);
    connections.set(url, (connections.get(url) ?? 0) + 1);
    client.once('close', () => connections.set(url, (connections.get(url) ?? 0) - 1));
    const behind = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    for (const [from, to] of [
      [client, behind],
      [behind, client],
    ] as const) {
      from.setNoDelay(true);
      from.pipe(to);
      from.on('error', () => to.destroy());
      sockets.add(from);
      from.on('close', () => sockets.delete(from));
    }
  };
  const server: Server = createServer({ allowHalfOpen: true }, accept);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  const checking = Promise.all(urls.map(check));
  return {
    url: `http://127.0.0.1:${bound !== null && typeof bound === 'object' ? bound.port : 0}`,
    takeOut: async (url) => {
      out.add(url);
      while ((connections.get(url) ?? 0) > 0) await delay(checkEveryMs);
    },
    takeIn: async (url) => {
      out.delete(url);
      while (isWanted && !healthy.has(url)) await delay(checkEveryMs);
    },
    stop: async () => {
      isWanted = false;
      await checking;
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
