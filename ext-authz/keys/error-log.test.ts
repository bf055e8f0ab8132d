import { expect, it } from 'vitest';
import { openErrorLog } from './error-log.ts';

it('writes one line per interval, however many calls fail, and counts those between', () => {
  const lines: unknown[] = [];
  let nowMs = 0;
  const faults = openErrorLog({
    log: { error: (fields: unknown) => void lines.push(fields) },
    now: () => nowMs,
    intervalMs: 10_000,
  });
  for (nowMs = 0; nowMs < 10_000; nowMs += 1) faults.note(new Error('away'));
  expect(lines).toEqual([{ err: new Error('away'), calls: 1 }]);
  faults.note('still away');
  expect(lines.slice(1)).toEqual([{ err: 'still away', calls: 10_000 }]);
  nowMs += 60_000;
  faults.note(new Error('again'));
  expect(lines.slice(2)).toEqual([{ err: new Error('again'), calls: 1 }]);
});
