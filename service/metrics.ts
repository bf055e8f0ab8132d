/** What the monitoring system reads of a service, in Prometheus' text format. */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { watchEventLoop } from './event-loop.ts';

type Dependencies = Readonly<Record<string, boolean>>;

/** Process metrics, how long the event loop is held, and `gw_up{dependency="…"}`: 1 where the dependency is there, 0 where it is not. */
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
