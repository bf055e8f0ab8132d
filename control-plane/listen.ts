/** Where an application listens. */
import { chmodSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** `unix:/path` or `host:port` (port 0 takes a free one). Resolves to the address that it listens on. */
export async function listen(app: FastifyInstance, address: string): Promise<string> {
  if (address.startsWith('unix:')) {
    const path = address.slice('unix:'.length);
    await removeStaleSocket(path);
    await app.listen({ path });
    // The token is the proof; that nobody else on the machine can even knock is the second wall.
    chmodSync(path, 0o600);
    return address;
  }
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  return app.listen({ host, port: Number(address.slice(colon + 1)) });
}

/** A process that was killed leaves its socket behind. One that still answers is left alone: listening then fails. */
async function removeStaleSocket(path: string): Promise<void> {
  if (!statSync(path, { throwIfNoEntry: false })?.isSocket()) return;
  const alive = await new Promise<boolean>((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
  if (!alive) rmSync(path, { force: true });
}
