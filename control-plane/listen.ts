/** Where an application listens. */
import { chmodSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { Server } from 'node:tls';
import { parseListen } from '@gw/contract/internal/listen';
import type { FastifyInstance } from 'fastify';

/** `unix:/path` or `host:port` (port 0 takes a free one). Resolves to the address that it listens on. */
export async function listen(app: FastifyInstance, address: string): Promise<string> {
  const where = parseListen(address);
  // Fastify does not know of a server that it did not make.
  const scheme = app.server instanceof Server ? 'https:' : 'http:';
  const listenTextResolver = (url: string) => `Server listening at ${url.replace(/^https?:/, scheme)}`;
  if (!('path' in where)) return app.listen({ ...where, listenTextResolver });
  await removeStaleSocket(where.path);
  await app.listen({ ...where, listenTextResolver });
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
