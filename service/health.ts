/** Serves `GET /healthz` and `GET /metrics` of a service for monitoring, not for clients. */
import { createServer } from 'node:http';
import { parseListen } from '@gw/contract/internal/listen';
import type { Registry } from 'prom-client';
import { serviceMetrics } from './metrics.ts';
import { foreignHost, ownHosts } from './own-host.ts';

export interface HealthReport {
  /** Also false during an orderly shutdown. */
  readonly ok: boolean;
  /** Whether each dependency is available, by name. */
  readonly details: Readonly<Record<string, boolean>>;
  /** Whatever is wrong while it does its work, by name: a sentence with cause and cure. */
  readonly degraded: Readonly<Record<string, string>>;
}

export interface HealthEndpoint {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Listens on `listen`, which is `host:port`; rejects if the port is taken. Health is 200 if the service can do its work, otherwise
 * 503, both with the details. Metrics are in Prometheus' text format; `register` adds those of the service itself. `allowedHosts` are
 * further names of the port (own-host.ts).
 */
export async function serveHealth(
  part: string,
  listen: string,
  report: () => HealthReport,
  register: (registry: Registry) => void = () => undefined,
  allowedHosts: readonly string[] = [],
): Promise<HealthEndpoint> {
  const metrics = serviceMetrics(part, () => report().details);
  register(metrics);
  const isOwnHost = ownHosts(allowedHosts);
  const server = createServer((request, response) => {
    response.setHeader('x-content-type-options', 'nosniff');
    if (!isOwnHost(request.headers.host)) {
      response.writeHead(400, { 'content-type': 'text/plain' }).end(`${foreignHost}\n`);
      return;
    }
    if (request.method === 'GET' && request.url === '/metrics') {
      metrics.metrics().then(
        (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
        () => response.writeHead(500).end(),
      );
      return;
    }
    if (request.method !== 'GET' || request.url !== '/healthz') {
      response.writeHead(404).end();
      return;
    }
    const { ok, details, degraded } = report();
    const status = ok ? (Object.keys(degraded).length > 0 ? 'degraded' : 'ok') : 'unavailable';
    response
      .writeHead(ok ? 200 : 503, { 'content-type': 'application/json' })
      .end(JSON.stringify({ status, ...details, degraded }));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(parseListen(listen), resolve);
  });
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound ? bound.port : 0,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
