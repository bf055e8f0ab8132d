/** Checks the head of a pack: whatever in it follows from the receipts, from the request, or from this program. */
import { packContext } from '@gw/contract/pack/context';
import { methodologyOfHash } from '@gw/methodology/methodologies';
import { differences } from './differences.ts';
import type { FollowedHead } from './followed.ts';
import { hasAllOfItsTime } from './log-entries.ts';
import { makingOf, packTypes } from './pack.ts';
import { statedQuantities } from './quantities.ts';
import { isNode, type Node, ofPack, type PackMismatch, shown } from './receipt-node.ts';
import { temporalOf } from './verify-selection.ts';

/** Whose receipts a pack has, and which. */
export interface PackSubject {
  readonly account: string | null;
  /** The request in words. */
  readonly selection: string;
  /** Whether receipts were chosen by their content. The log says nothing of receipts that such a filter left out. */
  readonly isFiltered: boolean;
  /** Whether it claims to have all receipts of its period. */
  readonly isOfAll: boolean;
}

export const subjectOf = ({ account, selection, temporal }: Node): PackSubject => ({
  account: typeof account === 'string' ? account : null,
  selection: shown(selection),
  isFiltered: isNode(selection) && (selection.model ?? selection.region) !== undefined,
  isOfAll: hasAllOfItsTime({ selection, temporal }),
});

/** `account`: whose pack it has to be; undefined: anybody's. */
export const checkAccount = (head: Node, account: string | undefined): PackMismatch[] =>
  account === undefined || head.account === account ? [] : [ofPack('account', shown(account), shown(head.account))];

/** `follows`: the members that follow from the receipts. */
export function checkHead(head: Node, follows: FollowedHead['head']): PackMismatch[] {
  const { methodologies } = follows;
  const expected = {
    '@context': packContext,
    type: packTypes,
    temporal: temporalOf(head.selection),
    quantities: statedQuantities,
    wasGeneratedBy: makingOf(isNode(head.publisher) ? head.publisher.id : null, methodologies),
    ...follows,
  };
  const unknown = methodologies.filter(({ hash }) => methodologyOfHash(String(hash)) === null);
  return [
    ...Object.entries(expected).flatMap(([field, value]) => differences(field, value, head[field])),
    ...unknown.map(({ hash }) => ofPack('methodologies', 'a methodology that is known here', String(hash))),
  ];
}

/** The receipts stand in the order of time, so it is enough to check the first one and the last one. */
export function checkPeriod({ temporal }: Node, ends: readonly Node[]): PackMismatch[] {
  if (!isNode(temporal)) return [];
  const [start, end] = [Date.parse(String(temporal.start)), Date.parse(String(temporal.end))];
  const expected = `from ${temporal.start} to before ${temporal.end}`;
  return ends.flatMap(({ created_at, id }) => {
    const at = Date.parse(String(created_at));
    if (at >= start && at < end) return [];
    return [{ receipt: String(id), field: 'created_at', expected, found: shown(created_at) }];
  });
}
