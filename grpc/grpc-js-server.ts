/**
 * gRPC on @grpc/grpc-js, for those who prefer a widely used library: `GW_GRPC_SERVER=grpc-js`. Handlers and replies are the same, but a
 * call costs about four times as much processor time.
 *
 * Further disadvantages:
 * - a large message is known only when it is complete. So all of them may hold memory at the same time, and Envoy's time-out for a large
 *   body cannot be extended before it has arrived;
 * - large bodies are sent and read in one piece, so small messages of other calls wait for them;
 * - Node closes a connection after about a thousand resets, which many early disconnects of clients cause, and so fails other calls;
 * - nobody learns that a connection has ended, so what Envoy had not told of its calls by then counts as told (ext-authz/witness.ts);
 * - a method that does not exist is UNIMPLEMENTED even without the internal token.
 */
import type {
  handleBidiStreamingCall,
  handleClientStreamingCall,
  handleUnaryCall,
  Metadata,
  Server,
  ServerDuplexStream,
} from '@grpc/grpc-js';
import { internalTokenHeader } from '@gw/contract/internal/identity';
import { isUnixSocket } from '@gw/contract/internal/listen';
import { status } from './calls.ts';
import { asBuffer, maxMessageBytes } from './framing.ts';
import { tickMs } from './http2/socket.ts';
import type { GrpcServer, Method, ServerOptions } from './methods.ts';
import { bind, openTlsServer } from './own-server.ts';

const refused = { code: status.unauthenticated, details: '' };
const broken = { code: status.internal, details: '' };
const options = {
  'grpc.max_receive_message_length': maxMessageBytes,
  'grpc.max_send_message_length': -1,
  'grpc.max_concurrent_streams': 10_000,
  'grpc.keepalive_time_ms': tickMs,
  'grpc.keepalive_timeout_ms': 2 * tickMs,
};

function answerStream(
  { open }: Extract<Method, { kind: 'bidirectional' }>,
  call: ServerDuplexStream<Buffer, Uint8Array>,
): void {
  const handler = open({
    send: (parts) => void call.write(Buffer.concat(parts)),
    breakOff: () => void call.emit('error', broken),
  });
  call.on('data', (message: Buffer) => handler.message(message));
  call.on('cancelled', () => handler.close());
  call.on('end', () => {
    handler.close();
    call.end();
  });
}

function register(server: Server, path: string, method: Method, trusts: (metadata: Metadata) => boolean): void {
  const add = (
    kind: 'unary' | 'clientStream' | 'bidi',
    handler: Parameters<typeof server.register<Buffer, Uint8Array>>[1],
  ) => server.register<Buffer, Uint8Array>(path, handler, asBuffer, (bytes) => bytes, kind);
  switch (method.kind) {
    case 'unary': {
      const handler: handleUnaryCall<Buffer, Uint8Array> = (call, callback) => {
        if (!trusts(call.metadata)) return callback(refused);
        const answered = (response: Uint8Array) => callback(null, response);
        method.answer(call.request, () => call.cancelled).then(answered, () => callback(broken));
      };
      return void add('unary', handler);
    }
    case 'client-stream': {
      const handler: handleClientStreamingCall<Buffer, Uint8Array> = (call, callback) => {
        if (!trusts(call.metadata)) return callback(refused);
        call.on('data', method.take);
        call.on('end', () => callback(null, Buffer.alloc(0)));
      };
      return void add('clientStream', handler);
    }
    case 'bidirectional': {
      const handler: handleBidiStreamingCall<Buffer, Uint8Array> = (call) =>
        void (trusts(call.metadata) ? answerStream(method, call) : call.emit('error', refused));
      return void add('bidi', handler);
    }
  }
}

export async function openGrpcJsServer({ listen, tls, tokenCheck, methods }: ServerOptions): Promise<GrpcServer> {
  // Imported on demand, because a static import would slow down every start.
  const { Server, ServerCredentials } = await import('@grpc/grpc-js');
  const server = new Server(options);
  const trusts = (metadata: Metadata) => tokenCheck()(metadata.get(internalTokenHeader)[0]?.toString());
  for (const [path, method] of methods) register(server, path, method, trusts);
  const insecure = ServerCredentials.createInsecure();
  const shutDown = {
    drain: () => new Promise<void>((resolve) => server.tryShutdown(() => resolve())),
    cut: () => server.forceShutdown(),
  };
  if (tls !== null) {
    // The library's own TLS keeps the certificates that it began with.
    const injector = server.createConnectionInjector(insecure);
    const outer = openTlsServer(tls, (socket) => injector.injectConnection(socket));
    const port = await bind(outer, listen);
    const drain = () => {
      outer.close();
      return shutDown.drain();
    };
    return { ...shutDown, port, drain };
  }
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(listen, insecure, (error, bound) => (error ? reject(error) : resolve(bound))),
  );
  return { ...shutDown, port: isUnixSocket(listen) ? null : port };
}
