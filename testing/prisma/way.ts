import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Way {
  /** As a pooler does: what a session is told of its process is not that of the one which answers. */
  readonly isPooler?: boolean;
  /** It does not pass on which time zone a session wants. */
  readonly dropsZone?: boolean;
  /** As a pooler without a free connection does: a session begins, and nothing that it asks is answered. */
  readonly isSaturated?: boolean;
}

/** In Latin-1, which keeps each byte. */
const changed = (bytes: Buffer, change: (text: string) => string): Buffer =>
  Buffer.from(change(bytes.toString('latin1')), 'latin1');
/** `TimeZone` becomes a name of a session that means nothing, since the message has to stay as long as it is. */
const withoutZone = (bytes: Buffer): Buffer => changed(bytes, (text) => text.replace('TimeZone\0', 'test.gon\0'));
/** A session waits for its first question. */
const isReady = (bytes: Buffer): boolean => bytes.includes('Z\0\0\0\x05I');
/** The message `K` of 12 bytes begins with the process. */
const ofAnother = (bytes: Buffer): Buffer =>
  changed(bytes, (text) => text.replace(/K\0\0\0\f.{4}/s, 'K\0\0\0\f\0\0\0\x01'));

/** A way to the Postgres of a URL, for what happens on one: `cut` breaks what is connected; behind `swallowAfter` so many bytes more arrive, and then none. */
export async function openWay(url: string, { isPooler = false, dropsZone = false, isSaturated = false }: Way = {}) {
  const to = new URL(url);
  const directory = to.searchParams.get('host');
  const port = Number(to.port || 5432);
  const sockets = new Set<Socket>();
  let left = Number.POSITIVE_INFINITY;
  const server = createServer((client) => {
    const there = directory ? connect(`${directory}/.s.PGSQL.${port}`) : connect(port, to.hostname);
    sockets.add(client.on('close', () => sockets.delete(client) && there.destroy()));
    for (const socket of [client, there]) socket.on('error', () => undefined);
    let isHeld = false;
    if (isSaturated)
      there.on('data', (bytes) => {
        isHeld ||= isReady(bytes);
      });
    client.on('data', (bytes) => {
      left -= bytes.length;
      if (left >= 0 && !isHeld) there.write(dropsZone ? withoutZone(bytes) : bytes);
    });
    if (isPooler) there.on('data', (bytes) => client.write(ofAnother(bytes))).on('end', () => client.end());
    else there.pipe(client);
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
