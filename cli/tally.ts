/** Counting of tests and checks. */
import { z } from 'zod';

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export function add(a: Tally, b: Tally): Tally {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

/** The line that closes a run. */
export function tallyLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** What we read of vitest's JSON report. */
const reportSchema = z.object({
  numPassedTests: z.int().nonnegative(),
  numFailedTests: z.int().nonnegative(),
  numPendingTests: z.int().nonnegative(),
  numTodoTests: z.int().nonnegative(),
  testResults: z.array(z.object({ status: z.string(), assertionResults: z.array(z.object({ status: z.string() })) })),
});

/**
 * `report` is vitest's JSON, or null if it left none; `succeeded` is its exit. A file that failed to load, and a run
 * that failed for any other reason, count as one failed test each: a run that went wrong never looks green.
 */
export function tallyOfVitest(report: string | null, succeeded: boolean): Tally {
  const broken: Tally = { passed: 0, failed: 1, skipped: 0 };
  if (report === null) return broken;
  const parsed = reportSchema.safeParse(parseOrNull(report));
  if (!parsed.success) return broken;
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = parsed.data;
  const notLoaded = testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const failed = numFailedTests + notLoaded;
  return {
    passed: numPassedTests,
    failed: failed === 0 && !succeeded ? 1 : failed,
    skipped: numPendingTests + numTodoTests,
  };
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
