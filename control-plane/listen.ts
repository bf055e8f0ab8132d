/** Where an application listens. */
import { chmodSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { parseListen } from '@gw/contract/internal/listen';
import type { FastifyInstance } from 'fastify';

/** `unix:/path` or `host:port` (port 0 takes a free one). Resolves to the address that it listens on. */
export async function listen(app: FastifyInstance, address: string): Promise<string> {
  const where = parseListen(address);
  if (!('path' in where)) return app.listen(where);
  await removeStaleSocket(where.path);
  await app.listen(where);
  // The token is the proof; that nobody else on the machine can even knock is the second wall.
  chmodSync(where.path, 0o600);
  return address;
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
