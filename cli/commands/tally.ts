/** Counting of tests and checks. */
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { jsonIn } from '@gw/contract/internal/json-in';
import { z } from 'zod';

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Tests that failed, by file and name, as far as they have one, each with the first lines of what it said. */
  readonly failures?: readonly string[];
}

export function add(a: Tally, b: Tally): Tally {
  const failures = [...(a.failures ?? []), ...(b.failures ?? [])];
  const counts = { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
  return failures.length > 0 ? { ...counts, failures } : counts;
}

const mostNamed = 20;

/** Lists the failures again at the end of a run; empty if nothing failed, or nothing that has a name. */
export function failuresText({ failures = [] }: Tally): string {
  if (failures.length === 0) return '';
  const more = failures.length > mostNamed ? [`  and ${failures.length - mostNamed} more`] : [];
  return ['', 'Failed:', ...failures.slice(0, mostNamed).map((name) => `  ${name}`), ...more, ''].join('\n');
}

/** The line that closes a run. */
export function tallyLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** The part of vitest's JSON report that we read. */
const reportSchema = z.object({
  numPassedTests: z.int().nonnegative(),
  numFailedTests: z.int().nonnegative(),
  numPendingTests: z.int().nonnegative(),
  numTodoTests: z.int().nonnegative(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(
        z.object({ status: z.string(), fullName: z.string(), failureMessages: z.array(z.string()).default([]) }),
      ),
    }),
  ),
});

/**
 * `report` is vitest's JSON, or null if it left none; `succeeded` is its exit; files are named from `root` on. A file that failed to load, and a run
 * that failed for any other reason, count as one failed test each: a run that went wrong never looks green.
 */
export function tallyOfVitest(report: string | null, succeeded: boolean, root: string): Tally {
  const broken: Tally = { passed: 0, failed: 1, skipped: 0 };
  if (report === null) return broken;
  const parsed = reportSchema.safeParse(jsonIn(report));
  if (!parsed.success) return broken;
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = parsed.data;
  const notLoaded = testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const failed = numFailedTests + notLoaded;
  const failures = testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ assertionResults, name }) => {
      const file = relative(root, name);
      const failed = assertionResults.filter(({ status }) => status === 'failed');
      if (failed.length === 0) return [`${file} could not be run`];
      return failed.map((test) => `${file}: ${test.fullName}${saidBy(test.failureMessages)}`);
    });
  return {
    passed: numPassedTests,
    failed: failed === 0 && !succeeded ? 1 : failed,
    skipped: numPendingTests + numTodoTests,
    ...(failures.length > 0 && { failures }),
  };
}

const mostSaid = 2000;

/** Without the stack, and without colours. */
function saidBy(messages: readonly string[]): string {
  const lines = messages
    .flatMap((message) => stripVTControlCharacters(message).split('\n'))
    .filter((line) => line.trim() !== '' && !/^\s+at /.test(line));
  const text = lines.map((line) => `\n    ${line}`).join('');
  return text.length > mostSaid ? `${text.slice(0, mostSaid)} …` : text;
}
