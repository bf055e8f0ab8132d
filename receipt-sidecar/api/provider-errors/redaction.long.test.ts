/** Measured, and so apart from the tests that a busy machine must not disturb. */
import { expect, it } from 'vitest';
import { redacted } from './redaction.ts';

/** The least of several runs, ms: whatever else the machine does only adds to it. */
function cost(text: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 8; run++) {
    const start = performance.now();
    for (let times = 0; times < 3; times++) redacted(text);
    least = Math.min(least, performance.now() - start);
  }
  return least;
}

it.each([
  ...[
    'a.',
    'a-',
    'a:',
    'a@',
    'a.a@',
    'sk-',
    '1.',
    'f:',
    '/a',
    '=a',
    'key:',
    'A\\\\',
    '[',
    'org-a',
    '*',
    'a',
    ' ',
    'x y ',
    'ﷺ',
  ],
])('costs four times as much for four times the text, and no more for more than is read: %j', (piece) => {
  const of = (length: number) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
  // Four times as much text takes sixteen times as long where each place is compared with each other.
  expect(cost(of(2000))).toBeLessThan(10 * cost(of(500)) + 1);
  expect(cost(of(1_000_000))).toBeLessThan(4 * cost(of(2000)) + 5);
});
