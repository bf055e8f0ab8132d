/**
 * The chain of batches of the ledger: each batch is a Merkle tree (RFC 6962) over the rows that came with it and has a head, which covers the head
 * before; each minute the heads since the last time are signed, as a tree too. So a receipt is proven a minute after its call.
 *
 * Invariant: pure. A check returns what the proof shows, and never throws for what somebody made up.
 */
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import { canonicalText, sha256Of } from './canonical.ts';
import { isHash, leafHash, rootFrom } from './merkle.ts';
import { isNode, type Node } from './receipt-node.ts';
import { checkSignature, type SignatureCheck, type Signed, signed, type Trust } from './signature.ts';

export const headFormat = 'gw.receipt_batches/1';

/** The signature is over this, as JSON by RFC 8785. */
export interface ChainHead {
  readonly format: typeof headFormat;
  /** The numbers of the first and the last batch that it signs. */
  readonly first: number;
  readonly last: number;
  /** The head of the last one. */
  readonly head: string;
  /** The root of a tree over the heads, each as its 64 hexadecimal digits. */
  readonly root_hash: string;
  /** RFC 3339, UTC. */
  readonly issued: string;
}

export interface SignedHead extends ChainHead {
  readonly signature: Signed;
}

export async function signedHead(
  head: Omit<ChainHead, 'format' | 'issued'>,
  issued: Date,
  key: SigningKey,
): Promise<SignedHead> {
  const stated: ChainHead = { format: headFormat, ...head, issued: issued.toISOString() };
  return { ...stated, signature: await signed(stated, key) };
}

const isNumber = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;

/** Null: the value is no signed head in a form that this program knows. */
export function signedHeadIn(value: unknown): SignedHead | null {
  if (!isNode(value)) return null;
  const { first, format, head, issued, last, root_hash } = value;
  const isOne =
    format === headFormat && isNumber(first) && isNumber(last) && first <= last && isHash(head) && isHash(root_hash);
  return isOne && typeof issued === 'string' ? (value as unknown as SignedHead) : null;
}

export const checkSignedHead = ({ signature, ...head }: SignedHead, trust: Trust): Promise<SignatureCheck> =>
  checkSignature(head, signature, trust);

export interface BatchProven {
  readonly number: number;
  /** When the receipt came into the ledger. */
  readonly at: string;
  /** When the batch was signed; null: not yet, so nothing holds the gateway to it so far. */
  readonly signed: string | null;
  readonly signature: SignatureCheck | null;
}

/** Follows a receipt through `batch` of its proof. A text says why that shows nothing. */
export async function checkBatchProof(receipt: Node, proof: unknown, trust: Trust): Promise<BatchProven | string> {
  if (!isNode(proof)) return 'the proof has no batch';
  const { at, number } = proof;
  const head = headBy(receipt, proof);
  if (head === null || !isNumber(number) || typeof at !== 'string')
    return 'the receipt does not lead to the head of its batch';
  if (proof.signed === null) return { number, at, signed: null, signature: null };
  if (!isNode(proof.signed)) return 'its batch is signed in an unknown form';
  const { head: statement, path } = proof.signed;
  const signed = signedHeadIn(statement);
  if (signed === null) return 'its batch is signed in an unknown form';
  const { first, issued, last, root_hash } = signed;
  const place = { index: number - first, size: last - first + 1, path };
  if (rootFrom(leafHash(head), place) !== root_hash) return 'its batch is not among those that were signed';
  return { number, at, signed: issued, signature: await checkSignedHead(signed, trust) };
}

function headBy(receipt: Node, proof: Node): string | null {
  const { at, count, index, kind, number, path, previous, replaces, rest_sha256, total } = proof;
  if (!isHash(rest_sha256) || !isHash(previous) || !(replaces === null || isHash(replaces))) return null;
  const ms = Date.parse(String(at));
  if (!Number.isFinite(ms)) return null;
  const row = sha256Of(`${leafHash(canonicalText(receipt))}\n${rest_sha256}`);
  const entry = `${receipt.id} ${receipt.version} ${row}${replaces === null ? '' : ` ${replaces}`}`;
  const root = rootFrom(leafHash(entry), { index, size: count, path });
  return root === null ? null : sha256Of(['gw.batch', number, kind, ms, count, total, root, previous].join('\n'));
}
