/** Metrics of prompts whose tokens had to be counted; most prompts pass by their bytes. */
import { counter, registering } from '@gw/service/metric';
import type { Registry } from 'prom-client';

const outcomes = ['fits', 'too_long', 'uncounted'] as const;
export type PromptOutcome = (typeof outcomes)[number];

export interface PromptMetrics {
  /** `uncounted` means that counting took more than 2 s or failed, and that the prompt passed. */
  note(outcome: PromptOutcome): void;
  /** Adds the metric to those of the service. */
  register(registry: Registry): void;
}

export function createPromptMetrics(): PromptMetrics {
  const counted = counter('gw_prompts_counted_total', 'Prompts whose tokens had to be counted, by what came of it', {
    outcome: outcomes,
  });
  return { note: (outcome) => counted.inc({ outcome }), register: registering(counted) };
}
