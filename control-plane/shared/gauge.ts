/** A number of a store among the metrics. */
import { Gauge } from 'prom-client';

/**
 * Returns a gauge that is read at each scrape. It is absent while `read` rejects, because the store is away, or finds no number: an old
 * number would look like a current one.
 */
export const gaugeOf = (name: string, help: string, read: () => Promise<number | null>): Gauge =>
  new Gauge({
    name,
    help,
    registers: [],
    async collect() {
      const current = await read().catch(() => null);
      if (current === null) this.remove();
      else this.set(current);
    },
  });
