/**
 * The digest of a row of the ledger, and the seal on it.
 *
 * Invariant: a row is genuine only if its content gives its digest, its digest gives its seal by a key that the
 * database does not hold, and its columns say what its content says. So whoever has the database alone can make no row
 * that passes.
 *
 * Anybody who has the content can compute the digest (contract/internal/ledger-entry.ts). The seal is HMAC-SHA-256 of
 * `gw.receipt`, a line feed and the digest in hexadecimal; that form is frozen too.
 */
import type { KeyRing } from '@gw/contract/internal/key-ring';
import { ledgerDigest, plainLedgerDigest } from '@gw/contract/internal/ledger-entry';
import { sealFault, sealOf } from '../../shared/seal.ts';
import { type ReceiptRow, type Texts, textsOf } from './entry-row.ts';
import { timeOfReceipt } from './receipt-id.ts';

/** The digest of a row's content and the seal on it, both in hexadecimal, and the id of the key. */
export interface Seal {
  readonly content_sha256: string;
  readonly seal: string;
  readonly seal_key: number;
}

export type SealedReceipt = ReceiptRow & Seal;

/**
 * `altered`: the content is not what was sealed. `forged`: the digest fits the content, and the seal does not fit it. `no dictionary`: what it was
 * compressed with is gone, or altered, so that nobody can read it.
 */
export type LedgerFault = 'altered' | 'forged' | 'unsealed' | 'unknown key' | 'no dictionary';

/** A row as it is read back (read-rows.ts): its JSON is the text that was stored. */
export interface LedgerRow {
  readonly id: string;
  readonly version: number;
  readonly created_at: Date;
  readonly account_id: string;
  readonly key_id: string;
  readonly endpoint: string;
  readonly model: string;
  readonly region: string | null;
  readonly tier: string;
  readonly status: string;
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly energy_wh: number | null;
  readonly carbon_g: number | null;
  readonly body: string;
  readonly routing_trace: string | null;
  readonly facts: string | null;
  readonly shown: boolean;
  /** The three texts, if they are compressed (compressed-rows.ts). */
  readonly compressed: Uint8Array | null;
  /** Why there are no texts (`body` is empty): its dictionary is not what it was. */
  readonly unreadable?: Extract<LedgerFault, 'no dictionary'>;
  readonly content_sha256: string | null;
  readonly seal: string | null;
  readonly seal_key: number | null;
}

/** Returns the digest of a row, and its seal by the current key. `texts`: its JSON as it is stored, by `JSON.stringify`. */
export function sealFor(row: ReceiptRow, { body, facts, routing_trace }: Texts, { current }: KeyRing): Seal {
  const { account_id, body: receipt, endpoint, key_id } = row;
  const content = { account_id, key_id, endpoint, body, routing_trace, facts };
  const isObject = typeof receipt === 'object' && receipt !== null;
  const digest = isObject ? plainLedgerDigest(content, receipt) : ledgerDigest(content, receipt);
  return { content_sha256: digest, seal: sealOf(current, 'gw.receipt', digest), seal_key: current.id };
}

export const sealed = (row: ReceiptRow, keys: KeyRing, texts = textsOf(row)): SealedReceipt => ({
  ...row,
  ...sealFor(row, texts, keys),
});

/**
 * Returns what is wrong with a row, or null. It throws for no row, whatever somebody has written into it: one exception would hide the faults of all others.
 */
export function faultOf(row: LedgerRow, keys: KeyRing): LedgerFault | null {
  const { content_sha256, seal, seal_key, unreadable } = row;
  if (unreadable !== undefined) return unreadable;
  // The columns are not nullable, but whoever owns the database can change that.
  if (content_sha256 === null || seal === null || seal_key === null) return 'unsealed';
  if (unlessUnreadable(() => digestOf(row)) !== content_sha256) return 'altered';
  return sealFault(keys, 'gw.receipt', content_sha256, { id: seal_key, seal });
}

/** Returns the digest of a row; null if its columns or its text are not those of its content. */
function digestOf(row: LedgerRow): string | null {
  const body: unknown = JSON.parse(row.body);
  return saysTheSame(row, body) ? ledgerDigest(row, body) : null;
}

/**
 * Returns null if the stored JSON cannot be read: it is none, is nested too deeply, or has text or numbers without a
 * canonical form. Nothing of the kind was ever sealed.
 */
function unlessUnreadable<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** The value of a column that holds JSON, or nothing. */
export const parsedColumn = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

const copied = [
  ...(['id', 'version', 'model', 'region', 'tier', 'status'] as const),
  ...(['prompt_tokens', 'completion_tokens', 'energy_wh', 'carbon_g'] as const),
] as const;

/** Whether the body is an object, and the columns, by which rows are summed and filtered, are those of it. */
function saysTheSame(row: LedgerRow, body: unknown): boolean {
  return (
    isObject(body) &&
    copied.every((name) => row[name] === (body[name] ?? null)) &&
    timeOfReceipt(row.id)?.getTime() === row.created_at.getTime()
  );
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
