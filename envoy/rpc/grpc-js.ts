/** The services of `service.ts` on @grpc/grpc-js. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { internalTokenHeader } from '@gw/contract/internal/identity';
import type {
  EnvoyServices,
  IProcessingResponse,
  ProcessingRequest,
  RpcServer,
  StreamAccessLogsMessage,
} from './service.ts';

/** A 64 MiB reply and its frame; grpc-js allows 4 MiB by default, and a larger body gave an empty 500. */
const maxMessageBytes = 72 * 1024 * 1024;

function protocols(): grpc.GrpcObject {
  const deps = join(dirname(createRequire(import.meta.url).resolve('@grpc/grpc-js-xds/package.json')), 'deps');
  const files = [
    'envoy/service/auth/v3/external_auth.proto',
    'envoy/service/ratelimit/v3/rls.proto',
    'envoy/service/ext_proc/v3/external_processor.proto',
    'envoy/service/accesslog/v3/als.proto',
  ];
  const includeDirs = ['envoy-api', 'xds', 'googleapis', 'protoc-gen-validate'].map((name) => join(deps, name));
  return grpc.loadPackageDefinition(
    loadSync(files, { includeDirs, longs: Number, enums: String, oneofs: true, defaults: false }),
  );
}

function service(root: grpc.GrpcObject, name: string): grpc.ServiceDefinition {
  let at: unknown = root;
  for (const part of name.split('.')) at = (at as Record<string, unknown>)[part];
  return (at as grpc.ServiceClientConstructor).service;
}

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Listens on `unix:/path` (mode 0600) or `host:port` and refuses each call that lacks the internal token. */
export async function serveGrpc(
  listen: string,
  internalToken: string,
  services: EnvoyServices,
  onFault: (fault: unknown) => void,
): Promise<RpcServer> {
  const server = new grpc.Server({
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_send_message_length': maxMessageBytes,
    'grpc-node.flow_control_window': 16 * 1024 * 1024,
  });
  const root = protocols();
  const expected = digest(`Bearer ${internalToken}`);
  const seen = `Bearer ${internalToken}`;
  // The token is the same on every call, so a plain comparison comes first; only a mismatch is compared in constant time.
  const trusted = (metadata: grpc.Metadata): boolean => {
    const value = metadata.get(internalTokenHeader)[0];
    return value === seen || (typeof value === 'string' && timingSafeEqual(digest(value), expected));
  };
  const refused = { code: grpc.status.UNAUTHENTICATED, details: 'The internal token is missing or wrong.' };

  const unary =
    <Request, Response>(handler: (request: Request) => Promise<Response>): grpc.handleUnaryCall<Request, Response> =>
    (call, callback) => {
      if (!trusted(call.metadata)) return callback(refused);
      handler(call.request).then(
        (response) => callback(null, response),
        (fault: unknown) => {
          onFault(fault);
          callback({ code: grpc.status.INTERNAL, details: 'internal error' });
        },
      );
    };

  const { check, shouldRateLimit, openProcessor, accessLog } = services;
  if (check) server.addService(service(root, 'envoy.service.auth.v3.Authorization'), { Check: unary(check) });
  if (shouldRateLimit)
    server.addService(service(root, 'envoy.service.ratelimit.v3.RateLimitService'), {
      ShouldRateLimit: unary(shouldRateLimit),
    });
  if (openProcessor) {
    const process: grpc.handleBidiStreamingCall<ProcessingRequest, IProcessingResponse> = (call) => {
      if (!trusted(call.metadata)) {
        call.emit('error', refused);
        return;
      }
      const processor = openProcessor((response) => call.write(response));
      let open = true;
      const close = () => {
        if (!open) return;
        open = false;
        processor.close();
      };
      call.on('data', (request: ProcessingRequest) => {
        try {
          if (open) processor.message(request);
        } catch (fault) {
          onFault(fault);
          close();
          call.emit('error', { code: grpc.status.INTERNAL, details: 'internal error' });
        }
      });
      call.on('end', () => {
        close();
        call.end();
      });
      call.on('cancelled', close);
      call.on('error', close);
    };
    server.addService(service(root, 'envoy.service.ext_proc.v3.ExternalProcessor'), { Process: process });
  }
  if (accessLog) {
    const stream: grpc.handleClientStreamingCall<StreamAccessLogsMessage, object> = (call, callback) => {
      if (!trusted(call.metadata)) return callback(refused);
      call.on('data', accessLog);
      call.on('end', () => callback(null, {}));
      call.on('error', () => undefined);
    };
    server.addService(service(root, 'envoy.service.accesslog.v3.AccessLogService'), { StreamAccessLogs: stream });
  }
  return bind(server, listen);
}

async function bind(server: grpc.Server, listen: string): Promise<RpcServer> {
  const path = listen.startsWith('unix:') ? listen.slice('unix:'.length) : null;
  // A socket file that a killed process left would make the bind fail.
  if (path) rmSync(path, { force: true });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(listen, grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  if (path) chmodSync(path, 0o600);
  return {
    port: path ? null : port,
    close: (graceMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => server.forceShutdown(), graceMs);
        server.tryShutdown(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}
