/**
 * Serves Envoy's services by gRPC.
 *
 * Invariant: a call without the internal token reaches no handler.
 */
import { chmodSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { InternalTokens, SettingReader } from '@gw/contract/internal/environment';
import { parseListen } from '@gw/contract/internal/listen';
import type { InternalCertificates } from '@gw/service/certificates';
import { tokenTest } from '@gw/service/internal-token';
import { methodsOf, OpenCalls, type ServerOptions } from './methods.ts';
import { openOwnServer } from './own-server.ts';
import type { EnvoyServices, RpcServer } from './service.ts';

export const implementations = ['own', 'grpc-js'] as const;
export type Implementation = (typeof implementations)[number];

export function readImplementation(settings: SettingReader): Implementation {
  const value = settings.optional('GW_GRPC_SERVER', 'own');
  const known = implementations.find((each) => each === value);
  if (!known) settings.problem(`GW_GRPC_SERVER is neither "own" nor "grpc-js". Example: GW_GRPC_SERVER=grpc-js`);
  return known ?? 'own';
}

/** Where and how a service listens for Envoy. */
export interface Listener extends InternalTokens {
  /** `unix:/path` (mode 0600) or `host:port`. */
  readonly listen: string;
  /** Only for `host:port`, since a Unix socket does not leave the machine. */
  readonly certificates?: InternalCertificates | null;
  readonly grpcServer?: Implementation;
}

/** Time, ms, until Envoy knows that a service leaves, with health checks every 0.5 s (envoy.template.yaml). */
const heardWithinMs = 750;

/** Wait after the cut, ms, since Node's http2 keeps a connection without any HTTP/2 for ten seconds. */
const closedWithinMs = 1000;

/** Wait, ms, after the last call for its entry in Envoy's access log, which Envoy sends every second. */
const lastWordsMs = 1250;

/** Resolves after `ms`, or when one of the signals is aborted. */
const pause = (ms: number, ...signals: readonly (AbortSignal | undefined)[]): Promise<void> => {
  const given = signals.filter((signal) => signal !== undefined);
  return delay(ms, undefined, { signal: AbortSignal.any(given) }).catch(() => undefined);
};

async function open(implementation: Implementation, options: ServerOptions) {
  if (implementation === 'own') return openOwnServer(options);
  const { openGrpcJsServer } = await import('./grpc-js-server.ts');
  return openGrpcJsServer(options);
}

/** Listens for Envoy's calls. `onError` gets the errors of handlers. Rejects if the address is in use. */
export async function serveEnvoy(
  { listen, certificates = null, grpcServer = 'own', ...tokens }: Listener,
  services: EnvoyServices,
  onError: (error: unknown) => void,
): Promise<RpcServer> {
  let isLeaving = false;
  const isServing = () => !isLeaving && (services.isServing?.() ?? true);
  const where = parseListen(listen);
  const path = 'path' in where ? where.path : null;
  // A socket file from a killed process would make the bind fail.
  if (path) rmSync(path, { force: true });
  const calls = new OpenCalls();
  const server = await open(grpcServer, {
    listen,
    tls: path === null ? certificates : null,
    tokenCheck: tokenChecks(tokens),
    methods: methodsOf(services, isServing, onError, calls),
    connectionEnded: services.connectionEnded,
  });
  if (path) chmodSync(path, 0o600);
  return {
    port: server.port,
    leave: () => {
      isLeaving = true;
      return delay(heardWithinMs);
    },
    close: async (graceMs, { beforeCut, hurry } = {}) => {
      const over = new AbortController();
      const drained = server.drain().finally(() => over.abort());
      await Promise.race([
        drained,
        calls.none().then(() => pause(lastWordsMs, over.signal, hurry)),
        pause(graceMs, over.signal, hurry),
      ]);
      if (calls.open > 0) beforeCut?.();
      server.cut();
      await Promise.race([drained, pause(closedWithinMs, over.signal)]);
      over.abort();
    },
  };
}

/**
 * Returns a function that creates the check for one connection. The check compares in constant time until the connection has sent the
 * right token. After that a plain comparison reveals nothing new, and Envoy sends the same token with every call.
 */
function tokenChecks(tokens: InternalTokens): () => (sent: string | undefined) => boolean {
  const isToken = tokenTest(tokens);
  return () => {
    let shown: string | null = null;
    return (sent) => {
      if (sent === undefined) return false;
      if (sent === shown) return true;
      if (!isToken(sent)) return false;
      shown = sent;
      return true;
    };
  };
}
