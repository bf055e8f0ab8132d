import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { findMethodology, methodologyIds, methodologyOf } from './methodologies.ts';
import { versions } from './versions.ts';

type Parts = Readonly<Record<string, unknown>>;

/** The parts of a document that a change can name, with what they hold. */
function partsOf(document: string): Parts {
  const {
    constants,
    functions,
    id: _,
    rules,
    steps,
    version: _v,
    ...tables
  } = JSON.parse(document) as Record<string, Parts | undefined>;
  const named = (kind: string, all: Parts = {}) =>
    Object.entries(all).map(([name, value]) => [`${kind}.${name}`, value]);
  return Object.fromEntries([
    ...named('rules', rules),
    ...named('constants', constants),
    ['functions', functions],
    ['steps', steps],
    ...Object.entries(tables),
  ]);
}

const before = (index: number): Parts => {
  const id = methodologyIds[index + 1];
  return id === undefined ? {} : partsOf(methodologyOf(id).document);
};

describe('the list of versions', () => {
  // If this fails, a methodology has a rule or a constant that its entry in versions.ts does not explain.
  it.each(methodologyIds.slice(0, -1).map((id, index) => [id, index] as const))(
    'explains every part of %s that is not as in the one before, and nothing else',
    (id, index) => {
      const [then, now] = [before(index), partsOf(methodologyOf(id).document)];
      const names = new Set([...Object.keys(then), ...Object.keys(now)]);
      const changed = [...names].filter((name) => !isDeepStrictEqual(then[name], now[name]));
      const explained = new Set(versions[id].changes.flatMap(({ parts }) => parts));
      expect([...explained].sort()).toEqual(changed.sort());
    },
  );

  it('says of each change in which number it is and why, and has no entry for what is no methodology', () => {
    expect(Object.keys(versions)).toEqual(methodologyIds);
    for (const [id, { about, changes }] of Object.entries(versions)) {
      expect(findMethodology(id)).not.toBeNull();
      for (const text of [about, ...changes.flatMap(({ numbers, what, why }) => [numbers, what, why])])
        expect(text).toMatch(/^\S.*[^.\s]$/);
      for (const { parts } of changes) expect(parts).not.toEqual([]);
    }
  });
});
