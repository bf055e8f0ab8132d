/** Metrics that every service has, for Prometheus. */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { watchEventLoop } from './event-loop.ts';

type Dependencies = Readonly<Record<string, boolean>>;

/**
 * Returns a registry with the metrics of the process, how long the event loop is held, and `gw_up{dependency="…"}`, which is 1
 * if the dependency is there and 0 if it is not.
 */
export function serviceMetrics(part: string, dependencies: () => Dependencies | Promise<Dependencies>): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ part });
  collectDefaultMetrics({ register: registry });
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
