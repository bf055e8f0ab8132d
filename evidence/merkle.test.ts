import { createHash } from 'node:crypto';
import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  childrenOf,
  completedNodes,
  consistencySpans,
  emptyRoot,
  inclusionSpans,
  isConsistent,
  isIncluded,
  joined,
  leafHash,
  nodesOf,
  type Span,
  spanHash,
  type TreeNode,
} from './merkle.ts';

const sha256 = (...parts: readonly Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest();

/** The definition of RFC 6962, section 2.1, word for word, over all entries. */
function definedHash(entries: readonly string[]): Buffer {
  if (entries.length === 0) return sha256();
  if (entries.length === 1) return sha256(Buffer.of(0), Buffer.from(entries[0] ?? ''));
  let k = 1;
  while (k * 2 < entries.length) k *= 2;
  return sha256(Buffer.of(1), definedHash(entries.slice(0, k)), definedHash(entries.slice(k)));
}
const rootOf = (entries: readonly string[]): string => definedHash(entries).toString('hex');
const entriesOf = (count: number): string[] => Array.from({ length: count }, (_, at) => `entry ${at}`);

/** Nodes as a store keeps them, appended in pieces. */
class Stored {
  readonly nodes = new Map<string, string>();
  size = 0;
  at = ({ index, level }: TreeNode): string => {
    const found = this.nodes.get(`${level}:${index}`);
    if (found === undefined) throw new Error(`no node ${level}:${index}`);
    return found;
  };
  append(entries: readonly string[]): void {
    const before = this.size;
    for (const entry of entries) this.nodes.set(`0:${this.size++}`, leafHash(entry));
    for (const level of completedNodes(before, this.size))
      for (const place of level)
        this.nodes.set(`${place.level}:${place.index}`, joined(childrenOf(place).map(this.at)));
  }
  hash = (span: Span): string => {
    const needed = new Map(nodesOf(span).map((place) => [`${place.level}:${place.index}`, this.at(place)]));
    return spanHash(span, ({ index, level }) => needed.get(`${level}:${index}`) ?? 'not among its nodes');
  };
}

// The vectors are from the reference implementation of Certificate Transparency (merkletree tests): eight entries in hexadecimal.
const known = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
const knownRoots = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

describe('the tree of a log', () => {
  it('has the roots of the known vectors, by the definition that the other tests compare with', () => {
    const bytes = known.map((hex) => Buffer.from(hex, 'hex').toString('latin1'));
    for (const [at, root] of knownRoots.entries()) {
      const entries = bytes.slice(0, at + 1);
      const stored = new Stored();
      // These entries have bytes that are no UTF-8.
      for (const entry of entries) {
        stored.nodes.set(`0:${stored.size++}`, sha256(Buffer.of(0), Buffer.from(entry, 'latin1')).toString('hex'));
      }
      expect(stored.hash({ begin: 0, end: stored.size })).toBe(root);
    }
    expect(emptyRoot).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  });

  it('is that of RFC 6962, in whatever pieces the entries came', () => {
    const pieces = fc.array(fc.nat(70), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(pieces, (counts) => {
        const stored = new Stored();
        const all = entriesOf(counts.reduce((sum, count) => sum + count, 0));
        for (const count of counts) {
          stored.append(all.slice(stored.size, stored.size + count));
          expect(stored.hash({ begin: 0, end: stored.size })).toBe(rootOf(all.slice(0, stored.size)));
        }
      }),
      { numRuns: cases(300, 100) },
    );
  });
});

const stored = new Stored();
const all = entriesOf(600);
stored.append(all);
const roots = new Map(Array.from({ length: 601 }, (_, size) => [size, rootOf(all.slice(0, size))]));
const rootAt = (size: number): string => roots.get(size) ?? '';
const place = fc
  .integer({ min: 1, max: 600 })
  .chain((size) => fc.record({ size: fc.constant(size), index: fc.nat(size - 1), other: fc.nat(599) }));
const inclusion = (index: number, size: number): string[] => inclusionSpans(index, size).map(stored.hash);
const consistency = (from: number, to: number): string[] => consistencySpans(from, to).map(stored.hash);
const bent = (hash: string): string => `${hash.startsWith('0') ? '1' : '0'}${hash.slice(1)}`;

describe('a proof', () => {
  it('shows that an entry is in the log, at its place and at no other', () => {
    fc.assert(
      fc.property(place, fc.nat(20), ({ index, other, size }, at) => {
        const path = inclusion(index, size);
        const proof = { index, size, path, root: rootAt(size) };
        const leaf = leafHash(all[index] ?? '');
        expect(isIncluded(leaf, proof)).toBe(true);
        expect(isIncluded(leafHash('another'), proof)).toBe(false);
        expect(isIncluded(leaf, { ...proof, index: other })).toBe(other === index);
        expect(isIncluded(leaf, { ...proof, root: rootAt(size === 600 ? 599 : size + 1) })).toBe(false);
        expect(isIncluded(leaf, { ...proof, path: [...path, path[0] ?? emptyRoot] })).toBe(false);
        if (path.length === 0) return;
        expect(
          isIncluded(leaf, { ...proof, path: path.with(at % path.length, bent(path[at % path.length] ?? '')) }),
        ).toBe(false);
        expect(isIncluded(leaf, { ...proof, path: path.slice(1) })).toBe(false);
      }),
      { numRuns: cases(2000, 500) },
    );
  });

  it('shows that a log goes on from an earlier one, and from no other', () => {
    fc.assert(
      fc.property(place, fc.nat(20), ({ index, size }, at) => {
        const from = index + 1;
        const path = consistency(from, size);
        const [earlier, later] = [
          { size: from, root: rootAt(from) },
          { size, root: rootAt(size) },
        ];
        expect(isConsistent(earlier, later, path)).toBe(true);
        expect(isConsistent({ ...earlier, root: rootAt(from === 1 ? 2 : from - 1) }, later, path)).toBe(false);
        expect(isConsistent(earlier, { ...later, root: bent(later.root) }, path)).toBe(false);
        expect(isConsistent(later, earlier, path)).toBe(from === size);
        if (path.length === 0) return;
        const wrong = path.with(at % path.length, bent(path[at % path.length] ?? ''));
        expect(isConsistent(earlier, later, wrong)).toBe(false);
      }),
      { numRuns: cases(2000, 500) },
    );
  });

  it('of a log in which an entry was changed, left out or put between does not fit the earlier root', () => {
    const forgeries = [all.with(70, 'forged'), all.toSpliced(70, 1), all.toSpliced(70, 0, 'new')];
    for (const forged of forgeries) {
      const other = new Stored();
      other.append(forged);
      const later = { size: other.size, root: other.hash({ begin: 0, end: other.size }) };
      const path = consistencySpans(200, other.size).map(other.hash);
      expect(isConsistent({ size: 200, root: rootAt(200) }, later, path)).toBe(false);
    }
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['a text', 'x'],
    ['no hashes', [1]],
    ['short ones', ['00']],
    ['too many', Array.from({ length: 65 }, () => emptyRoot)],
  ])('that is none (%s) is false, and no error', (_, path) => {
    expect(isIncluded(leafHash('x'), { index: 0, size: 2, path, root: emptyRoot })).toBe(false);
    expect(isConsistent({ size: 1, root: emptyRoot }, { size: 2, root: emptyRoot }, path)).toBe(false);
  });

  it.each([-1, 0.5, Number.NaN, 2 ** 60, '1', null])('with the count %s is false, and no error', (count) => {
    expect(isIncluded(leafHash('x'), { index: count, size: count, path: [], root: emptyRoot })).toBe(false);
    expect(isConsistent({ size: count, root: emptyRoot }, { size: 5, root: emptyRoot }, [])).toBe(false);
  });

  it('of a log without entries goes on as any', () => {
    expect(isConsistent({ size: 0, root: emptyRoot }, { size: 5, root: rootAt(5) }, [])).toBe(true);
    expect(isConsistent({ size: 0, root: rootAt(1) }, { size: 5, root: rootAt(5) }, [])).toBe(false);
  });
});
