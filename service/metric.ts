/** Metrics of one part, which a service adds to its registry. */
import { Counter, Gauge, type Registry } from 'prom-client';

type LabelValues = Readonly<Record<string, readonly string[]>>;

/** Counts by labels. Every set of these values is exported as 0 from the start, so that the first count is an increase. */
export function counter<Labels extends LabelValues>(
  name: string,
  help: string,
  labels: Labels,
): Counter<keyof Labels & string> {
  const counted = new Counter<string>({ name, help, labelNames: Object.keys(labels), registers: [] });
  let sets: Record<string, string>[] = [{}];
  for (const [label, values] of Object.entries(labels))
    sets = sets.flatMap((set) => values.map((value) => ({ ...set, [label]: value })));
  for (const set of sets) counted.inc(set, 0);
  return counted;
}

/** Shows a value at the time of each scrape; true is 1. */
export const gauge = (name: string, help: string, value: () => number | boolean): Gauge =>
  new Gauge({
    name,
    help,
    registers: [],
    collect() {
      this.set(Number(value()));
    },
  });

export const registering =
  (...metrics: readonly Parameters<Registry['registerMetric']>[0][]) =>
  (registry: Registry): void => {
    for (const metric of metrics) registry.registerMetric(metric);
  };
