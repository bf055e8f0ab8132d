/** Metrics of prompts whose tokens had to be counted; most prompts pass by their bytes. */
import { Counter, type Registry } from 'prom-client';

const outcomes = ['fits', 'too_long', 'uncounted'] as const;
export type PromptOutcome = (typeof outcomes)[number];

export interface PromptMetrics {
  /** `uncounted` means that counting took more than 2 s or failed, and that the prompt passed. */
  note(outcome: PromptOutcome): void;
  /** Adds the metric to those of the service. */
  register(registry: Registry): void;
}

export function createPromptMetrics(): PromptMetrics {
  const counted = new Counter({
    name: 'gw_prompts_counted_total',
    help: 'Prompts whose tokens had to be counted, by what came of it',
    labelNames: ['outcome'],
    registers: [],
  });
  // Known from the start, so that the first one is an increase.
  for (const outcome of outcomes) counted.inc({ outcome }, 0);
  return { note: (outcome) => counted.inc({ outcome }), register: (registry) => registry.registerMetric(counted) };
}
