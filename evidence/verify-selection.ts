/**
 * Checks whether the receipts of a pack are those that were asked for, as far as their content tells.
 *
 * Invariant: nothing is kept that grows with the receipts, because only few can be asked for by their ids.
 */
import { mostReceipts } from '@gw/contract/evidence';
import { CappedList } from './capped-list.ts';
import { isNode, type Node, ofPack, type PackMismatch, shown } from './receipt-node.ts';
import { ListDigest } from './running-digest.ts';

/** The period of a pack follows from the request. */
export const temporalOf = (selection: unknown): unknown =>
  isNode(selection) && selection.from !== undefined
    ? { type: ['dct:PeriodOfTime'], start: selection.from, end: selection.to }
    : undefined;

const fault = (receipt: unknown, field: string, expected: unknown, found: unknown): PackMismatch => ({
  receipt: String(receipt),
  field,
  expected: shown(expected),
  found: shown(found),
});

/** The values of a field, each with the first receipt that has it. */
class Values {
  readonly #first = new Map<unknown, unknown>();

  /** The values beyond the cap need no check, because the pack is then wrong anyway. */
  add(value: unknown, receipt: unknown): void {
    if (this.#first.size <= mostReceipts.plain && !this.#first.has(value)) this.#first.set(value, receipt);
  }

  has(value: unknown): boolean {
    return this.#first.has(value);
  }

  others(field: string, isAsked: (value: unknown) => boolean, asked: unknown): PackMismatch[] {
    return [...this.#first].flatMap(([value, receipt]) =>
      isAsked(value) ? [] : [fault(receipt, field, asked, value)],
    );
  }
}

/** A list of versions without a lineage. */
class Bare {
  readonly names = new CappedList<string>();
  readonly digest = new ListDigest();

  add({ receipt_id, version }: Node): void {
    const name = `urn:gw:receipt:${receipt_id}:${version}`;
    this.names.add(name);
    this.digest.add(name);
  }
}

/** The versions of a receipt come one after the other, the newest last. */
export class SelectionCheck {
  readonly #models = new Values();
  readonly #regions = new Values();
  readonly #ids = new Values();
  readonly #left = new Values();
  readonly #bare = new Bare();
  readonly #explained = new Bare();
  #last: Node | null = null;
  /** The first version without a word of its routing. */
  #unrouted: unknown = null;

  add(node: Node): void {
    if (this.#last?.receipt_id !== node.receipt_id) this.#newest();
    this.#last = node;
    if (node.lineage === undefined) this.#bare.add(node);
    if (node.routing === undefined) this.#unrouted ??= node.id;
  }

  exclude(each: Node): void {
    this.#left.add(each.receipt_id, null);
    if (each.code === 'no_lineage') this.#explained.add(each);
  }

  #newest(): void {
    if (this.#last === null) return;
    const { id, model, receipt_id, region } = this.#last;
    this.#models.add(model, id);
    this.#regions.add(region, id);
    this.#ids.add(receipt_id, id);
  }

  /** To be called once, after the last receipt. */
  finish({ selection }: Node): PackMismatch[] {
    if (!isNode(selection)) return [ofPack('selection', 'what was asked for', shown(selection))];
    this.#newest();
    const { include_lineage, include_routing, model, receipt_ids, region } = selection;
    return [
      ...(model === undefined ? [] : this.#models.others('model', (value) => value === model, model)),
      ...(region === undefined ? [] : this.#regions.others('region', (value) => value === region, region)),
      ...(Array.isArray(receipt_ids) ? this.#checkIds(receipt_ids) : []),
      ...(include_lineage === true ? this.#checkLineages() : []),
      ...(include_routing === true && this.#unrouted !== null
        ? [fault(this.#unrouted, 'routing', 'a routing trace or null, as was asked for', undefined)]
        : []),
    ];
  }

  #checkIds(asked: readonly unknown[]): PackMismatch[] {
    const ids = new Set(asked);
    const missing = [...ids].filter((id) => !this.#ids.has(id) && !this.#left.has(id));
    return [
      ...this.#ids.others('receipt_id', (id) => ids.has(id), 'one of those asked for'),
      ...missing.map((id) => ({
        receipt: `urn:gw:receipt:${id}`,
        field: 'receipt',
        expected: 'in the pack, or left out by name',
        found: 'nothing',
      })),
    ];
  }

  #checkLineages(): PackMismatch[] {
    const [bare, explained] = [this.#bare, this.#explained];
    const known = new Set(explained.names.list);
    const missing = bare.names.list.filter((name) => !known.has(name));
    const isAll = bare.names.untold + explained.names.untold === 0;
    if (isAll || (missing.length > 0 && explained.names.untold === 0))
      return missing.map((name) => fault(name, 'lineage', 'a lineage, as was asked for', undefined));
    // There are too many to keep, so their digests are compared; both lists stand in one order.
    if (bare.digest.hex() === explained.digest.hex()) return [];
    return [ofPack('lineage', 'one of each receipt, as was asked for, or left out by name', 'others')];
  }
}
