/** gRPC on our own HTTP/2, see docs/decisions/0001-own-grpc-server.md. */
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { internalTokenHeader } from '@gw/contract/internal/identity';
import { parseListen } from '@gw/contract/internal/listen';
import type { InternalCertificates } from '@gw/service/certificates';
import { fail, openCall, status } from './calls.ts';
import { Http2Connection } from './http2/connection.ts';
import type { StreamHandler } from './http2/stream.ts';
import type { GrpcServer, ServerOptions } from './methods.ts';

const nothing: StreamHandler = { data: () => undefined, ended: () => undefined, closed: () => undefined };

export async function openOwnServer({
  listen,
  tls,
  tokenCheck,
  methods,
  connectionEnded,
}: ServerOptions): Promise<GrpcServer> {
  const connections = new Set<Http2Connection>();
  const accept = (socket: Socket) => {
    const trusted = tokenCheck();
    let isEnvoys = false;
    const connection = new Http2Connection(socket, (headers, stream) => {
      if (!trusted(headers.get(internalTokenHeader))) {
        fail(stream, status.unauthenticated);
        return nothing;
      }
      isEnvoys = true;
      const path = headers.get(':path');
      const method = path === undefined ? undefined : methods.get(path);
      if (method) return openCall(method, stream);
      fail(stream, status.unimplemented);
      return nothing;
    });
    connections.add(connection);
    socket.on('close', () => {
      connections.delete(connection);
      // One that only looked whether the port is open had nothing to send.
      if (isEnvoys) connectionEnded?.();
    });
  };
  const server = tls ? openTlsServer(tls, accept) : createServer(accept);
  const port = await bind(server, listen);
  return {
    port,
    drain: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const connection of connections) connection.goAway();
      }),
    cut: () => {
      for (const connection of connections) connection.destroy();
    },
  };
}

/** Without listening. */
export function openTlsServer(certificates: InternalCertificates, accept: (socket: Socket) => void): Server {
  const server = createTlsServer({ ...certificates.current(), ALPNProtocols: ['h2'] }, accept);
  certificates.follow(server);
  return server;
}

export async function bind(server: Server, listen: string): Promise<number | null> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(parseListen(listen), resolve);
  });
  const bound = server.address();
  return bound !== null && typeof bound === 'object' ? bound.port : null;
}
