/** Metrics that every service has, for Prometheus. */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { watchEventLoop } from './event-loop.ts';

/**
 * What prom-client learns of the loop by waking up a hundred times a second, which is most of what an idle service would do;
 * `gw_event_loop_held_seconds` tells more for less. It cannot be left out, only be told to sample next to never.
 */
const sampledLag = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'].map(
  (each) => `nodejs_eventloop_lag_${each}_seconds`,
);
const neverMs = 86_400_000;

type Dependencies = Readonly<Record<string, boolean>>;

/**
 * Returns a registry with the metrics of the process, how long the event loop is held, and `gw_up{dependency="…"}`, which is 1
 * if the dependency is there and 0 if it is not.
 */
export function serviceMetrics(part: string, dependencies: () => Dependencies | Promise<Dependencies>): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ part });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMs });
  for (const name of sampledLag) registry.removeSingleMetric(name);
  watchEventLoop(registry);
  const up = new Gauge({
    name: 'gw_up',
    help: 'Whether what the service depends on is there',
    labelNames: ['dependency'],
    registers: [],
    async collect() {
      for (const [dependency, there] of Object.entries(await dependencies())) this.set({ dependency }, there ? 1 : 0);
    },
  });
  registry.registerMetric(up);
  return registry;
}
