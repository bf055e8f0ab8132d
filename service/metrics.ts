/** Prometheus metrics of every service. */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { watchEventLoop } from './event-loop.ts';

/**
 * prom-client measures these by waking up a hundred times a second, which is most of an idle service's work, and
 * `gw_event_loop_held_seconds` is more accurate. They cannot be switched off, so they sample almost never.
 */
const sampledLag = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'].map(
  (each) => `nodejs_eventloop_lag_${each}_seconds`,
);
const neverMs = 86_400_000;

type Dependencies = Readonly<Record<string, boolean>>;

/** Returns a registry with metrics of the process and the event loop, and `gw_up{dependency="…"}`: 1 if available, otherwise 0. */
export function serviceMetrics(part: string, dependencies: () => Dependencies | Promise<Dependencies>): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ part });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMs });
  for (const name of sampledLag) registry.removeSingleMetric(name);
  watchEventLoop(registry);
  const up = new Gauge({
    name: 'gw_up',
    help: 'Whether a dependency of the service is available',
    labelNames: ['dependency'],
    registers: [],
    async collect() {
      for (const [dependency, there] of Object.entries(await dependencies())) this.set({ dependency }, there ? 1 : 0);
    },
  });
  registry.registerMetric(up);
  return registry;
}
