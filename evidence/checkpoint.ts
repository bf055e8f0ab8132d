/**
 * A checkpoint is the signed state of the log of an account: how many entries it had, its root, and the time up to which it had the receipts of all
 * calls that were stored. A kept checkpoint shows later whether entries before it were changed, removed or inserted.
 *
 * It is signed as a note (https://c2sp.org/tlog-checkpoint), which witnesses that know nothing of receipts can cosign.
 *
 * Invariant: each member but the key follows from the text that was signed, and that text from the members.
 */
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import type { PublicJwk } from '@gw/contract/internal/public-jwk';
import { base64url } from 'jose';
import { bytesOfHex } from '#sha256';
import { isHash } from './merkle.ts';
import {
  base64Of,
  isNoteName,
  keyTypes,
  linesBy,
  type NoteKey,
  type NoteLine,
  noteLine,
  noteLinesIn,
  signatureFits,
} from './note.ts';
import { isNode } from './receipt-node.ts';
import { type SignatureCheck, signerIn, type Trust, trusted } from './signature.ts';

export const checkpointFormat = 'gw.receipt_log_checkpoint/2';

export interface LogHead {
  readonly format: typeof checkpointFormat;
  readonly account: string;
  /** The name of the log for witnesses, and of the key in its line: see `logOrigin`. */
  readonly origin: string;
  readonly tree_size: number;
  /** The root as RFC 6962 defines it, 64 hexadecimal digits. */
  readonly root_hash: string;
  /**
   * RFC 3339, UTC. The receipt of each call before this time, if it was stored by then, is among the entries. A receipt of such a call that
   * enters the log later came late, or was inserted.
   */
  readonly complete_until: string;
  /** The root of the register of its hours (hours.ts), 64 hexadecimal digits. */
  readonly hours_root: string;
  /** RFC 3339, UTC. */
  readonly issued: string;
}

export interface Checkpoint extends LogHead {
  /** The signer's key. It can be trusted only if it is known from elsewhere. */
  readonly key: PublicJwk;
  /** The text that follows from the head, an empty line, the line of the signature, and those of the witnesses. */
  readonly note: string;
}

const isTime = (value: unknown): boolean =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) && new Date(value).toISOString() === value;

/** The lines of the note behind the root, `<name> <value>`, and which values are in their form. */
const extensions = { complete_until: isTime, hours_root: isHash, issued: isTime } as const;
type Extension = keyof typeof extensions;
const extensionNames = Object.keys(extensions) as Extension[];

const members: ReadonlySet<string> = new Set([
  ...['format', 'account', 'origin', 'tree_size', 'root_hash', 'key', 'note'],
  ...extensionNames,
]);

const pathOf = (account: string): string => `/receipts/${encodeURIComponent(account)}`;

/** The log of an account of a gateway: its base URL without the scheme, `/receipts/`, and the account. */
export function logOrigin(baseUrl: string, account: string): string {
  const { host, pathname } = new URL(baseUrl);
  return `${host}${pathname.replace(/\/$/, '').replaceAll('+', '%2B')}${pathOf(account)}`;
}

export const noteText = (head: LogHead): string =>
  [
    head.origin,
    head.tree_size,
    base64Of(bytesOfHex(head.root_hash)),
    ...extensionNames.map((name) => `${name} ${head[name]}`),
    '',
  ].join('\n');

/** The key of a log as its witnesses have to know it. */
export const logKey = ({ origin }: Pick<LogHead, 'origin'>, { x }: PublicJwk): NoteKey => ({
  name: origin,
  type: keyTypes.signature,
  key: base64url.decode(x),
});

export async function signedCheckpoint(
  {
    account,
    baseUrl,
    completeUntil,
    hoursRoot,
    issued,
    root,
    size,
  }: {
    readonly account: string;
    /** The address of the gateway. */
    readonly baseUrl: string;
    readonly size: number;
    readonly root: string;
    readonly completeUntil: Date;
    readonly hoursRoot: string;
    readonly issued: Date;
  },
  key: SigningKey,
): Promise<Checkpoint> {
  const head: LogHead = {
    format: checkpointFormat,
    account,
    origin: logOrigin(baseUrl, account),
    tree_size: size,
    root_hash: root,
    complete_until: completeUntil.toISOString(),
    hours_root: hoursRoot,
    issued: issued.toISOString(),
  };
  const text = noteText(head);
  const signature = await key.sign(new TextEncoder().encode(text));
  const line = noteLine(logKey(head, key.publicJwk), signature);
  return { ...head, key: key.publicJwk, note: `${text}\n${line}` };
}

/** Null: the value is not a checkpoint in a form that this program knows. */
export function checkpointIn(value: unknown): Checkpoint | null {
  if (!isNode(value) || !Object.keys(value).every((name) => members.has(name))) return null;
  const { account, format, note, origin, root_hash, tree_size } = value;
  const isOne =
    format === checkpointFormat &&
    typeof account === 'string' &&
    account.isWellFormed() &&
    isNoteName(origin) &&
    origin.endsWith(pathOf(account)) &&
    Number.isSafeInteger(tree_size) &&
    Number(tree_size) > 0 &&
    isHash(root_hash) &&
    typeof note === 'string' &&
    extensionNames.every((name) => extensions[name](value[name]));
  return isOne ? (value as unknown as Checkpoint) : null;
}

/** The lines behind the text that the members say. Null: the note has another text, or something else behind it. */
export function linesOf(checkpoint: Checkpoint): NoteLine[] | null {
  const head = `${noteText(checkpoint)}\n`;
  return checkpoint.note.startsWith(head) ? noteLinesIn(checkpoint.note.slice(head.length)) : null;
}

/** Checks the line of the log itself. Cosignatures may stand beside it. */
export async function checkCheckpoint(checkpoint: Checkpoint, trust: Trust): Promise<SignatureCheck> {
  const signer = signerIn(checkpoint.key);
  if (signer === null) return 'invalid';
  const key = logKey(checkpoint, signer);
  const own = linesBy(linesOf(checkpoint) ?? [], key);
  const fitting = await Promise.all(own.map((line) => signatureFits(noteText(checkpoint), line, key)));
  return fitting.length > 0 && fitting.every((fits) => fits) ? trusted(signer, trust) : 'invalid';
}
