import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { succeedsWithin } from './bounded.ts';

/** As if another process had the processor. */
function block(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test('an answer that has arrived counts, however late this process is to look', async () => {
  const echo = spawn('cat', { stdio: ['pipe', 'pipe', 'ignore'] });
  try {
    // Once there and back, so that the other process is up.
    echo.stdin.write('x');
    await once(echo.stdout, 'data');
    echo.stdin.write('x');
    const answer = succeedsWithin(once(echo.stdout, 'data'), 20);
    block(200);
    expect(await answer).toBe(true);
  } finally {
    echo.kill();
  }
});

test('a question that could not be sent in time gets its time once more, and no more than that', async () => {
  // Sent after the block, and answered 20 ms later.
  const late = succeedsWithin(new Promise((resolve) => setImmediate(() => setTimeout(resolve, 20))), 40);
  block(100);
  expect(await late).toBe(true);
  const never = succeedsWithin(new Promise(() => undefined), 40);
  block(100);
  expect(await never).toBe(false);
});

test('no answer, and a failed one, are both false, and neither is thrown', async () => {
  expect(await succeedsWithin(new Promise(() => undefined), 5)).toBe(false);
  expect(await succeedsWithin(Promise.reject(new Error('away')), 1000)).toBe(false);
});
