/** Lists the published sources of the numbers in a pack, as the lineages name them. Without lineages these are the sources of the grid values alone. */
import { licenceOf } from '@gw/contract/pack/licences';
import type { Node } from './receipt-node.ts';

interface Factor {
  readonly source?: unknown;
  readonly version?: unknown;
  readonly licence?: unknown;
  readonly locator?: unknown;
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function factorsOf(node: Node): Factor[] {
  const factors = fieldOf(fieldOf(node.lineage, 'lineage'), 'factors');
  return isList(factors) ? factors.filter((factor): factor is Factor => typeof factor === 'object') : [];
}

/** Collects each source once. */
export class SourceList {
  readonly #found = new Map<string, Node>();

  add(node: Node): void {
    const grid = textOf(node.grid_intensity_source);
    const factors: Factor[] = factorsOf(node);
    for (const { licence, locator, source, version } of [...factors, ...(grid === null ? [] : [{ source: grid }])]) {
      const name = textOf(source);
      if (name === null) continue;
      const stated = { name, version: textOf(version), licence: licenceOf(textOf(licence)), locator: textOf(locator) };
      const key = JSON.stringify(stated);
      if (!this.#found.has(key))
        this.#found.set(key, { type: ['prov:Entity', 'dct:BibliographicResource'], ...stated });
    }
  }

  list(): Node[] {
    return [...this.#found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, node]) => node);
  }
}
