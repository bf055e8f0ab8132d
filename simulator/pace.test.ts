import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { plainDirectives } from './directives.ts';
import { delayMs, startPace } from './pace.ts';
import { errorReply, jsonReply } from './reply.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

function run(count: number, perSecond: number): { sent: number[]; isDone: () => boolean; stop: () => void } {
  const sent: number[] = [];
  const start = performance.now();
  let finished = false;
  const stop = startPace(
    {
      count,
      perSecond,
      emit: (from, to) => {
        for (let index = from; index < to; index++) sent.push(performance.now() - start);
      },
      done: () => {
        finished = true;
      },
    },
    () => performance.now(),
  );
  return { sent, isDone: () => finished, stop };
}

test('the first token comes at once, the others at their time, and then it is done', () => {
  const { sent, isDone } = run(5, 50);
  expect(sent).toEqual([0]);
  vi.advanceTimersByTime(79);
  expect(isDone()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(sent).toEqual([0, 20, 40, 60, 80]);
  expect(isDone()).toBe(true);
});

test('a pace above the resolution of timers is kept by sending several tokens at a time', () => {
  const { sent, isDone } = run(100, 10_000);
  vi.advanceTimersByTime(10);
  expect(sent).toHaveLength(100);
  expect(isDone()).toBe(true);
});

test('a stopped pace sends nothing more', () => {
  const { sent, isDone, stop } = run(5, 50);
  stop();
  vi.advanceTimersByTime(1000);
  expect(sent).toHaveLength(1);
  expect(isDone()).toBe(false);
});

test('the delay is the one asked for, else it follows from the pace, and errors have none', () => {
  const reply = jsonReply({}, 100);
  const asked = { ...plainDirectives, delayMs: null };
  expect(delayMs(reply, { ...asked, delayMs: 7 })).toBe(7);
  expect(delayMs(reply, asked)).toBe(0);
  expect(delayMs(reply, { ...asked, tokensPerSecond: 50 })).toBe(2000);
  expect(delayMs(reply, { ...asked, tokensPerSecond: null })).toBe(40);
  expect(delayMs(errorReply(500, ''), { ...asked, tokensPerSecond: null })).toBe(0);
  const stream = {
    kind: 'stream',
    headers: {},
    head: [],
    tokens: [],
    tail: [],
    tokensPerSecond: 80,
    firstTokenMs: 60,
  } as const;
  expect(delayMs(stream, { ...asked, tokensPerSecond: null })).toBe(60);
});
