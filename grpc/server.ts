/**
 * Serves Envoy's services: gRPC on our own HTTP/2 (see http2/connection.ts for why).
 *
 * Invariant: a call without the internal token reaches no handler.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { InternalTls } from '@gw/contract/internal/environment';
import { internalTokenHeader } from '@gw/contract/internal/identity';
import { internalTlsOptions } from '@gw/service/internal-tls';
import { clientStream, fail, type Method, processing, status, unary } from './grpc.ts';
import { healthCodec, healthPath } from './health.ts';
import { Http2Connection } from './http2/connection.ts';
import type { StreamHandler } from './http2/stream.ts';
import { codec, decoderWithout } from './messages.ts';
import type {
  CheckRequest,
  EnvoyServices,
  ICheckResponse,
  IProcessingResponse,
  IRateLimitResponse,
  ProcessingRequest,
  RateLimitRequest,
  RpcServer,
  StreamAccessLogsMessage,
} from './service.ts';

function methodsOf(services: EnvoyServices, onFault: (fault: unknown) => void): Map<string, Method> {
  const { check, shouldRateLimit, openProcessor, accessLog } = services;
  const methods = new Map<string, Method>();
  if (check)
    methods.set(
      '/envoy.service.auth.v3.Authorization/Check',
      unary(
        codec<CheckRequest, ICheckResponse>('envoy.service.auth.v3', 'CheckRequest', 'CheckResponse'),
        check,
        onFault,
      ),
    );
  if (shouldRateLimit) {
    methods.set(
      '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
      unary(
        codec<RateLimitRequest, IRateLimitResponse>(
          'envoy.service.ratelimit.v3',
          'RateLimitRequest',
          'RateLimitResponse',
        ),
        shouldRateLimit,
        onFault,
      ),
    );
  }
  if (openProcessor) {
    methods.set(
      '/envoy.service.ext_proc.v3.ExternalProcessor/Process',
      processing(
        codec<ProcessingRequest, IProcessingResponse>(
          'envoy.service.ext_proc.v3',
          'ProcessingRequest',
          'ProcessingResponse',
        ),
        decoderWithout('envoy.service.ext_proc.v3', 'ProcessingRequest', ['metadataContext']),
        openProcessor,
        onFault,
      ),
    );
  }
  if (accessLog) {
    methods.set(
      '/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs',
      clientStream(
        codec<StreamAccessLogsMessage, object>(
          'envoy.service.accesslog.v3',
          'StreamAccessLogsMessage',
          'StreamAccessLogsResponse',
        ),
        accessLog,
        onFault,
      ),
    );
  }
  return methods;
}

const digest = (text: string) => createHash('sha256').update(text).digest();
/**
 * Compares in constant time until a connection has shown the right token; after that a plain comparison with what it
 * has shown tells it nothing new, and Envoy sends the same on every call.
 */
function tokenCheck(expected: Buffer): (sent: string | undefined) => boolean {
  let shown: string | null = null;
  return (sent) => {
    if (sent === undefined) return false;
    if (sent === shown) return true;
    if (!timingSafeEqual(digest(sent), expected)) return false;
    shown = sent;
    return true;
  };
}

/** Envoy asks for health every half second, see `health_checks` in envoy.template.yaml. */
const heardWithinMs = 750;

const nothing: StreamHandler = { data: () => undefined, ended: () => undefined, closed: () => undefined };

/** With TLS both sides show a certificate of the private authority; one without is cut off in the handshake. */
function openServer(tls: InternalTls | null, accept: (socket: Socket) => void): Server {
  return tls ? createTlsServer({ ...internalTlsOptions(tls), ALPNProtocols: ['h2'] }, accept) : createServer(accept);
}

/**
 * Listens on `unix:/path` (mode 0600) or `host:port` and refuses each call that lacks the internal token. `tls` is for
 * `host:port` alone: a Unix socket does not leave the machine.
 */
export async function serveEnvoy(
  listen: string,
  internalToken: string,
  services: EnvoyServices,
  onFault: (fault: unknown) => void,
  tls: InternalTls | null = null,
): Promise<RpcServer> {
  const methods = methodsOf(services, onFault);
  let isLeaving = false;
  const health = async () => ({ isServing: !isLeaving && (services.isServing?.() ?? true) });
  methods.set(healthPath, unary(healthCodec, health, onFault));
  const expected = digest(`Bearer ${internalToken}`);
  const connections = new Set<Http2Connection>();
  const server = openServer(listen.startsWith('unix:') ? null : tls, (socket) => {
    const trusted = tokenCheck(expected);
    const connection = new Http2Connection(socket, (headers, stream) => {
      if (!trusted(headers.get(internalTokenHeader))) {
        fail(stream, status.unauthenticated);
        return nothing;
      }
      const method = methods.get(headers.get(':path') ?? '');
      if (method) return method(stream);
      fail(stream, status.unimplemented);
      return nothing;
    });
    connections.add(connection);
    socket.on('close', () => connections.delete(connection));
  });
  const port = await bind(server, listen);
  return {
    port,
    leave: () => {
      isLeaving = true;
      return new Promise((resolve) => setTimeout(resolve, heardWithinMs));
    },
    close: (graceMs, beforeCut) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => {
          beforeCut?.();
          for (const connection of connections) connection.destroy();
        }, graceMs);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        for (const connection of connections) connection.goAway();
      }),
  };
}

async function bind(server: Server, listen: string): Promise<number | null> {
  const path = listen.startsWith('unix:') ? listen.slice('unix:'.length) : null;
  const colon = listen.lastIndexOf(':');
  // A socket file that a killed process left would make the bind fail.
  if (path) rmSync(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    if (path) server.listen(path, resolve);
    else server.listen(Number(listen.slice(colon + 1)), listen.slice(0, colon), resolve);
  });
  if (path) chmodSync(path, 0o600);
  const bound = server.address();
  return bound !== null && typeof bound === 'object' ? bound.port : null;
}
