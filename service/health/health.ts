/**
 * Serves the health and the metrics of a service, for probes and monitoring, not for clients. `GET /livez` is 200 while the event loop turns,
 * `/readyz` while the service should have calls; `/healthz` says of what it needs what is there, and what is wrong; `/metrics` is in Prometheus'
 * text format.
 *
 * A thread listens (health-worker.js), so an event loop that stands still is told, and no probe waits for it.
 */
import type { Registry } from 'prom-client';
import type { Logger } from '../log.ts';
import { serviceMetrics } from '../metrics.ts';
import type { AskedPath, HealthReply, HealthThreadData, HealthTimes } from './health-messages.ts';
import { type HealthEndpoint, startHealthThread } from './health-thread.ts';
import type { Troubles } from './troubles.ts';

export type { HealthEndpoint } from './health-thread.ts';

export interface HealthReport {
  /** Whether it should have calls. Also false during an orderly shutdown. */
  readonly ok: boolean;
  /** Whether each dependency is available, by name. */
  readonly details: Readonly<Record<string, boolean>>;
  /** Further troubles, by name, which have a metric and a line in the log of their own. */
  readonly degraded?: Readonly<Record<string, string>>;
}

export interface HealthListeners {
  /** `host:port`; null: none. */
  readonly healthListen: string | null;
  /** Where `/metrics` is, and nothing else; null: at `healthListen` if that is on loopback, otherwise nowhere, since metrics name accounts. */
  readonly metricsListen: string | null;
  /** Further names of the ports (own-host.ts). */
  readonly allowedHosts: readonly string[];
}

export interface HealthOptions {
  readonly part: string;
  readonly listeners: HealthListeners;
  readonly log: Logger;
  readonly report: () => HealthReport;
  readonly troubles: Pick<Troubles, 'current' | 'register'>;
  /** Adds the metrics of the service itself. */
  readonly register?: (registry: Registry) => void;
  /** All metrics, in place of those of the process, of `report`, `troubles` and `register`. */
  readonly metrics?: Registry;
  /** For tests. */
  readonly times?: HealthTimes;
}

/** A probe of Kubernetes waits for a second, Prometheus for ten. */
const ownTimes: HealthTimes = {
  patienceMs: { '/readyz': 800, '/healthz': 3000, '/metrics': 8000 },
  toldAfterS: 10,
  deadAfterS: 30,
  lookEveryMs: 1000,
};

/** Rejects if a port is taken. */
export async function serveHealth({ listeners, log, register, ...options }: HealthOptions): Promise<HealthEndpoint> {
  const { part, report, troubles } = options;
  const details = () => ({ ...report().details, event_loop: true });
  const ownMetrics = (): Registry => {
    const registry = serviceMetrics(part, details);
    troubles.register(registry);
    register?.(registry);
    return registry;
  };
  const metrics = options.metrics ?? ownMetrics();
  const answerTo = async (path: AskedPath): Promise<HealthReply> => {
    if (path === '/metrics') return { status: 200, contentType: metrics.contentType, body: await metrics.metrics() };
    const { ok, degraded: others } = report();
    const degraded = { ...others, ...troubles.current() };
    const status = ok ? (Object.keys(degraded).length > 0 ? 'degraded' : 'ok') : 'unavailable';
    const body = path === '/readyz' ? { status: ok ? 'ok' : status } : { status, ...details(), degraded };
    return { status: ok ? 200 : 503, contentType: 'application/json', body: JSON.stringify(body) };
  };
  const data: HealthThreadData = {
    part,
    logLevel: log.level,
    listen: listeners.healthListen,
    metricsListen: listeners.metricsListen,
    allowedHosts: listeners.allowedHosts,
    times: options.times ?? ownTimes,
  };
  if (data.listen === null && data.metricsListen === null)
    return { port: 0, metricsPort: 0, close: async () => undefined };
  return startHealthThread(data, answerTo, log);
}
