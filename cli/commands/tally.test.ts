import fc from 'fast-check';
import { expect, test } from 'vitest';
import { add, failuresText, tallyLine, tallyOfVitest } from './tally.ts';

const root = '/work';

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
  expect(tallyOfVitest(null, true, root).failed).toBe(1);
  expect(tallyOfVitest('{', true, root).failed).toBe(1);
  expect(tallyOfVitest(report({ passed: 5, failed: 0, skipped: 0 }), false, root)).toEqual({
    passed: 5,
    failed: 1,
    skipped: 0,
  });
  const notLoaded = { name: '/work/a.test.ts', status: 'failed', assertionResults: [] };
  expect(tallyOfVitest(report({ passed: 5, failed: 0, skipped: 0 }, [notLoaded, notLoaded]), false, root).failed).toBe(
    2,
  );
});

test('every test is counted once, and sums add up', () => {
  const number = fc.nat(1000);
  fc.assert(
    fc.property(fc.record({ passed: number, failed: number, skipped: number }), (numbers) => {
      const counted = tallyOfVitest(report(numbers), numbers.failed === 0, root);
      expect(counted).toEqual(numbers);
      expect(add(counted, { passed: 1, failed: 0, skipped: 0 }).passed).toBe(numbers.passed + 1);
    }),
  );
});

test('what failed is named at the end, which is all that a log may keep', () => {
  const said = {
    failureMessages: [
      '\u001b[31mAssertionError\u001b[39m: expected 1 to be 2\n    at /work/test/a.test.ts:3:4\n\n- 2\n+ 1',
    ],
  };
  const ran = (name: string, ...tests: readonly [string, string][]) => ({
    name: `/work/test/${name}.test.ts`,
    status: tests.some(([status]) => status === 'failed') ? 'failed' : 'passed',
    assertionResults: tests.map(([status, fullName]) => ({ status, fullName, ...(status === 'failed' && said) })),
  });
  const files = [ran('a', ['passed', 'one'], ['failed', 'group two']), ran('b', ['passed', 'three'])];
  const broken = { name: '/work/test/c.test.ts', status: 'failed', assertionResults: [] };
  const tally = tallyOfVitest(report({ passed: 2, failed: 1, skipped: 0 }, [...files, broken]), false, root);
  expect(failuresText(add(tally, { passed: 1, failed: 0, skipped: 0 }))).toBe(
    '\nFailed:\n  test/a.test.ts: group two\n    AssertionError: expected 1 to be 2\n    - 2\n    + 1\n  test/c.test.ts could not be run\n',
  );
  expect(failuresText({ passed: 1, failed: 0, skipped: 0 })).toBe('');
  const many = { passed: 0, failed: 30, skipped: 0, failures: Array.from({ length: 30 }, (_, at) => `t${at}`) };
  expect(failuresText(many)).toContain('\n  t19\n  and 10 more\n');
});
