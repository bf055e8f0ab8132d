/** How long the steps of a request take by themselves, without any hop. */
import { randomBytes } from 'node:crypto';
import { chatRequestSchema } from '@gw/contract/chat';
import { generateApiKey, hashApiKey, parseApiKey } from '@gw/contract/internal/api-key';
import { assess } from '@gw/methodology/assess';
import type { CallFacts } from '@gw/methodology/facts';
import { annualReading } from '@gw/methodology/grid-annual';
import { median } from './statistics.ts';

const BATCHES = 15;

/**
 * Microseconds of one run: the median of batches that each take `batchMs`, after as long a time to warm up.
 * `now` is a monotonic clock in milliseconds.
 */
export function timeOf(step: () => unknown, now: () => number, batchMs = 10): number {
  const runFor = (ms: number): number => {
    const start = now();
    let runs = 0;
    let spent = 0;
    do {
      step();
      runs += 1;
      spent = now() - start;
    } while (spent < ms);
    return (spent * 1000) / runs;
  };
  runFor(batchMs * 5);
  return median(Array.from({ length: BATCHES }, () => runFor(batchMs))) ?? 0;
}

const facts: CallFacts = {
  requestedTier: 'auto',
  boundary: 'comprehensive',
  requestedAt: '2026-01-01T12:00:00.000Z',
  usage: { promptTokens: 200, cachedPromptTokens: 0, completionTokens: 150 },
  upstreamLatencyS: 2,
  model: {
    kind: 'chat',
    activeParametersB: { min: 70, max: 70 },
    totalParametersB: { min: 70, max: 70 },
    modelClass: 'large',
    quantizationBits: null,
    tokensPerS: null,
    ttftS: null,
  },
  site: { pue: 1.2, wueOnsiteLPerKwh: null },
  grid: annualReading('FRA'),
};

const body = JSON.stringify({
  model: 'sim-small',
  messages: [
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content: 'Say hello to the benchmark. '.repeat(20) },
  ],
  temperature: 0.5,
});

export function microBenchmarks(now: () => number): { name: string; us: number }[] {
  const pepper = randomBytes(32);
  const key = generateApiKey(randomBytes).plaintext;
  // A step that refuses its input would look very fast.
  if (!assess(facts).ok || !chatRequestSchema.safeParse(JSON.parse(body)).success || parseApiKey(key) === null) {
    throw new Error('A step of the benchmark does not take its own example.');
  }
  const steps: [string, () => unknown][] = [
    ['read and validate a chat request', () => chatRequestSchema.safeParse(JSON.parse(body))],
    ['check the form of a key and hash it', () => parseApiKey(key) && hashApiKey(key, pepper)],
    ['assess energy, carbon and water of a call', () => assess(facts)],
  ];
  return steps.map(([name, step]) => ({ name, us: timeOf(step, now) }));
}
