/**
 * A signed checkpoint: so many entries had the log of an account at that time, this was its root, and of calls before `complete_until` it
 * had all that were stored. Whoever keeps one can tell later whether anything in front of it was changed, taken out or put between.
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
  /**
   * RFC 3339, UTC: of each call before it whose receipt was stored by then, that is among the entries. What comes into the log
   * later of such a call has come late, or was put in.
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

/** Null: it is none, of a form that this program knows. */
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
