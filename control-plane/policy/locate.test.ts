import { compileRules } from '@gw/policy/compile';
import { findRules } from '@gw/policy/find-rules';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { locate, type Matches } from './locate.ts';

const compiled = compileRules([
  {
    ...{ id: 'bombs', title: 'Bombs', screen: 'dual_use', action: 'block', enabled: true, kind: 'phrases' },
    ...{ phrases: ['make a bomb', '\u5236\u9020\u7206\u5f48'], unless: ['make a bomb shelter'] },
  },
]);
const matches: Matches = async (text) => compiled.ok && (await findRules(compiled.compiled, [text])).length > 0;
const most = 100;
const find = (text: string, chars = 10_000_000) => locate(text, matches, most, { chars });

test('each place matches by itself, is no spared one, and is there exactly if the text matches', async () => {
  const part = fc.constantFrom(
    'make a bomb',
    'Make-a b\u200bomb',
    'make a bomb shelter',
    'make a',
    'bomb',
    'hello',
    '\u5236\u9020\u7206\u5f48',
  );
  const gap = fc.constantFrom(' ', '. ', ', ');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(part, gap), { maxLength: 12 }), async (parts) => {
      const text = parts.flat().join('');
      const spans = await find(text);
      for (const { end, start } of spans) {
        expect(await matches(text.slice(start, end))).toBe(true);
        expect(text.slice(start, end)).toMatch(
          /^(make\Wa\Wb\u200b?omb|make a, bomb|make a. bomb|\u5236\u9020\u7206\u5f48)$/i,
        );
        expect(text.slice(end)).not.toMatch(/^ shelter/);
      }
      expect(spans.length > 0).toBe(await matches(text));
    }),
    { numRuns: 500 },
  );
});

test('a search that costs too much finds less, and nothing that is not there', async () => {
  const text = 'make a bomb. '.repeat(50);
  const all = await find(text);
  expect(all).toHaveLength(50);
  const some = await find(text, 20_000);
  expect(some.length).toBeLessThan(50);
  expect(all).toEqual(expect.arrayContaining(some));
});
