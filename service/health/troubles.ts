/**
 * Names what is wrong with a service while it goes on: each name is in `/healthz` with a sentence, in `gw_degraded` and in the log.
 *
 * Invariant: an outage is a line of the log where it begins and one where it ends, however often it is told, and one a minute at most where its
 * cause changes.
 */
import { Gauge, type Registry } from 'prom-client';
import type { Logger } from '../log.ts';

export interface Troubles {
  /** `sentence` names cause and cure, without secrets: `/healthz` shows it. Another sentence of the same name is another cause. */
  tell(name: string, sentence: string, error?: unknown): void;
  over(name: string): void;
  /** The sentences of all that is wrong at the moment, by name. */
  current(): Readonly<Record<string, string>>;
  register(registry: Registry): void;
}

/** Times are by the clock of `now`. */
interface Trouble {
  readonly since: number;
  readonly toldAt: number;
  readonly sentence: string;
}

/** How often the log tells another cause of the same trouble at most, ms. */
const tellEveryMs = 60_000;

/** `now`: a monotonic clock, ms. */
export function openTroubles(log: Pick<Logger, 'info' | 'warn'>, now: () => number): Troubles {
  const troubles = new Map<string, Trouble>();
  const names = new Set<string>();
  const current = () => Object.fromEntries([...troubles].map(([name, { sentence }]) => [name, sentence]));
  return {
    tell(name, sentence, error) {
      const known = troubles.get(name);
      if (known?.sentence === sentence) return;
      names.add(name);
      const isTold = known !== undefined && now() - known.toldAt < tellEveryMs;
      troubles.set(name, { since: known?.since ?? now(), toldAt: isTold ? known.toldAt : now(), sentence });
      if (isTold) return;
      log.warn({ degraded: name, ...(error !== undefined && { err: error }) }, sentence);
    },
    over(name) {
      const known = troubles.get(name);
      if (!troubles.delete(name) || !known) return;
      log.info(
        { degraded: name, seconds: Math.round((now() - known.since) / 1000) },
        `this is over: ${known.sentence}`,
      );
    },
    current,
    register(registry) {
      const degraded = new Gauge({
        name: 'gw_degraded',
        help: 'What is wrong at the moment, by its name in /healthz, which says more; 0: it is over',
        labelNames: ['cause'],
        registers: [],
        collect() {
          for (const name of names) this.set({ cause: name }, troubles.has(name) ? 1 : 0);
        },
      });
      registry.registerMetric(degraded);
    },
  };
}
