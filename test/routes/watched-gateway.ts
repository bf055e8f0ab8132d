/**
 * A second Envoy in front of the services of the shared stack, with the same configuration but for one thing: between it
 * and the control plane stands a witness that writes down every request that arrives.
 *
 * Invariant: the witness reads HTTP with the parser of the control plane itself, so two requests that arrive there as two
 * are two here, however they were dressed on their way.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { envoyBinary } from '@gw/stack/binaries';
import { startChild } from '@gw/stack/child';
import { freePorts } from '@gw/stack/ports';
import { ask } from '@gw/stack/readiness';
import { loadSecrets } from '@gw/stack/secrets';
import type { TestCertificate } from '@gw/testing/envoy/certificate';
import { vi } from 'vitest';
import { z } from 'zod';
import { stack } from '../shared-stack.ts';

export interface Arrived {
  readonly method: string;
  /** As it came, with its query. */
  readonly target: string;
  /** In the order in which they came, repeated ones too; names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export interface WatchedGateway {
  readonly port: number;
  readonly adminSocket: string;
  /** The requests that reached the control plane through this Envoy, without its fetches of configuration and health checks. */
  readonly arrived: Arrived[];
  /** How many calls the simulated provider has had, from wherever. */
  askedOfProvider(): Promise<number>;
  stop(): Promise<void>;
}

const address = z.looseObject({ socket_address: z.looseObject({ port_value: z.number() }).optional() });
const logger = z.looseObject({ name: z.string(), typed_config: z.looseObject({ path: z.string().optional() }) });
const listener = z.looseObject({
  name: z.string(),
  address: address.optional(),
  filter_chains: z.array(
    z.looseObject({
      transport_socket: z.unknown().optional(),
      filters: z.array(z.looseObject({ typed_config: z.looseObject({ access_log: z.array(logger).optional() }) })),
    }),
  ),
});
const cluster = z.looseObject({
  name: z.string(),
  load_assignment: z
    .looseObject({
      endpoints: z.array(
        z.looseObject({ lb_endpoints: z.array(z.looseObject({ endpoint: z.looseObject({ address: z.unknown() }) })) }),
      ),
    })
    .optional(),
});
const configuration = z.looseObject({
  admin: z.looseObject({ address: z.object({ pipe: z.looseObject({ path: z.string() }) }) }),
  static_resources: z.looseObject({ listeners: z.array(listener), clusters: z.array(cluster) }),
});

const found = <T>(value: T | undefined, what: string): T => {
  if (value === undefined) throw new Error(`The configuration of Envoy has no ${what}.`);
  return value;
};

interface Places {
  readonly port: number;
  readonly adminSocket: string;
  readonly accessLog: string;
  readonly controlPlane: string;
  readonly tls: TestCertificate | null;
}

const tlsSocket = ({ certificate, key }: TestCertificate) => ({
  name: 'envoy.transport_sockets.tls',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext',
    common_tls_context: {
      alpn_protocols: ['h2', 'http/1.1'],
      tls_certificates: [{ certificate_chain: { inline_string: certificate }, private_key: { inline_string: key } }],
    },
  },
});

function configFor(places: Places): string {
  const config = configuration.parse(JSON.parse(readFileSync(join(stack.dir, 'envoy.json'), 'utf8')));
  config.admin.address.pipe.path = places.adminSocket;
  // It would take the socket of the test calls away from the Envoy of the stack, for good.
  config.static_resources.listeners = config.static_resources.listeners.filter(({ name }) => name !== 'probe');
  const { listeners, clusters } = config.static_resources;
  const front = found(
    listeners.find(({ name }) => name === 'public'),
    'public listener',
  );
  found(front.address?.socket_address, 'public port').port_value = places.port;
  if (places.tls) for (const chain of front.filter_chains) chain.transport_socket = tlsSocket(places.tls);
  const loggers = front.filter_chains.flatMap(({ filters }) =>
    filters.flatMap((each) => each.typed_config.access_log ?? []),
  );
  for (const { typed_config: log } of loggers) if (log.path !== undefined) log.path = places.accessLog;
  const control = clusters.find(({ name }) => name === 'control_plane');
  const [place] = control?.load_assignment?.endpoints.flatMap((each) => each.lb_endpoints) ?? [];
  found(place, 'endpoint of the control plane').endpoint.address = { pipe: { path: places.controlPlane } };
  return JSON.stringify(config);
}

/** How Envoy names itself when it asks for the health of the control plane. No attempt of the suites has this name. */
const healthChecker = 'Envoy/HC';

/** Passes everything on, and notes what it is. */
function openWitness(arrived: Arrived[]): Server {
  const agent = new Agent();
  const socketPath = join(stack.sockets, 'control-plane.sock');
  return createServer({ maxHeaderSize: 64 * 1024 }, (incoming, reply) => {
    const { method = '', url: target = '', rawHeaders } = incoming;
    const isOwn = target.startsWith('/v3/discovery:') || incoming.headers['user-agent'] === healthChecker;
    if (!isOwn) {
      const headers = rawHeaders.flatMap((name, at) =>
        at % 2 === 0 ? [[name.toLowerCase(), rawHeaders[at + 1] ?? ''] as const] : [],
      );
      arrived.push({ method, target, headers });
    }
    // Node would send no such header without trailers.
    const { trailer: _, ...headers } = incoming.headers;
    const onward = request({ socketPath, agent, method, path: target, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(reply);
    });
    onward.on('error', () => reply.destroy());
    // In one piece: what is written after the reply has come would break the connection.
    const body: Buffer[] = [];
    incoming.on('data', (piece: Buffer) => body.push(piece));
    incoming.on('end', () => onward.end(Buffer.concat(body)));
  }).on('close', () => agent.destroy());
}

/** `tls`: the certificate of a public listener that speaks TLS, with HTTP/2 by its handshake. */
export async function startWatchedGateway(tls: TestCertificate | null = null): Promise<WatchedGateway> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-routes-'));
  const [port = 0] = await freePorts(1);
  const arrived: Arrived[] = [];
  const witness = openWitness(arrived);
  const [adminSocket, controlPlane] = [join(dir, 'admin.sock'), join(dir, 'control-plane.sock')];
  await new Promise<void>((resolve) => witness.listen(controlPlane, resolve));
  const file = join(dir, 'envoy.json');
  writeFileSync(file, configFor({ port, adminSocket, accessLog: join(dir, 'access.log'), controlPlane, tls }), {
    mode: 0o600,
  });
  const envoy = await startChild({
    command: await envoyBinary(() => undefined),
    args: ['-c', file, '--disable-hot-restart', '--concurrency', '2', '--log-level', 'error'],
    env: { GW_INTERNAL_TOKEN: loadSecrets(stack.dir).internalToken },
    logFile: join(dir, 'envoy.log'),
  });
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${port}/v1/chat/completions`;
  const call = { model: stack.model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 };
  const serves = () =>
    ask(url, stack.keys.enterprise, call).then(
      ({ status }) => status === 200,
      () => false,
    );
  await vi.waitUntil(serves, { timeout: 30_000, interval: 100 });
  return {
    port,
    adminSocket,
    arrived,
    askedOfProvider: async () => {
      const reply = await fetch(`${stack.simulatorUrl}/sim/count`);
      return z.object({ count: z.number() }).parse(await reply.json()).count;
    },
    stop: async () => {
      await envoy.stop();
      witness.closeAllConnections();
      await new Promise((resolve) => witness.close(resolve));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
