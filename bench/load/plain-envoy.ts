/** Envoy with nothing but a router in front of the provider: what a proxy costs that does none of our work. */
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '@gw/stack/child';

/** As many threads as the gateway's own Envoy has, so that the two can be compared. */
export const workersOfEnvoy = (): number => Math.min(availableParallelism(), 8);

export interface PlainEnvoyOptions {
  readonly binary: string;
  /** Holds its configuration and its log. */
  readonly dir: string;
  readonly port: number;
  readonly upstreamPort: number;
}

const loopback = (port: number): object => ({ socket_address: { address: '127.0.0.1', port_value: port } });

const httpOptions = {
  '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
  explicit_http_config: { http_protocol_options: {} },
};

const LIMITS = { max_connections: 100_000, max_pending_requests: 100_000, max_requests: 100_000 };

/** A bootstrap without admin port, access log, retries or time limits. */
export function plainEnvoyConfig(port: number, upstreamPort: number): object {
  const manager = {
    '@type': 'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    stat_prefix: 'plain',
    route_config: {
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          routes: [{ match: { prefix: '/' }, route: { cluster: 'provider', timeout: '0s' } }],
        },
      ],
    },
    http_filters: [
      {
        name: 'envoy.filters.http.router',
        typed_config: { '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router' },
      },
    ],
  };
  const filter = { name: 'envoy.filters.network.http_connection_manager', typed_config: manager };
  const cluster = {
    name: 'provider',
    type: 'STATIC',
    connect_timeout: '5s',
    circuit_breakers: { thresholds: [LIMITS] },
    typed_extension_protocol_options: { 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': httpOptions },
    load_assignment: {
      cluster_name: 'provider',
      endpoints: [{ lb_endpoints: [{ endpoint: { address: loopback(upstreamPort) } }] }],
    },
  };
  return {
    static_resources: {
      listeners: [{ name: 'plain', address: loopback(port), filter_chains: [{ filters: [filter] }] }],
      clusters: [cluster],
    },
  };
}

async function isReady(port: number): Promise<boolean> {
  try {
    const reply = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(1000) });
    await reply.text();
    return reply.status === 200;
  } catch {
    return false;
  }
}

/** Resolves when the provider can be reached through it; else nothing is left running. */
export async function startPlainEnvoy(options: PlainEnvoyOptions): Promise<Child> {
  const configFile = join(options.dir, 'plain-envoy.json');
  const logFile = join(options.dir, 'plain-envoy.log');
  writeFileSync(configFile, JSON.stringify(plainEnvoyConfig(options.port, options.upstreamPort)));
  const args = ['-c', configFile, '--disable-hot-restart', '--concurrency', String(workersOfEnvoy())];
  const child = await startChild({
    command: options.binary,
    args: [...args, '--log-level', 'warning'],
    env: { PATH: process.env.PATH },
    logFile,
  });
  const end = performance.now() + 15_000;
  while (performance.now() < end && child.alive()) {
    if ((await isReady(options.port)) && child.alive()) return child;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await child.stop();
  throw new Error(`Plain Envoy did not start: ${readFileSync(logFile, 'utf8').slice(-1000)}`);
}
