/**
 * An evidence pack: receipts of one account, what they were made by, and sums of them, as JSON-LD 1.1 that needs nothing from
 * elsewhere, with a detached signature (RFC 7797) over a manifest of its parts.
 */
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import { methodologyOfHash } from '@gw/methodology/methodologies';
import { canonicalText } from './canonical.ts';
import type { Checkpoint } from './checkpoint.ts';
import { packContext } from './context.ts';
import { entryOf, type ManifestEntry, manifestWith } from './manifest.ts';
import { statedQuantities } from './quantities.ts';
import { gatewayOf, type Node, type PackedReceipt, planOf, receiptNode } from './receipt-node.ts';
import { signed } from './signature.ts';
import { SourceList } from './sources.ts';
import { aggregatesOf, coverage } from './sums.ts';

export type { PackedReceipt } from './receipt-node.ts';

export const packFormat = 'gw.evidence_pack/1';
export const packTypes = ['dcat:Dataset', 'prov:Entity', 'gw:EvidencePack'] as const;

/**
 * `not_found`: the account has no such receipt, or not yet. `no_lineage`: it is in the pack, its lineage is not. What the others say, no
 * honest history comes to: `not_genuine`: what is stored is not what was issued. `not_stored`: the log has it, and it is gone.
 */
export type ExclusionCode = 'no_lineage' | 'not_found' | 'not_genuine' | 'not_stored';

/** A receipt that is not in the pack although it was asked for. */
export interface Excluded {
  readonly receipt_id: string;
  readonly version: number | null;
  readonly code: ExclusionCode;
  /** In words. */
  readonly reason: string;
  /** Of an entry of the account's log whose receipt is not stored any more, or not as it was. */
  readonly log_index?: number;
}

/** How far the log of the account was when the pack was made. */
export interface PackLog {
  /** Null: there is one, and it cannot be read. */
  readonly checkpoint: Checkpoint | null;
  /** That it goes on from the log of the first `from` entries; null if that was not asked for. */
  readonly consistency: { readonly from: number; readonly path: readonly string[] } | null;
  /** In words: why there are no proofs. */
  readonly fault?: string;
}

export interface PackContents {
  /** A UUID. */
  readonly id: string;
  readonly issuedAt: Date;
  readonly baseUrl: string;
  readonly accountId: string;
  /** What was asked for. */
  readonly selection: Node;
  /** Half-open; null if receipts were asked for by their ids alone. */
  readonly period: { readonly from: Date; readonly to: Date } | null;
  /** By time and id, all versions of each. */
  readonly receipts: readonly PackedReceipt[];
  readonly excluded: readonly Excluded[];
  /** Null: it has none yet. */
  readonly log: PackLog | null;
}

/** So much of the text, in characters, is made at once: some milliseconds. */
const pieceLength = 250_000;

/**
 * Resolves with the text of the pack. `pause` is waited for every few milliseconds, so that a service can look after its other
 * requests.
 */
export async function evidencePack(
  contents: PackContents,
  key: SigningKey,
  pause: () => Promise<unknown> = async () => undefined,
): Promise<string> {
  const texts: string[] = [];
  const nodes: Node[] = [];
  const entries: ManifestEntry[] = [];
  const sources = new SourceList();
  let madeAtOnce = 0;
  for (const each of contents.receipts) {
    const node = receiptNode(each, contents.baseUrl);
    const text = canonicalText(node);
    nodes.push(node);
    texts.push(text);
    entries.push(entryOf(String(node.id), text));
    sources.add(node);
    madeAtOnce += text.length;
    if (madeAtOnce < pieceLength) continue;
    await pause();
    madeAtOnce = 0;
  }
  const head = headOf(contents, nodes, sources.list());
  const manifest = manifestWith(canonicalText(head), entries);
  const last = JSON.stringify({ manifest, signature: await signed(manifest, key) });
  return `${JSON.stringify(head).slice(0, -1)},"receipts":[${texts.join(',')}],${last.slice(1)}`;
}

/** What is known of a pack before its receipts are read. */
export type PackAbout = Omit<PackContents, 'excluded' | 'log' | 'receipts'>;

export function aboutPack(
  { accountId, baseUrl, id, issuedAt, period, selection }: PackAbout,
  { context, format }: { readonly context: Node; readonly format: string },
): Node {
  return {
    '@context': context,
    id: `urn:uuid:${id}`,
    type: packTypes,
    format,
    title: 'Environmental receipts of calls to language models',
    issued: issuedAt.toISOString(),
    publisher: { id: gatewayOf(baseUrl), type: ['prov:SoftwareAgent'] },
    account: accountId,
    selection,
    ...(period && {
      temporal: { type: ['dct:PeriodOfTime'], start: period.from.toISOString(), end: period.to.toISOString() },
    }),
    quantities: statedQuantities,
  };
}

function headOf(contents: PackContents, receipts: readonly Node[], sources: readonly Node[]): Node {
  const { excluded, log } = contents;
  return {
    ...aboutPack(contents, { context: packContext, format: packFormat }),
    coverage: coverage(receipts, excluded.length),
    aggregates: aggregatesOf(receipts),
    methodologies: methodologiesOf(receipts),
    sources,
    excluded: excluded.map(exclusionNode),
    log,
  };
}

export const exclusionNode = (each: Excluded): Node => ({ type: ['gw:Exclusion'], ...each });

const hashesOf = (nodes: readonly Node[]): string[] =>
  nodes.flatMap(({ methodology_hash: hash }) => (typeof hash === 'string' ? hash : []));
export const methodologiesOf = (receipts: readonly Node[]): Node[] => methodologiesNamed(new Set(hashesOf(receipts)));

/** With their documents: all constants and formulas, in the text that their hash is over. */
export function methodologiesNamed(hashes: ReadonlySet<string>): Node[] {
  return [...hashes].toSorted().map((hash) => {
    const known = methodologyOfHash(hash);
    return {
      id: planOf(hash),
      type: ['prov:Plan', 'prov:Entity'],
      name: known?.id ?? null,
      version: known?.version ?? null,
      hash,
      document: known?.document ?? null,
    };
  });
}
