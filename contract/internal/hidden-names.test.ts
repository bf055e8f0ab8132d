import { expect, test } from 'vitest';
import { asHashed } from './hidden-names.ts';

test('each hidden text is put back in its place, also below names that a pointer escapes, and nowhere else', () => {
  const shown = { actor: { name: 'Ada' }, after: { 'a/b~c': ['x', { name: 'Ada' }], n: 1, none: null }, target: 'Ada' };
  const hidden = { '/actor/name': 'H1', '/after/a~1b~0c/0': 'H2', '/after/a~1b~0c/1/name': 'H3' };
  expect(asHashed({ ...shown, hidden })).toEqual({
    actor: { name: 'H1' },
    after: { 'a/b~c': ['H2', { name: 'H3' }], n: 1, none: null },
    target: 'Ada',
  });
  expect(asHashed(shown)).toEqual(shown);
});

test('a pointer to no text changes nothing, whatever it is called', () => {
  const record = { before: null, after: { n: 1 } };
  const hidden = { '/after/n': 'x', '/before': 'x', '/__proto__/polluted': 'x', constructor: 'x', '': 'x' };
  expect(asHashed({ ...record, hidden })).toEqual(record);
  expect(({} as { polluted?: string }).polluted).toBeUndefined();
});
