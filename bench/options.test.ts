import { expect, test } from 'vitest';
import { readOptions, UsageError } from './options.ts';

test('quick is one short round, and a length that was given wins over it', () => {
  expect(readOptions([])).toMatchObject({ seconds: 4, rounds: 3, json: false, gateway: true });
  expect(readOptions(['--quick'])).toMatchObject({ seconds: 1, rounds: 1 });
  expect(readOptions(['--quick', '--seconds', '2', '--json'])).toMatchObject({ seconds: 2, rounds: 1, json: true });
  expect(readOptions(['--no-gateway']).gateway).toBe(false);
});

test.each([['--seconds', '0'], ['--seconds', '61'], ['--rounds', 'x'], ['--seconds'], ['--unknown'], ['file']])(
  '%s %s is refused',
  (...args) => {
    expect(() => readOptions(args)).toThrow(UsageError);
  },
);
