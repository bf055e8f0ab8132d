/** Metrics of screening. */
import { counter, gauge, registering } from '@gw/service/metric';
import { Histogram, type Registry } from 'prom-client';

const outcomes = ['pass', 'flag', 'block'] as const;
const judgements = ['answered', 'failed', 'not_configured'] as const;
export type ScreenOutcome = (typeof outcomes)[number];

export interface ScreenMetrics {
  screened(outcome: ScreenOutcome, seconds: number): void;
  /** A classifier was to judge a request. */
  classified(outcome: (typeof judgements)[number]): void;
  /** Adds the metrics to those of the service. */
  register(registry: Registry): void;
}

interface ScreenState {
  /** Gives how many events no store has taken yet, and how many were lost. */
  readonly unstored: () => { readonly kept: number; readonly lost: number };
  /** Whether the rules that were published last are not those in force, since they cannot be used. */
  readonly isPolicyUnusable: () => boolean;
}

export function createScreenMetrics({ isPolicyUnusable, unstored }: ScreenState): ScreenMetrics {
  const screened = counter('gw_policy_screened_total', 'Requests that were screened, by what came of it', {
    outcome: outcomes,
  });
  const classified = counter(
    'gw_policy_classifier_total',
    'Requests that a classifier was to judge, by what came of it',
    {
      outcome: judgements,
    },
  );
  const seconds = new Histogram({
    name: 'gw_policy_screen_seconds',
    help: 'How long screening one request took, from its parsed body to the verdict',
    buckets: [0.0001, 0.0005, 0.001, 0.002, 0.005, 0.02, 0.1, 0.5, 2],
    registers: [],
  });
  const gauges = [
    gauge(
      'gw_policy_events_kept',
      'Findings in memory because neither Redis nor the spool takes them',
      () => unstored().kept,
    ),
    gauge(
      'gw_policy_events_lost_total',
      'Findings that no store took and memory had no room for',
      () => unstored().lost,
    ),
    gauge(
      'gw_policy_unusable',
      '1 while the published rules of screening cannot be used here, and others stay in force',
      isPolicyUnusable,
    ),
  ];
  return {
    screened: (outcome, took) => {
      screened.inc({ outcome });
      seconds.observe(took);
    },
    classified: (outcome) => classified.inc({ outcome }),
    register: registering(screened, classified, seconds, ...gauges),
  };
}
