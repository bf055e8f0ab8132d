import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { boundedWrites, succeedsWithin } from './bounded.ts';

afterEach(() => vi.useRealTimers());

/** Timers alone: turns of the event loop stay real. */
const useFakeTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
async function advance(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await turn();
}

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
    const answer = succeedsWithin(once(echo.stdout, 'data'), { leftMs: 20 });
    block(200);
    expect(await answer).toBe(true);
  } finally {
    echo.kill();
  }
});

test('time in which this process could not run counts little, and an end comes all the same', async () => {
  // Sent after the block, and answered 20 ms later.
  const late = succeedsWithin(new Promise((resolve) => setImmediate(() => setTimeout(resolve, 20))), { leftMs: 40 });
  block(100);
  expect(await late).toBe(true);
  const never = succeedsWithin(new Promise(() => undefined), { leftMs: 40 });
  block(100);
  expect(await never).toBe(false);
});

test('no answer, and a failed one, are both false, and neither is thrown', async () => {
  expect(await succeedsWithin(new Promise(() => undefined), { leftMs: 5 })).toBe(false);
  expect(await succeedsWithin(Promise.reject(new Error('away')), { leftMs: 1000 })).toBe(false);
});

test('two waits share one patience, and the first can be bounded further', async () => {
  useFakeTime();
  const patience = { leftMs: 50 };
  const first = succeedsWithin(new Promise(() => undefined), patience, 30);
  await advance(30);
  expect(await first).toBe(false);
  expect(patience.leftMs).toBe(20);
  let second: boolean | null = null;
  void succeedsWithin(new Promise(() => undefined), patience).then((succeeded) => {
    second = succeeded;
  });
  await advance(19);
  expect(second).toBeNull();
  await advance(1);
  expect(second).toBe(false);
  expect(patience.leftMs).toBe(0);
});

test('what succeeds or fails before its end takes no more than it took', async () => {
  useFakeTime();
  const patience = { leftMs: 50 };
  const failed = succeedsWithin(
    new Promise((_, reject) => setTimeout(() => reject(new Error('refused')), 12)),
    patience,
  );
  await advance(12);
  expect(await failed).toBe(false);
  expect(patience.leftMs).toBe(38);
});

test('while a write has not come back no other is begun, and afterwards the next one is', async () => {
  const disk = boundedWrites();
  let comeBack = (): void => {};
  const slow = new Promise<void>((resolve) => {
    comeBack = resolve;
  });
  const begun: string[] = [];
  const write = (name: string, done: Promise<void>) => () => {
    begun.push(name);
    return done;
  };
  expect(await disk.attempt(write('slow', slow), { leftMs: 5 })).toBe(false);
  expect(disk.hanging()).toBe(true);
  expect(await disk.attempt(write('behind it', Promise.resolve()), { leftMs: 1000 })).toBe(false);
  comeBack();
  await vi.waitUntil(() => !disk.hanging());
  expect(await disk.attempt(write('after it', Promise.resolve()), { leftMs: 1000 })).toBe(true);
  expect(begun).toEqual(['slow', 'after it']);
});
