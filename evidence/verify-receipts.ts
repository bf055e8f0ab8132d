/** Checks that each receipt in a pack is consistent: its node, its numbers, its versions. */
import { verify } from '@gw/methodology/recompute';
import { CappedList } from './capped-list.ts';
import { isDecimal } from './decimal.ts';
import { differences } from './differences.ts';
import type { ExclusionCode } from './pack.ts';
import { amounts } from './quantities.ts';
import {
  gatewayOf,
  isNode,
  type Node,
  type PackMismatch,
  provenanceFields,
  provenanceOf,
  receiptOf,
  shown,
} from './receipt-node.ts';

/** Checks what follows from the fields of the receipt, and that each amount is written in its only form. */
export function checkNode({ publisher }: Node, node: Node): PackMismatch[] {
  const receipt = String(node.id);
  const { id } = isNode(publisher) ? publisher : {};
  const baseUrl = typeof id === 'string' ? id.slice(0, -gatewayOf('').length) : '';
  const follows = provenanceOf(node, baseUrl);
  return [
    ...provenanceFields.flatMap((field) => differences(field, follows[field], node[field])),
    ...amounts
      .filter((amount) => node[amount] !== undefined && node[amount] !== null && !isDecimal(node[amount]))
      .map((field) => ({ field, expected: 'a decimal as text, as its number is written', found: shown(node[field]) })),
    ...checkExplanation(node),
  ].map((fault) => ({ ...fault, receipt }));
}

/** Checks what stands beside a lineage. Only the gateway knows why a later version was made (`revision`). */
function checkExplanation(node: Node): Omit<PackMismatch, 'receipt'>[] {
  const { explanation, lineage, receipt_id, version } = node;
  if (lineage === undefined) return [];
  if (!isNode(lineage)) return [{ field: 'lineage', expected: 'a lineage', found: shown(lineage) }];
  const { lineage: steps, revision, ...about } = lineage;
  const isFirst = version === 1 && revision !== null;
  return [
    ...differences('lineage', explained({ explanation, receipt_id, version }, steps), about),
    ...(isFirst ? [{ field: 'lineage.revision', expected: 'null, of a first version', found: shown(revision) }] : []),
  ];
}

const explained = ({ explanation, receipt_id, version }: Node, steps: unknown): Node => ({
  object: 'gw.receipt_lineage',
  receipt_id,
  receipt_version: version,
  explanation: isNode(steps) ? null : (explanation ?? 'Nothing was calculated.'),
});

/** Whether the numbers of a receipt follow from its lineage, by the methodology that it names. */
export function checkNumbers(
  node: Node,
  onFault?: (error: unknown) => void,
): { readonly recomputed: boolean; readonly mismatches: PackMismatch[] } {
  const lineage = isNode(node.lineage) ? node.lineage.lineage : null;
  if (!isNode(lineage)) return { recomputed: false, mismatches: [] };
  const result = verify(lineage as unknown as Parameters<typeof verify>[0], receiptOf(node), onFault);
  if (result.ok) return { recomputed: true, mismatches: [] };
  const mismatches = result.mismatches.map((text) => {
    const [, field, found, expected] = /^(\S+): (.*) is stated, (.*) follows$/s.exec(text) ?? [];
    const stated = {
      field: field ?? 'lineage',
      expected: expected ?? 'what follows from its facts',
      found: found ?? text,
    };
    return { receipt: String(node.id), ...stated };
  });
  return { recomputed: true, mismatches };
}

const isAbsent = ({ code, version }: Node): boolean => code !== 'no_lineage' && version !== null;
const nameOf = (id: unknown, version: unknown): string => `${id}:${version}`;

/**
 * Checks whether all versions of each receipt, from the first on, are in a pack or left out by name. The versions of a receipt come one
 * after the other, the newest last.
 */
export class VersionCheck {
  #last: Node | null = null;
  /** A thousand are enough: a pack that leaves more out names them, and that is a mismatch too. */
  readonly #missing = new CappedList<readonly [string, PackMismatch]>();
  readonly #left = new CappedList<string>();

  add(node: Node): PackMismatch[] {
    const { receipt_id, supersedes, version } = node;
    const last = this.#last?.receipt_id === receipt_id ? Number(this.#last?.version) : null;
    this.#last = node;
    if (!Number.isInteger(version) || Number(version) < 1)
      return [
        ofVersion(node, version, { field: 'version', expected: 'a whole number from 1 on', found: shown(version) }),
      ];
    const before = Number(version) > 1 ? Number(version) - 1 : null;
    if (before !== null && last !== before && last !== version) {
      const gone = { field: 'receipt', expected: 'in the pack, as a later version is', found: 'nothing' };
      this.#missing.add([nameOf(receipt_id, before), ofVersion(node, before, gone)]);
    }
    const twice = { field: 'receipt', expected: 'once', found: 'more than once' };
    const chain = { field: 'supersedes', expected: shown(before), found: shown(supersedes) };
    return [
      ...(last === version ? [ofVersion(node, version, twice)] : []),
      ...(supersedes === before ? [] : [ofVersion(node, version, chain)]),
    ];
  }

  exclude(each: Node): void {
    if (isAbsent(each)) this.#left.add(nameOf(each.receipt_id, each.version));
  }

  finish(): PackMismatch[] {
    const left = new Set(this.#left.list);
    return this.#missing.list.flatMap(([name, fault]) => (left.has(name) ? [] : [fault]));
  }
}

const ofVersion = ({ receipt_id }: Node, version: unknown, fault: Omit<PackMismatch, 'receipt'>): PackMismatch => ({
  receipt: `urn:gw:receipt:${nameOf(receipt_id, version)}`,
  ...fault,
});

const dishonest: readonly unknown[] = ['contradiction', 'not_genuine', 'not_stored'] satisfies ExclusionCode[];

export const excludedName = ({ receipt_id, version }: Node): string => `urn:gw:receipt:${nameOf(receipt_id, version)}`;

/** Reports a receipt that the gateway itself says to have lost, not to have as it was, or not to be able to explain. */
export function checkExclusion(node: Node): PackMismatch[] {
  const { code, log_index, reason } = node;
  if (log_index === undefined && !dishonest.includes(code)) return [];
  const expected = log_index === undefined ? 'as it was issued' : `the entry ${shown(log_index)} of the log`;
  return [{ receipt: excludedName(node), field: 'receipt', expected, found: `nothing: ${reason}` }];
}
