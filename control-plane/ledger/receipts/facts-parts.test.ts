import { canonicalText, textDigest } from '@gw/contract/internal/ledger-entry';
import { assess } from '@gw/methodology/assess';
import { lineageOf } from '@gw/methodology/lineage';
import { methodologyIds } from '@gw/methodology/methodologies';
import { cases } from '@gw/testing/cases';
import { callAt } from '@gw/testing/control-plane/calls';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinFacts, partsNamed, readFacts, type SplitRows, splitFacts, splitRows } from './facts-parts.ts';

interface Row {
  readonly facts: unknown;
}

const joined = ({ parts, rows }: SplitRows<Row>): unknown[] => {
  const contents = new Map(parts.map(({ content, sha256 }) => [sha256, JSON.parse(content)]));
  return rows.map(({ facts }) => joinFacts(JSON.parse(JSON.stringify(facts)), contents));
};

/** Names that mean something here, among any others. */
const name = fc.oneof(fc.constantFrom('model', 'site', 'grid', 'parts', 'usage', '__proto__', '1'), fc.string());
const facts = fc
  .oneof(fc.dictionary(name, fc.jsonValue({ maxDepth: 3 })), fc.jsonValue())
  .map((value): unknown => JSON.parse(JSON.stringify(value)));

test('facts of any kind that are split and put together again are the same JSON value', () => {
  fc.assert(
    fc.property(fc.array(facts, { maxLength: 5 }), (all) => {
      const split = splitRows(all.map((each): Row => ({ facts: each })));
      expect(joined(split).map(canonicalText)).toEqual(all.map(canonicalText));
    }),
    { numRuns: cases(2000) },
  );
});

test('what calls have in common is a part once, under the digest that anybody can compute', () => {
  const grids = [callAt('2026-11-21T09:10:00Z'), callAt('2026-11-21T09:50:00Z'), callAt('2026-11-21T10:10:00Z')];
  const { parts, rows } = splitRows(grids.map((each): Row => ({ facts: each })));
  // One model, one site, and the readings of two hours.
  expect(parts).toHaveLength(4);
  for (const { content, sha256 } of parts)
    expect([textDigest(content), canonicalText(JSON.parse(content))]).toEqual([sha256, content]);
  const [first, second, third] = rows.map(({ facts }) => Object.fromEntries(partsNamed(facts)));
  expect(Object.keys(first ?? {})).toEqual(['model', 'site', 'grid']);
  expect(second).toEqual(first);
  expect(third).toEqual({ ...first, grid: expect.not.stringMatching(first?.grid ?? '') });
  expect(rows[0]?.facts).not.toHaveProperty('model');
});

test('facts without anything to share, and none at all, stay as they are', () => {
  const all = [null, 'text', [], {}, { usage: null }, { model: null, site: 1, grid: [] }];
  const { parts, rows } = splitRows(all.map((each): Row => ({ facts: each })));
  expect(parts).toEqual([]);
  expect(rows.map((row) => row.facts)).toEqual(all);
});

test.each(methodologyIds)('whoever does not know parts computes nothing by %s from facts that have some', (id) => {
  const [stored] = splitRows([{ facts: callAt('2026-11-21T09:10:00Z') }]).rows;
  expect(() => assess(stored?.facts as never, id)).toThrow(TypeError);
  expect(() => lineageOf(stored?.facts as never, id)).toThrow(TypeError);
});

test('facts are read from their text as they would be parsed and split, the first time and later', () => {
  const made = callAt('2026-11-21T09:10:00Z');
  const texts = [
    made,
    { ...made, usage: null, telemetry: { model: made.model, site: made.site } },
    { telemetry: { first: 1, model: made.model }, ...made },
    { ...made, telemetry: { first: 1, grid: made.grid } },
    { ...made, parts: { model: 'one' } },
    { ...made, requestedTier: ',"model":{"id":' },
    { ...made, grid: null },
    { requestedTier: 'auto', grid: made.grid, model: made.model, site: made.site },
  ].map((each) => JSON.stringify(each));
  // Names that come twice, of which the last counts.
  for (const name of ['model', 'site', 'grid'] as const) {
    texts.push(JSON.stringify(made).replace(/}$/, `,"${name}":{"id":"other"}}`));
    texts.push(`{"first":1,"${name}":${JSON.stringify(made[name])},${JSON.stringify(made).slice(1)}`);
    const digest = splitFacts({ [name]: made[name] }).parts[0]?.sha256;
    texts.push(JSON.stringify(made).replace(/}$/, `,"${name}":"${digest}"}`));
    texts.push(JSON.stringify({ ...made, requestedTier: digest }));
  }
  for (const text of [...texts, ...texts]) {
    const { split: found, whole } = readFacts(text);
    const parsed: unknown = JSON.parse(text);
    expect(JSON.stringify(whole)).toBe(JSON.stringify(parsed));
    const split = splitFacts(parsed);
    const { parts, stored } = found ?? splitFacts(whole);
    expect([JSON.stringify(stored), parts]).toEqual([JSON.stringify(split.stored), split.parts]);
  }
  expect(readFacts(JSON.stringify(made)).split).not.toBeNull();
  expect(() => readFacts(`${JSON.stringify(made)}}`)).toThrow();
});
