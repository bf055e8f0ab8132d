import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to the Postgres of a URL, for what happens on one: `cut` breaks what is connected; behind `swallowAfter` so many bytes more arrive, and then none. */
export async function openWay(url: string) {
  const to = new URL(url);
  const directory = to.searchParams.get('host');
  const port = Number(to.port || 5432);
  const sockets = new Set<Socket>();
  let left = Number.POSITIVE_INFINITY;
  const server = createServer((client) => {
    const there = directory ? connect(`${directory}/.s.PGSQL.${port}`) : connect(port, to.hostname);
    sockets.add(client.on('close', () => sockets.delete(client) && there.destroy()));
    for (const socket of [client, there]) socket.on('error', () => undefined);
    client.on('data', (bytes) => {
      left -= bytes.length;
      if (left >= 0) there.write(bytes);
    });
    there.pipe(client);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  to.searchParams.delete('host');
  to.hostname = '127.0.0.1';
  to.port = String((server.address() as AddressInfo).port);
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: to.href,
    cut,
    swallowAfter: (bytes: number) => {
      left = bytes;
    },
    stop: () => {
      cut();
      server.close();
    },
  };
}
