/** Whether the parts of a pack are those of its manifest. */
import { canonicalText } from './canonical.ts';
import { Followed } from './followed.ts';
import { longManifest, longPackFormat } from './long-pack.ts';
import { entryOf, manifestOf } from './manifest.ts';
import { packFormat } from './pack.ts';
import { isNode, type Node, ofPack, type PackMismatch, shown } from './receipt-node.ts';
import { ListDigest } from './running-digest.ts';

export interface Form {
  readonly head: Node;
  readonly receipts: readonly Node[];
  readonly manifest: unknown;
  readonly signature: unknown;
}

const same = (a: unknown, b: unknown): boolean =>
  a === undefined || b === undefined ? a === b : canonicalText(a) === canonicalText(b);

export function formOf(pack: unknown): Form | { readonly fault: PackMismatch } {
  if (!isNode(pack)) return { fault: ofPack('pack', 'an object', shown(pack)) };
  const { manifest, receipts, signature, ...head } = pack;
  if (head.format !== packFormat) return { fault: ofPack('format', packFormat, shown(head.format)) };
  if (!Array.isArray(receipts) || !receipts.every(isNode))
    return { fault: ofPack('receipts', 'a list of receipts', shown(receipts)) };
  return { head, receipts, manifest, signature };
}

export const checkManifest = ({ head, manifest, receipts }: Form): PackMismatch[] =>
  manifestFaults(manifest, manifestOf(head, receipts));

/** `follows`: of what is in the pack, with a part for each receipt. */
function manifestFaults(manifest: unknown, follows: ReturnType<typeof manifestOf>): PackMismatch[] {
  if (same(manifest, follows)) return [];
  const stated = isNode(manifest) && Array.isArray(manifest.parts) ? manifest.parts.filter(isNode) : [];
  const digests = new Map(stated.map(({ part, sha256 }) => [part, sha256]));
  const altered = follows.parts.flatMap(({ part, sha256 }) => {
    const expected = digests.get(part);
    if (expected === sha256) return [];
    const where = part === 'head' ? { receipt: null, field: 'head' } : { receipt: part, field: 'sha256' };
    return [{ ...where, expected: shown(expected), found: sha256 }];
  });
  const present = new Set<unknown>(follows.parts.map(({ part }) => part));
  const gone = [...digests.keys()]
    .filter((part) => !present.has(part))
    .map((part) => ({ receipt: String(part), field: 'receipt', expected: 'in the pack', found: 'nothing' }));
  const found = [...altered, ...gone];
  // Twice, in another order, or with something beside it.
  return found.length > 0 ? found : [ofPack('manifest', shown(manifest), shown(follows))];
}

/** A pack that somebody has kept, of either format. */
export interface KeptPack extends Form {
  readonly excluded: readonly Node[];
  manifestFaults(): PackMismatch[];
}

/** Null: it is none. */
export function keptPackIn(earlier: unknown): KeptPack | null {
  const form = formOf(earlier);
  if (!('fault' in form)) {
    const { excluded } = form.head;
    return { ...form, excluded: nodesIn(excluded), manifestFaults: () => checkManifest(form) };
  }
  if (!isNode(earlier) || earlier.format !== longPackFormat) return null;
  const { excluded, listed: _, manifest, receipts, signature, ...head } = earlier;
  const [nodes, left] = [nodesIn(receipts), nodesIn(excluded)];
  return {
    ...{ head, receipts: nodes, manifest, signature, excluded: left },
    manifestFaults: () => {
      const follows = longManifestOf(head, nodes, left);
      return same(manifest, follows) ? [] : [ofPack('manifest', shown(manifest), shown(follows))];
    },
  };
}

const nodesIn = (list: unknown): Node[] => (Array.isArray(list) ? list.filter(isNode) : []);

function longManifestOf(head: Node, receipts: readonly Node[], excluded: readonly Node[]) {
  const [followed, left] = [new Followed(), new ListDigest()];
  for (const node of receipts) followed.add(node, canonicalText(node));
  for (const node of excluded) left.add(canonicalText(node));
  const { lists, parts } = followed.finish(excluded.length);
  const own = entryOf('head', canonicalText(head));
  return longManifest([own, ...parts, ...lists, { part: 'excluded', sha256: left.hex() }]);
}

/** At most where two values first differ, member by member. */
export function differences(field: string, expected: unknown, found: unknown): PackMismatch[] {
  if (same(expected, found)) return [];
  const bothLists = Array.isArray(expected) && Array.isArray(found) && expected.length === found.length;
  if (!bothLists && !(isNode(expected) && isNode(found))) return [ofPack(field, shown(expected), shown(found))];
  const [ours, theirs] = [expected as Node, found as Node];
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return [...names].flatMap((name) => differences(`${field}.${name}`, ours[name], theirs[name]));
}
