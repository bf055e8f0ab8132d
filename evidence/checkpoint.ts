/**
 * A checkpoint is the signed state of the log of an account: how many entries it had, its root, and the time up to which it had the receipts of all
 * calls that were stored. A kept checkpoint shows later whether entries before it were changed, removed or inserted.
 */
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import { isHash } from './merkle.ts';
import { checkSignature, type SignatureCheck, type Signed, signed, type Trust } from './signature.ts';

export const checkpointFormat = 'gw.receipt_log_checkpoint/1';

/** The signature is over this, as JSON by RFC 8785. */
export interface LogHead {
  readonly format: typeof checkpointFormat;
  readonly account: string;
  readonly tree_size: number;
  /** The root as RFC 6962 defines it, 64 hexadecimal digits. */
  readonly root_hash: string;
  /**
   * RFC 3339, UTC. The receipt of each call before this time, if it was stored by then, is among the entries. A receipt of such a call that
   * enters the log later came late, or was inserted.
   */
  readonly complete_until: string;
  /** RFC 3339, UTC. */
  readonly issued: string;
}

export interface Checkpoint extends LogHead {
  readonly signature: Signed;
}

export async function signedCheckpoint(
  {
    account,
    completeUntil,
    issued,
    root,
    size,
  }: {
    readonly account: string;
    readonly size: number;
    readonly root: string;
    readonly completeUntil: Date;
    readonly issued: Date;
  },
  key: SigningKey,
): Promise<Checkpoint> {
  const head: LogHead = {
    format: checkpointFormat,
    account,
    tree_size: size,
    root_hash: root,
    complete_until: completeUntil.toISOString(),
    issued: issued.toISOString(),
  };
  return { ...head, signature: await signed(head, key) };
}

const isTime = (value: unknown): boolean => typeof value === 'string' && !Number.isNaN(Date.parse(value));

/** Null: the value is not a checkpoint in a form that this program knows. */
export function checkpointIn(value: unknown): Checkpoint | null {
  if (typeof value !== 'object' || value === null) return null;
  const { account, complete_until, format, issued, root_hash, tree_size } = value as Record<string, unknown>;
  const isOne =
    format === checkpointFormat &&
    typeof account === 'string' &&
    isTime(issued) &&
    isTime(complete_until) &&
    Number.isSafeInteger(tree_size) &&
    isHash(root_hash);
  return isOne ? (value as Checkpoint) : null;
}

export function checkCheckpoint({ signature, ...head }: Checkpoint, trust: Trust): Promise<SignatureCheck> {
  return checkSignature(head, signature, trust);
}
