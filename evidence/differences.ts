/** Compares parts of a pack with what they have to be. */
import { canonicalText } from './canonical.ts';
import type { Manifest } from './manifest.ts';
import { isNode, type Node, ofPack, type PackMismatch, shown } from './receipt-node.ts';

const same = (a: unknown, b: unknown): boolean =>
  a === undefined || b === undefined ? a === b : canonicalText(a) === canonicalText(b);

/** `follows`: the manifest that follows from the parts. */
export function checkManifest(stated: unknown, follows: Manifest): PackMismatch[] {
  if (same(stated, follows)) return [];
  if (!isNode(stated) || !Array.isArray(stated.parts) || stated.receipts_per_part !== follows.receipts_per_part)
    return [ofPack('manifest', shown(stated), shown(follows))];
  const digests = new Map(stated.parts.filter(isNode).map(({ part, sha256 }) => [String(part), sha256]));
  const altered = follows.parts.flatMap(({ part, sha256 }) => {
    const expected = digests.get(part);
    return expected === sha256 ? [] : [{ ...placeOf(part, 'sha256'), expected: shown(expected), found: sha256 }];
  });
  const present = new Set(follows.parts.map(({ part }) => part));
  const gone = [...digests.keys()]
    .filter((part) => !present.has(part))
    .map((part) => ({ ...placeOf(part, 'receipt'), expected: 'in the pack', found: 'nothing' }));
  const mismatches = [...altered, ...gone];
  // Otherwise parts are listed twice, in another order, or with something beside them.
  return mismatches.length > 0 ? mismatches : [ofPack('manifest', shown(stated), shown(follows))];
}

/** A part that is a receipt has its id as name. */
const placeOf = (part: string, field: string): Pick<PackMismatch, 'field' | 'receipt'> =>
  part.startsWith('urn:gw:receipt:') ? { receipt: part, field } : { receipt: null, field: part };

/** A pack may have a member that is named like one which every object inherits, such as `toString`. */
const own = (node: Node, name: string): unknown => (Object.hasOwn(node, name) ? node[name] : undefined);

/** Returns the members in which two values differ. */
export function differences(field: string, expected: unknown, found: unknown): PackMismatch[] {
  if (same(expected, found)) return [];
  const bothLists = Array.isArray(expected) && Array.isArray(found) && expected.length === found.length;
  if (!bothLists && !(isNode(expected) && isNode(found))) return [ofPack(field, shown(expected), shown(found))];
  const [ours, theirs] = [expected as Node, found as Node];
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return [...names].flatMap((name) => differences(`${field}.${name}`, own(ours, name), own(theirs, name)));
}
