import { expect, test } from 'vitest';
import { errorFrames } from './error-frames.ts';

test('the frames of an error name its kind and its place, and nothing of its message', () => {
  const frames = errorFrames(new RangeError('secret\n  secret words of a client'));
  expect(frames).toMatch(/^RangeError\n {4}at .*error-frames\.test\.ts/);
  expect(frames).not.toContain('secret');
  expect(errorFrames(new TypeError('hello\n    at the bank my secret is 1234'))).not.toContain('1234');
  const reworded = new Error('secret');
  expect(reworded.stack).toContain('secret');
  reworded.message = 'other';
  expect(errorFrames(reworded)).toBe('Error');
  expect(errorFrames('secret')).toBe('string');
});
