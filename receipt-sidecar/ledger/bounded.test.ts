import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { succeedsWithin } from './bounded.ts';

test('an answer that has arrived counts, however late this process is to look', async () => {
  const echo = spawn('cat', { stdio: ['pipe', 'pipe', 'ignore'] });
  try {
    // Once there and back, so that the other process is up.
    echo.stdin.write('x');
    await once(echo.stdout, 'data');
    echo.stdin.write('x');
    const answer = succeedsWithin(once(echo.stdout, 'data'), 20);
    for (const end = performance.now() + 200; performance.now() < end; );
    expect(await answer).toBe(true);
  } finally {
    echo.kill();
  }
});

test('no answer, and a failed one, are both false, and neither is thrown', async () => {
  expect(await succeedsWithin(new Promise(() => undefined), 5)).toBe(false);
  expect(await succeedsWithin(Promise.reject(new Error('away')), 1000)).toBe(false);
});
