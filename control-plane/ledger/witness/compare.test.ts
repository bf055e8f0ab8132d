/** A difference between the two witnesses means something else by when it is seen, and by what else is known. */
import { describe, expect, test } from 'vitest';
import { judge, type Minute, type Surroundings } from './compare.ts';

const minute = new Date('2026-11-29T10:41:00Z');
/** Seconds from the end of the minute. */
const at = (s: number) => new Date(minute.getTime() + 60_000 + s * 1000);
const row = (calls: number, receipts: number, more: Partial<Minute> = {}): Minute => ({
  minute,
  account_id: 'acct_a',
  calls,
  receipts,
  measured: receipts,
  whole: receipts,
  verdict: null,
  differs_at: null,
  ...more,
});
const known = (now: Date, more: Partial<Surroundings> = {}): Surroundings => ({
  now,
  gaps: [],
  since: new Date('2026-11-29T09:00:00Z'),
  pending: new Map(),
  ...more,
});
const verdictOf = (judged: Minute, surroundings: Surroundings) => judge(judged, surroundings).verdict;

test('where they agree, the minute is looked at once more, and then left alone', () => {
  expect(judge(row(5, 5), known(at(12)))).toEqual({ verdict: 'agrees', differs_at: null, due_at: at(55) });
  expect(judge(row(5, 5), known(at(56)))).toEqual({ verdict: 'agrees', differs_at: null, due_at: null });
});

test('receipts without numbers may be more than the calls; those with numbers may not', () => {
  const differs_at = at(12);
  expect(verdictOf(row(5, 7, { measured: 5, differs_at }), known(at(60)))).toBe('agrees');
  expect(verdictOf(row(5, 7, { measured: 6, differs_at }), known(at(60)))).toBe('extra');
});

describe('a difference counts when it has lasted, within two minutes of the begin of its minute', () => {
  test.each([
    ['extra', row(5, 6), 15],
    ['missing', row(6, 5), 35],
  ] as const)('%s', (verdict, differing, lastingS) => {
    const first = judge(differing, known(at(12)));
    expect(first).toMatchObject({ verdict: null, differs_at: at(12) });
    expect(verdictOf({ ...differing, ...first }, known(at(11 + lastingS)))).toBeNull();
    const later = judge({ ...differing, ...first }, known(at(12 + lastingS)));
    expect(later).toMatchObject({ verdict, differs_at: at(12) });
    expect(12 + lastingS).toBeLessThan(60);
    // It is looked at again, so that it is mended by itself.
    expect(later.due_at?.getTime()).toBeGreaterThan(at(12 + lastingS).getTime());
    expect(verdictOf({ ...differing, ...later, receipts: 6, measured: 6, calls: 6 }, known(at(600)))).toBe('agrees');
  });
});

test('a call that is not over excuses one receipt, and no second one', () => {
  const differs_at = at(12);
  const pending = new Map([[minute.getTime() / 60_000, 1]]);
  expect(verdictOf(row(6, 5, { differs_at }), known(at(60), { pending }))).toBeNull();
  expect(verdictOf(row(7, 5, { differs_at }), known(at(60), { pending }))).toBe('missing');
});

describe('receipts that nobody may have counted are not witnessed', () => {
  const extra = row(5, 6, { differs_at: at(12) });
  const gap = (fromS: number, toS: number | null) => ({ from_at: at(fromS), to_at: toS === null ? null : at(toS) });
  test.each([
    ['before there was any', { since: null }, 'not_witnessed'],
    ['in the minute in which it began', { since: at(-30) }, 'not_witnessed'],
    ['in a gap', { gaps: [gap(-30, -20)] }, 'not_witnessed'],
    ['just before one, in which they may have ended', { gaps: [gap(300, 310)] }, 'not_witnessed'],
    ['while nobody counts', { gaps: [gap(-4000, null)] }, 'not_witnessed'],
    ['long before a gap', { gaps: [gap(900, 910)] }, 'extra'],
    ['behind a gap', { gaps: [gap(-300, -200)] }, 'extra'],
  ])('%s', (_, more, verdict) => {
    expect(verdictOf(extra, known(at(1000), more))).toBe(verdict);
  });

  test('calls that broke off may have run for an hour before it; such that came to their end may not', () => {
    const gaps = [gap(1800, 1810)];
    const broken = { ...extra, whole: 5 };
    expect(verdictOf(broken, known(at(1900), { gaps }))).toBe('not_witnessed');
    expect(verdictOf(extra, known(at(1900), { gaps }))).toBe('extra');
    expect(verdictOf(broken, known(at(1900)))).toBe('extra');
  });

  test('a receipt that was named before stays named, whatever ends later', () => {
    expect(verdictOf({ ...extra, verdict: 'extra' }, known(at(1000), { gaps: [gap(300, 310)] }))).toBe('extra');
  });

  test('a gap excuses no missing receipt: each call that was counted has one', () => {
    const missing = row(6, 5, { differs_at: at(12) });
    expect(verdictOf(missing, known(at(100), { gaps: [gap(-30, -20)] }))).toBe('missing');
  });
});

describe('receipts that may still come are missing later', () => {
  const missing = row(6, 5, { differs_at: at(12) });
  const pending = new Map([[minute.getTime() / 60_000, 1]]);
  test.each([
    ['a call that is not over', { pending }, 100, null],
    ['a call that is not over, for two minutes', { pending }, 121, 'missing'],
    ['more than are not over', { pending: new Map([[minute.getTime() / 60_000, 0]]) }, 100, 'missing'],
    ['a ledger that lags behind', { pending: null }, 500, null],
    ['a ledger that lags behind for ten minutes', { pending: null }, 601, 'missing'],
  ])('%s', (_, more, s, verdict) => {
    expect(verdictOf(missing, known(at(s), more))).toBe(verdict);
  });
});
