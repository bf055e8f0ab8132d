/**
 * The statements of ext-authz about the calls that Envoy has ended, beside the ledger (docs/decisions/0067).
 *
 * Invariant: a statement has a code by a key that only ext-authz and the control plane hold, so that neither the database nor whoever makes
 * receipts can state anything.
 */
import { timingSafeEqual } from 'node:crypto';
import type { SettingReader } from './environment.ts';
import { hmacSha256 } from './hmac.ts';

/** One statement of a life of ext-authz. Times are ages, ms before it was written, since the clocks of two machines may differ. */
export interface WitnessStatement {
  /** Calls since the statement before: the minute in their receipt ids (since 1970), the account, and how many. */
  readonly calls: readonly (readonly [minute: number, accountId: string, calls: number])[];
  /** Times in which calls may have ended uncounted: from, to. */
  readonly unsure: readonly (readonly [fromMs: number, toMs: number])[];
  /** The life ends in order, and has counted all that it was told. */
  readonly isLast: boolean;
}

/** Where a statement stands. */
export interface StatementPlace {
  readonly life: string;
  /** From 1, without a hole. */
  readonly seq: number;
}

export interface WitnessKeys {
  readonly current: Buffer;
  /** Accepted while the key is exchanged; null: none. */
  readonly previous: Buffer | null;
}

export const readWitnessKeys = (settings: SettingReader): WitnessKeys => ({
  current: settings.hexKey('GW_WITNESS_KEY'),
  previous: settings.optionalHexKey('GW_WITNESS_KEY_PREVIOUS'),
});

/** Returns the code of a statement, 64 hexadecimal digits. */
export const statementCode = (key: Buffer, { life, seq }: StatementPlace, statement: string): string =>
  hmacSha256(key, `gw.witness\n${life}\n${seq}\n${statement}`).toString('hex');

export function isStatementGenuine(
  { current, previous }: WitnessKeys,
  place: StatementPlace,
  statement: string,
  code: string,
): boolean {
  const shown = Buffer.from(code);
  return [current, previous].some((key) => {
    if (key === null) return false;
    const expected = Buffer.from(statementCode(key, place, statement));
    return expected.length === shown.length && timingSafeEqual(expected, shown);
  });
}

const receiptTime = /^rcpt_([0-9a-f]{8})-([0-9a-f]{4})-7/;

/** Returns the minute of the time in a receipt id, since 1970; null if there is none. */
export function minuteOfReceipt(receiptId: string): number | null {
  const [, high, low] = receiptTime.exec(receiptId) ?? [];
  return high === undefined || low === undefined ? null : Math.floor(Number.parseInt(high + low, 16) / 60_000);
}
