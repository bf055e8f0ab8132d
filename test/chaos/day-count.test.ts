import { expect, test } from 'vitest';
import { wronglyCounted } from './day-count.ts';
import type { Attempt } from './traffic.ts';
import type { Blow } from './troubles.ts';

/** One call each 100 ms. */
const attempts: Attempt[] = Array.from({ length: 50 }, (_, index) => ({
  marker: `m${index}`,
  kind: 'chat',
  url: '',
  idempotencyKey: null,
  beganMs: index * 100,
  endedMs: index * 100 + 50,
  status: 200,
  headers: new Headers({ 'x-ratelimit-remaining-day': '7' }),
  text: '',
  whole: true,
  aborted: false,
  fault: null,
}));
const away = (atMs: number, forMs: number): Blow => ({
  part: 'valkey',
  trouble: 'pause',
  atMs,
  forMs,
  back: Promise.resolve(null),
});
const books = { attempts, providerCalls: [], blows: [], forgotten: [], usedToday: 50 };
const lost = [{ fromMs: 3000, toMs: 3990 }];

test('each call that was let in counts once', () => {
  expect(wronglyCounted(books)).toEqual([]);
  expect(wronglyCounted({ ...books, usedToday: 49 })).toEqual([expect.stringContaining('the day counts 49; 50 calls')]);
  expect(wronglyCounted({ ...books, usedToday: 51 })).toHaveLength(1);
});

test('only counts of the writes that Valkey has lost may be missing, and of the outage that was settled with them', () => {
  expect(wronglyCounted({ ...books, forgotten: lost, usedToday: 40 })).toEqual([]);
  expect(wronglyCounted({ ...books, forgotten: lost, usedToday: 39 })).toHaveLength(1);
  const settled = { ...books, forgotten: lost, blows: [away(1000, 1500)] };
  expect(wronglyCounted({ ...settled, usedToday: 20 })).toEqual([]);
  expect(wronglyCounted({ ...settled, usedToday: 19 })).toHaveLength(1);
});

test('a lease that met no sidecar counts for nothing, nor what a sidecar let in while Valkey was away and it ended', () => {
  const refused = attempts.map((each, at) => (at < 5 ? { ...each, status: 503 } : each));
  expect(wronglyCounted({ ...books, attempts: refused, usedToday: 45 })).toEqual([]);
  expect(wronglyCounted({ ...books, attempts: refused, usedToday: 44 })).toHaveLength(1);
  const ended: Blow = { ...away(2000, 0), part: 'receipt-sidecar', trouble: 'kill' };
  const blows = [away(1000, 500), ended];
  expect(wronglyCounted({ ...books, blows, usedToday: 39 })).toEqual([]);
  expect(wronglyCounted({ ...books, blows, usedToday: 38 })).toHaveLength(1);
  expect(wronglyCounted({ ...books, blows: [ended], usedToday: 49 })).toHaveLength(1);
});
