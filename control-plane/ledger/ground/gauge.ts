/** Metrics of the ground that the gateway stands on. */
import type { Redis } from 'ioredis';
import type { Registry } from 'prom-client';
import { gaugeOf } from '../../shared/gauge.ts';
import { readAlarm } from './ground.ts';

/** Adds the gauge to the metrics. It is read from Redis at each scrape, and absent while that does not answer. */
export function registerGround(registry: Registry, redis: Redis): void {
  const help = 'Whether Postgres has gone back in time, or is another one, and no operator has confirmed it';
  registry.registerMetric(
    gaugeOf('gw_postgres_went_back', help, async () => ((await readAlarm(redis)) === null ? 0 : 1)),
  );
}
