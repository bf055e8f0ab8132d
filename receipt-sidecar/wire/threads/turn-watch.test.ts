import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { watchTurns } from './turn-watch.ts';

test('a body without a turn is told by metric, health and log, and the log is quiet for a minute', async () => {
  let nowMs = 5000;
  const lines: unknown[][] = [];
  const log = { warn: (...line: unknown[]) => void lines.push(line) };
  const watch = watchTurns({ log: log as never, clock: () => nowMs, waiting: (place) => (place === 'loop' ? 7 : 0) });
  const registry = new Registry();
  watch.register(registry);
  expect(watch.inTime()).toBe(true);
  watch.had('loop', 0.02);
  watch.hadNone('loop', 'late', 'acct');
  watch.hadNone('thread', 'full', 'other');
  expect(watch.inTime()).toBe(false);
  expect(lines).toEqual([[{ place: 'loop', why: 'late', accountId: 'acct' }, expect.stringContaining('add sidecars')]]);
  const text = await registry.metrics();
  expect(text).toContain('gw_body_turns_missed_total{place="loop",why="late"} 1');
  expect(text).toContain('gw_body_turns_missed_total{place="thread",why="late"} 0');
  expect(text).toContain('gw_body_wait_seconds_bucket{le="0.025",place="loop"} 1');
  expect(text).toContain('gw_body_wait_seconds_count{place="thread"} 0');
  expect(text).toContain('gw_bodies_waiting{place="loop"} 7');
  nowMs += 60_000;
  expect(watch.inTime()).toBe(true);
  watch.hadNone('loop', 'late', 'acct');
  expect(lines).toHaveLength(2);
});
