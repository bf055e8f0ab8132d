/** Metrics of pools of connections to Postgres. */
import { Gauge, Histogram, type Registry } from 'prom-client';

export interface PoolState {
  readonly inUse: number;
  /** Statements that wait for a connection. */
  readonly waiting: number;
}

export interface PoolMetrics {
  /** A statement of the role has ended. */
  took(role: string, seconds: number): void;
  /** `pools`: by role. */
  register(registry: Registry, pools: Readonly<Record<string, () => PoolState>>): void;
}

export function createPoolMetrics(): PoolMetrics {
  const seconds = new Histogram({
    name: 'gw_postgres_statement_seconds',
    help: 'How long statements took, by the role that they run as',
    labelNames: ['role'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 15, 30],
    registers: [],
  });
  return {
    took: (role, took) => seconds.observe({ role }, took),
    register(registry, pools) {
      const perRole = (name: string, help: string, value: (state: PoolState) => number) =>
        new Gauge({
          name,
          help,
          labelNames: ['role'],
          registers: [],
          collect() {
            for (const [role, state] of Object.entries(pools)) this.set({ role }, value(state()));
          },
        });
      registry.registerMetric(seconds);
      registry.registerMetric(
        perRole(
          'gw_postgres_connections_in_use',
          'Connections that run a statement or a transaction',
          ({ inUse }) => inUse,
        ),
      );
      registry.registerMetric(
        perRole(
          'gw_postgres_connections_waited_for',
          'Statements that wait for a free connection',
          ({ waiting }) => waiting,
        ),
      );
    },
  };
}
