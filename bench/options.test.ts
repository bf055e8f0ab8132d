import { expect, test } from 'vitest';
import { readOptions, usage } from './options.ts';

test('without options each measurement is made five times, without other gateways', () => {
  expect(readOptions([])).toEqual({ seconds: 4, rounds: 5, peers: false, json: false, flame: null });
  expect(readOptions(['--peers', '--json', '--seconds', '1', '--rounds=2'])).toEqual({
    ...{ seconds: 1, rounds: 2, peers: true, json: true, flame: null },
  });
  for (const args of [['--flame', 'flame.svg'], ['--flame=flame.svg']])
    expect(readOptions(args)).toMatchObject({ flame: 'flame.svg' });
  expect(() => readOptions(['--flame', 'flame.svg', '--json'])).toThrow('--flame stands alone');
});

test('help names every option, and what cannot be followed is refused', () => {
  expect(readOptions(['--help'])).toBeNull();
  for (const option of ['--seconds', '--rounds', '--peers', '--json', '--flame'])
    expect(usage).toContain(`\n  ${option}`);
  for (const rounds of ['0', '21', '1.5', 'many', ''])
    expect(() => readOptions(['--rounds', rounds])).toThrow('--rounds has to be a whole number from 1 to 20.');
  expect(() => readOptions(['--rivals'])).toThrow("Unknown option '--rivals'");
});
