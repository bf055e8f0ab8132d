/**
 * Whether an evidence pack holds, from the pack alone and a key that was had from elsewhere.
 *
 * Invariants: nothing in a pack is believed. What its head says of the receipts is made again of them; the numbers of a receipt
 * are made again of its lineage, by the methodology that it names. Anything gives an answer, never an exception. The key that
 * a pack brings along is never trusted for that alone.
 */
import { methodologyOfHash } from '@gw/methodology/methodologies';
import { verify } from '@gw/methodology/recompute';
import { canonicalText } from './canonical.ts';
import { packContext } from './context.ts';
import { manifestOf } from './manifest.ts';
import { methodologiesOf, packFormat } from './pack.ts';
import { statedQuantities } from './quantities.ts';
import { isNode, type Node, ofPack, type PackMismatch, receiptOf, shown } from './receipt-node.ts';
import { checkSignature, type SignatureCheck, type Trust } from './signature.ts';
import { sourcesOf } from './sources.ts';
import { aggregatesOf, coverage } from './sums.ts';
import { type LogVerification, verifyLog } from './verify-log.ts';

export type { PackMismatch } from './receipt-node.ts';
export type { Trust } from './signature.ts';

export interface PackVerification {
  readonly signature: SignatureCheck;
  readonly mismatches: readonly PackMismatch[];
  readonly receipts: number;
  /** Whose numbers were made again. The others came without a lineage, or are degraded and have none. */
  readonly recomputed: number;
  readonly log: Omit<LogVerification, 'mismatches'>;
  /** Of a long pack: mismatches that are not in the list, which would have no end. */
  readonly untold?: number;
}

/** `pack`: parsed JSON. `earlier`: the same, a checkpoint of the account's log or a pack with one, if somebody has kept any. */
export async function verifyPack(pack: unknown, trust: Trust, earlier?: unknown): Promise<PackVerification> {
  const nothing = { receipts: 0, recomputed: 0, log: { proven: 0, late: [] } };
  try {
    const form = formOf(pack);
    if ('fault' in form) return { ...nothing, signature: 'invalid', mismatches: [form.fault] };
    const { head, manifest, receipts, signature } = form;
    const lineages = receipts.map(checkReceipt);
    const { mismatches: ofLog, ...log } = await verifyLog(form, trust, earlier);
    return {
      signature: await checkSignature(manifest, signature, trust),
      mismatches: [
        ...checkManifest(form),
        ...checkHead(head, receipts),
        ...checkPeriod(head, receipts),
        ...checkOnce(receipts),
        ...lineages.flatMap(({ mismatches }) => mismatches),
        ...ofLog,
      ],
      receipts: receipts.length,
      recomputed: lineages.filter(({ recomputed }) => recomputed).length,
      log,
    };
  } catch {
    return { ...nothing, signature: 'invalid', mismatches: [ofPack('pack', packFormat, 'something else')] };
  }
}

interface Form {
  readonly head: Node;
  readonly receipts: readonly Node[];
  readonly manifest: unknown;
  readonly signature: unknown;
}

const same = (a: unknown, b: unknown): boolean => shown(a) === shown(b) && canonicalText(a) === canonicalText(b);

function formOf(pack: unknown): Form | { readonly fault: PackMismatch } {
  if (!isNode(pack)) return { fault: ofPack('pack', 'an object', shown(pack)) };
  const { manifest, receipts, signature, ...head } = pack;
  if (head.format !== packFormat) return { fault: ofPack('format', packFormat, shown(head.format)) };
  if (!Array.isArray(receipts) || !receipts.every(isNode))
    return { fault: ofPack('receipts', 'a list of receipts', shown(receipts)) };
  return { head, receipts, manifest, signature };
}

function checkManifest({ head, manifest, receipts }: Form): PackMismatch[] {
  const follows = manifestOf(head, receipts);
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

/** What of the head follows from the receipts. */
function checkHead(head: Node, receipts: readonly Node[]): PackMismatch[] {
  const excluded = Array.isArray(head.excluded) ? head.excluded.length : 0;
  const follows = {
    '@context': packContext,
    quantities: statedQuantities,
    coverage: coverage(receipts, excluded),
    aggregates: aggregatesOf(receipts),
    sources: sourcesOf(receipts),
    methodologies: methodologiesOf(receipts),
  };
  return [
    ...Object.entries(follows).flatMap(([field, value]) => differences(field, value, head[field])),
    ...unknownMethodologies(follows.methodologies),
  ];
}

export const unknownMethodologies = (methodologies: readonly Node[]): PackMismatch[] =>
  methodologies
    .filter(({ hash }) => methodologyOfHash(String(hash)) === null)
    .map(({ hash }) => ofPack('methodologies', 'a methodology that is known here', String(hash)));

/** At most where two values first differ, member by member. */
export function differences(field: string, expected: unknown, found: unknown): PackMismatch[] {
  if (same(expected, found)) return [];
  const bothLists = Array.isArray(expected) && Array.isArray(found) && expected.length === found.length;
  if (!bothLists && !(isNode(expected) && isNode(found))) return [ofPack(field, shown(expected), shown(found))];
  const [ours, theirs] = [expected as Node, found as Node];
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return [...names].flatMap((name) => differences(`${field}.${name}`, ours[name], theirs[name]));
}

function checkPeriod({ temporal }: Node, receipts: readonly Node[]): PackMismatch[] {
  if (!isNode(temporal)) return [];
  const [start, end] = [Date.parse(String(temporal.start)), Date.parse(String(temporal.end))];
  return receipts.flatMap((node) => {
    const at = Date.parse(String(node.created_at));
    if (at >= start && at < end) return [];
    const expected = `from ${temporal.start} to before ${temporal.end}`;
    return [{ receipt: String(node.id), field: 'created_at', expected, found: shown(node.created_at) }];
  });
}

function checkOnce(receipts: readonly Node[]): PackMismatch[] {
  const seen = new Set<string>();
  return receipts.flatMap(({ receipt_id, version }) => {
    const name = `${receipt_id}:${version}`;
    const isNew = !seen.has(name);
    seen.add(name);
    if (isNew) return [];
    return [{ receipt: `urn:gw:receipt:${name}`, field: 'receipt', expected: 'once', found: 'more than once' }];
  });
}

export function checkReceipt(node: Node): { readonly recomputed: boolean; readonly mismatches: PackMismatch[] } {
  const lineage = isNode(node.lineage) ? node.lineage.lineage : null;
  if (!isNode(lineage)) return { recomputed: false, mismatches: [] };
  const result = verify(lineage as unknown as Parameters<typeof verify>[0], receiptOf(node));
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
