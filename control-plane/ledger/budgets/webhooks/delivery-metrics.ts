/** Metrics of the webhooks of budgets. */
import { Counter, type Registry } from 'prom-client';

/** `failed` is tried again; `given_up` was a try that failed too, and the last one. */
const outcomes = ['delivered', 'failed', 'given_up'] as const;
export type DeliveryOutcome = (typeof outcomes)[number];

export interface DeliveryMetrics {
  tried(outcome: DeliveryOutcome): void;
  register(registry: Registry): void;
}

export function createDeliveryMetrics(): DeliveryMetrics {
  const deliveries = new Counter({
    name: 'gw_webhook_deliveries_total',
    help: 'Tries of this instance to send a webhook of budgets, by outcome',
    labelNames: ['outcome'],
    registers: [],
  });
  // Known from the start, so that the first one is an increase.
  for (const outcome of outcomes) deliveries.inc({ outcome }, 0);
  return {
    tried: (outcome) => deliveries.inc({ outcome }),
    register: (registry) => registry.registerMetric(deliveries),
  };
}
