import fc from 'fast-check';
import { expect, test } from 'vitest';
import { add, tallyLine, tallyOfVitest } from './tally.ts';

const report = (numbers: { passed: number; failed: number; skipped: number }, files: unknown[] = []): string =>
  JSON.stringify({
    numPassedTests: numbers.passed,
    numFailedTests: numbers.failed,
    numPendingTests: numbers.skipped,
    numTodoTests: 0,
    testResults: files,
  });

test('the closing line names skipped tests only if there are any', () => {
  expect(tallyLine({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed');
  expect(tallyLine({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped');
});

test('a run that went wrong never looks green', () => {
  expect(tallyOfVitest(null, true).failed).toBe(1);
  expect(tallyOfVitest('{', true).failed).toBe(1);
  expect(tallyOfVitest(report({ passed: 5, failed: 0, skipped: 0 }), false)).toEqual({
    passed: 5,
    failed: 1,
    skipped: 0,
  });
  const notLoaded = { status: 'failed', assertionResults: [] };
  expect(tallyOfVitest(report({ passed: 5, failed: 0, skipped: 0 }, [notLoaded, notLoaded]), false).failed).toBe(2);
});

test('every test is counted once, and sums add up', () => {
  const number = fc.nat(1000);
  fc.assert(
    fc.property(fc.record({ passed: number, failed: number, skipped: number }), (numbers) => {
      const counted = tallyOfVitest(report(numbers), numbers.failed === 0);
      expect(counted).toEqual(numbers);
      expect(add(counted, { passed: 1, failed: 0, skipped: 0 }).passed).toBe(numbers.passed + 1);
    }),
  );
});
