/** The exam is whole: its rows, the tests that other files have of them, and the two minutes. */
import { readFileSync } from 'node:fs';
import { inCheckout } from '@gw/stack/checkout';
import { allForgeries, namers, twoMinutesMs } from '@gw/testing/control-plane/forgeries/table';
import { expect, test } from 'vitest';

test('it has the 35 forgeries of the reviews and 22 new ones, each once', () => {
  const count = (from: string) => allForgeries.filter((row) => row.from === from).length;
  expect([count('reviews'), count('new')]).toEqual([35, 22]);
  expect(new Set(allForgeries.map(({ holder, what }) => `${holder} ${what}`)).size).toBe(57);
});

test.each(Object.entries(namers))('what %s names is named within two minutes', (_, { withinMs }) => {
  expect(withinMs).toBeLessThan(twoMinutesMs);
});

test.each(allForgeries.flatMap(({ number, tried, what }) => (tried ? [{ number, tried, what }] : [])))(
  '$number: another file tries to $what',
  ({ tried: [file, title] }) => {
    const text = readFileSync(inCheckout(...file.split('/')), 'utf8');
    expect(text.split(`'${title}`).length - 1).toBe(1);
  },
);
