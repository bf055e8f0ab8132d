/**
 * Serves Envoy's services: gRPC on our own HTTP/2 (see http2/connection.ts for why).
 *
 * Invariant: a call without the internal token reaches no handler; a handler that throws ends its own call with INTERNAL.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { internalTokenHeader } from '@gw/contract/internal/identity';
import { Http2Connection, type Http2Stream, type StreamHandler } from './http2/connection.ts';
import { errorCode } from './http2/frames.ts';
import { type Codec, codec } from './messages.ts';
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

const status = { ok: 0, internal: 13, resourceExhausted: 8, unimplemented: 12, unauthenticated: 16 } as const;

/** A 64 MiB reply and its frame. */
const maxMessageBytes = 72 * 1024 * 1024;
const prefixBytes = 5;

const literal = (text: string): Buffer => Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'latin1')]);
/** `:status: 200` from the static table, and content-type (entry 31) as a literal. */
const replyHeaders = Buffer.concat([Buffer.from([0x88, 0x0f, 0x10]), literal('application/grpc')]);
const trailer = (name: string, value: string): Buffer =>
  Buffer.concat([Buffer.from([0x00]), literal(name), literal(value)]);
const okTrailers = trailer('grpc-status', '0');

function frameMessage(message: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(prefixBytes + message.length);
  out[0] = 0;
  out.writeUInt32BE(message.length, 1);
  out.set(message, prefixBytes);
  return out;
}

/** Cuts messages out of the data of one stream. */
class MessageReader {
  readonly #deliver: (message: Buffer) => void;
  #parts: Buffer[] = [];
  #size = 0;

  constructor(deliver: (message: Buffer) => void) {
    this.#deliver = deliver;
  }

  /** False if a message is larger than allowed or compressed, which nobody asked for. */
  push(bytes: Buffer): boolean {
    this.#parts.push(bytes);
    this.#size += bytes.length;
    while (this.#size >= prefixBytes) {
      const head = this.#parts[0] as Buffer;
      if (head.length < prefixBytes) this.#join();
      const prefix = this.#parts[0] as Buffer;
      const length = prefix.readUInt32BE(1);
      if (prefix[0] !== 0 || length > maxMessageBytes) return false;
      const end = prefixBytes + length;
      if (this.#size < end) return true;
      this.#join();
      const whole = this.#parts[0] as Buffer;
      this.#size -= end;
      this.#parts = this.#size > 0 ? [whole.subarray(end)] : [];
      this.#deliver(whole.subarray(prefixBytes, end));
    }
    return true;
  }

  #join(): void {
    if (this.#parts.length > 1) this.#parts = [Buffer.concat(this.#parts)];
  }
}

type Method = (stream: Http2Stream) => StreamHandler;

function fail(stream: Http2Stream, code: number): void {
  stream.sendHeaders(Buffer.concat([replyHeaders, trailer('grpc-status', String(code))]), true);
}

function unary<Request, Response>(
  types: Codec<Request, Response>,
  handle: (request: Request) => Promise<Response>,
  onFault: (fault: unknown) => void,
): Method {
  return (stream) => {
    const reader = new MessageReader((message) => {
      let answer: Promise<Response>;
      try {
        answer = handle(types.decode(message));
      } catch (fault) {
        answer = Promise.reject(fault);
      }
      answer
        .then((response) => {
          const bytes = frameMessage(types.encode(response));
          stream.sendHeaders(replyHeaders, false);
          stream.sendData(bytes);
          stream.sendHeaders(okTrailers, true);
        })
        .catch((fault: unknown) => {
          onFault(fault);
          fail(stream, status.internal);
        });
    });
    return {
      data: (bytes) => reader.push(bytes) || fail(stream, status.resourceExhausted),
      ended: () => undefined,
      closed: () => undefined,
    };
  };
}

function processing(
  types: Codec<ProcessingRequest, IProcessingResponse>,
  openProcessor: NonNullable<EnvoyServices['openProcessor']>,
  onFault: (fault: unknown) => void,
): Method {
  return (stream) => {
    let answered = false;
    let open = true;
    const answer = (response: IProcessingResponse) => {
      if (!answered) stream.sendHeaders(replyHeaders, false);
      answered = true;
      stream.sendData(frameMessage(types.encode(response)));
    };
    const fail = (fault: unknown) => {
      onFault(fault);
      close();
      stream.reset(errorCode.internal);
    };
    const processor = openProcessor({ answer, fail });
    const close = () => {
      if (!open) return;
      open = false;
      processor.close();
    };
    const reader = new MessageReader((message) => {
      if (!open) return;
      try {
        processor.message(types.decode(message));
      } catch (fault) {
        fail(fault);
      }
    });
    return {
      data: (bytes) => reader.push(bytes) || stream.reset(errorCode.frameSize),
      // Envoy is done with the call: answer in kind, so that it need not reset the stream.
      ended: () => {
        close();
        stream.sendHeaders(answered ? okTrailers : Buffer.concat([replyHeaders, okTrailers]), true);
      },
      closed: close,
    };
  };
}

function accessLogging(
  types: Codec<StreamAccessLogsMessage, object>,
  accessLog: NonNullable<EnvoyServices['accessLog']>,
  onFault: (fault: unknown) => void,
): Method {
  return (stream) => {
    const reader = new MessageReader((message) => {
      try {
        accessLog(types.decode(message));
      } catch (fault) {
        onFault(fault);
      }
    });
    return {
      data: (bytes) => reader.push(bytes) || stream.reset(errorCode.frameSize),
      ended: () => stream.sendHeaders(Buffer.concat([replyHeaders, okTrailers]), true),
      closed: () => undefined,
    };
  };
}

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
      processing(codec('envoy.service.ext_proc.v3', 'ProcessingRequest', 'ProcessingResponse'), openProcessor, onFault),
    );
  }
  if (accessLog) {
    methods.set(
      '/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs',
      accessLogging(
        codec('envoy.service.accesslog.v3', 'StreamAccessLogsMessage', 'StreamAccessLogsResponse'),
        accessLog,
        onFault,
      ),
    );
  }
  return methods;
}

const digest = (text: string) => createHash('sha256').update(text).digest();
const nothing: StreamHandler = { data: () => undefined, ended: () => undefined, closed: () => undefined };

/** Listens on `unix:/path` (mode 0600) or `host:port` and refuses each call that lacks the internal token. */
export async function serveEnvoy(
  listen: string,
  internalToken: string,
  services: EnvoyServices,
  onFault: (fault: unknown) => void,
): Promise<RpcServer> {
  const methods = methodsOf(services, onFault);
  const token = `Bearer ${internalToken}`;
  const expected = digest(token);
  // Envoy's token is the same on every call, so a plain comparison comes first; only another one costs a hash.
  const trusted = (sent: string | undefined) =>
    sent === token || (sent !== undefined && timingSafeEqual(digest(sent), expected));

  const connections = new Set<Http2Connection>();
  const server = createServer((socket) => {
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
    close: (graceMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => {
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
