/**
 * A signed checkpoint: so many entries had the log of an account at that time, and this was its root. Whoever keeps one can tell later
 * whether anything in front of it was changed, taken out or put between.
 */
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import { isHash } from './merkle.ts';
import { checkSignature, type SignatureCheck, type Signed, signed, type Trust } from './signature.ts';

export const checkpointFormat = 'gw.receipt_log_checkpoint/1';

/** What is signed, as JSON by RFC 8785. */
export interface LogHead {
  readonly format: typeof checkpointFormat;
  readonly account: string;
  readonly tree_size: number;
  /** 64 hexadecimal digits, as RFC 6962 has it. */
  readonly root_hash: string;
  /** RFC 3339, UTC. */
  readonly issued: string;
}

export interface Checkpoint extends LogHead {
  readonly signature: Signed;
}

export async function signedCheckpoint(
  {
    account,
    issued,
    root,
    size,
  }: { readonly account: string; readonly size: number; readonly root: string; readonly issued: Date },
  key: SigningKey,
): Promise<Checkpoint> {
  const head: LogHead = {
    format: checkpointFormat,
    account,
    tree_size: size,
    root_hash: root,
    issued: issued.toISOString(),
  };
  return { ...head, signature: await signed(head, key) };
}

/** Null: it is none, of a form that this program knows. */
export function checkpointIn(value: unknown): Checkpoint | null {
  if (typeof value !== 'object' || value === null) return null;
  const { account, format, issued, root_hash, tree_size } = value as Record<string, unknown>;
  const isOne =
    format === checkpointFormat &&
    typeof account === 'string' &&
    typeof issued === 'string' &&
    !Number.isNaN(Date.parse(issued)) &&
    Number.isSafeInteger(tree_size) &&
    isHash(root_hash);
  return isOne ? (value as Checkpoint) : null;
}

export function checkCheckpoint({ signature, ...head }: Checkpoint, trust: Trust): Promise<SignatureCheck> {
  return checkSignature(head, signature, trust);
}
