/**
 * Whether each secret of this process is the one that the stored data was made with. No question reads more than some 30 rows or entries.
 *
 * No answer contains any part of a secret. The gateway wrote the data that is read, but whoever has a store can have added to it: where they
 * can add and not remove, one piece that fits is enough.
 */

import { elementAt } from '@gw/contract/internal/defined';
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import type { KeyRing } from '@gw/contract/internal/key-ring';
import type { Peppers } from '@gw/contract/internal/pepper';
import {
  idempotencyClaimKey,
  idempotencyRepliesKey,
  idempotencySumKeys,
  ledgerStream,
} from '@gw/contract/internal/redis';
import { EntryOpener } from '@gw/contract/internal/sealed-entry';
import { isStatementGenuine, type WitnessKeys } from '@gw/contract/internal/witness';
import { checkSignedHead, signedHeadIn } from '@gw/evidence/batch-proof';
import { notePepper, pepperFit } from '@gw/prisma/pepper-check';
import type { ReplyCipher } from '@gw/service/idempotency';
import { trustIn } from '../ledger/log/sign.ts';
import { secretOf } from '../people/access/account-issuers.ts';
import { openFactor } from '../people/access/second-factor.ts';
import type { Context, Databases } from '../shared/context.ts';
import { unwrapKey } from '../shared/names/cipher.ts';
import { sealFault } from '../shared/seal.ts';
import type { Vault } from '../shared/vault.ts';

export type Fit = 'fits' | 'does_not_fit' | 'nothing_to_compare';

const most = 10;

/** One piece that fits is enough. */
const anyFits = (pieces: readonly boolean[]): Fit =>
  pieces.length === 0 ? 'nothing_to_compare' : pieces.includes(true) ? 'fits' : 'does_not_fit';

const worstOf = (fits: readonly Fit[]): Fit =>
  (['does_not_fit', 'fits'] as const).find((fit) => fits.includes(fit)) ?? 'nothing_to_compare';

/** Leaves the digest of a pepper that no key was hashed with yet, so that other services can compare theirs. */
export async function peppersFit({ customers }: Databases, { current, other }: Peppers): Promise<Fit> {
  const fits: Fit[] = [];
  for (const pepper of other === null ? [current] : [current, other]) {
    await notePepper(customers, pepper);
    fits.push(await pepperFit(customers, pepper));
  }
  return fits.find((fit) => fit === 'does_not_fit') ?? fits[0] ?? 'nothing_to_compare';
}

interface Sealed {
  readonly text: string;
  readonly seal: string;
  readonly id: number;
}

/**
 * For each key that is configured, the oldest entry of the operators' chain that was found with its number decides, or one of the newest
 * batches: a process with a wrong key may have sealed the newest entries, and somebody with the database can have added entries.
 */
export async function ledgerKeyFits({ ledger }: Databases, keys: KeyRing): Promise<Fit> {
  const entries = await ledger.$queryRaw<Sealed[]>`
    SELECT text, seal, id FROM (
      (SELECT seq, hash AS text, seal, seal_key::int AS id FROM audit WHERE chain = 'operators' ORDER BY seq LIMIT ${most})
      UNION (SELECT seq, hash, seal, seal_key::int FROM audit WHERE chain = 'operators' ORDER BY seq DESC LIMIT ${most})) e
    ORDER BY seq`;
  const batches = await ledger.$queryRaw<Sealed[]>`
    SELECT encode(head, 'hex') AS text, seal, seal_key::int AS id FROM receipt_batches
    WHERE number IS NOT NULL AND seal IS NOT NULL ORDER BY number DESC LIMIT ${most}`;
  if (entries.length + batches.length === 0) return 'nothing_to_compare';
  const known = [keys.current, ...keys.others].map(({ id }) => id);
  const proven = known.flatMap((number) => {
    const oldest = entries.find(({ id }) => id === number);
    const heads = batches.filter(({ id }) => id === number);
    if (oldest === undefined && heads.length === 0) return [];
    const fits =
      (oldest !== undefined && sealFault(keys, 'gw.audit', oldest.text, oldest) === null) ||
      heads.some((head) => sealFault(keys, 'gw.batch', head.text, head) === null);
    return [fits];
  });
  // The keys do not fit either if no sampled piece names one of them.
  return proven.length > 0 && proven.every(Boolean) ? 'fits' : 'does_not_fit';
}

export async function evidenceKeyFits({ reader }: Databases, key: SigningKey): Promise<Fit> {
  const heads = await reader.$queryRaw<{ signed: unknown }[]>`
    (SELECT signed FROM receipt_heads ORDER BY last LIMIT ${most})
    UNION ALL (SELECT signed FROM receipt_heads ORDER BY last DESC LIMIT ${most})`;
  const trust = trustIn(key);
  const checks = heads.map(async ({ signed }) => {
    const head = signedHeadIn(signed);
    return head !== null && (await checkSignedHead(head, trust).catch(() => null)) === 'trusted';
  });
  return anyFits(await Promise.all(checks));
}

/** Each kind decides for itself, since what was lost of one may have been set again. Without the key nothing opens. */
export async function credentialsKeyFits({ catalogue, people }: Databases, vault: Vault | null): Promise<Fit> {
  const [credentials, issuers, factors] = await Promise.all([
    catalogue.providerCredential.findMany({ take: most, orderBy: { setAt: 'desc' } }),
    people.accountIssuer.findMany({ take: most, orderBy: { setAt: 'desc' } }),
    // Others were never confirmed.
    people.secondFactor.findMany({ where: { setAt: { not: null } }, take: most, orderBy: { setAt: 'desc' } }),
  ]);
  return worstOf([
    anyFits(credentials.map(({ name, origin, sealed }) => (vault?.open(sealed, { name, origin }) ?? null) !== null)),
    anyFits(issuers.map((issuer) => secretOf(vault, issuer) !== null)),
    anyFits(factors.map((factor) => openFactor(vault, factor) !== null)),
  ]);
}

export async function namesKeyFits({ reader }: Databases, keys: KeyRing): Promise<Fit> {
  const stored = await reader.$queryRaw<{ subject: string; wrapped: Uint8Array; key_id: number }[]>`
    SELECT subject, wrapped, key_id::int AS key_id FROM subject_keys WHERE wrapped IS NOT NULL ORDER BY subject LIMIT ${most}`;
  return anyFits(stored.map((key) => unwrapKey(keys, key.subject, key) !== null));
}

export async function witnessKeyFits({ reader }: Databases, keys: WitnessKeys): Promise<Fit> {
  const stated = await reader.$queryRaw<{ life: string; seq: number; statement: string; code: string }[]>`
    SELECT life, seq, statement, code FROM witness_statements ORDER BY stated_at DESC LIMIT ${most}`;
  return anyFits(
    stated.map(({ code, life, seq, statement }) => isStatementGenuine(keys, { life, seq }, statement, code)),
  );
}

/** Asks receipts that wait for Postgres; mostly there are none. */
export async function entryKeyFits({ redis }: Pick<Context, 'redis'>, keys: KeyRing): Promise<Fit> {
  const [oldest, newest] = await Promise.all([
    redis.xrangeBuffer(ledgerStream, '-', '+', 'COUNT', most),
    redis.xrevrangeBuffer(ledgerStream, '+', '-', 'COUNT', most),
  ]);
  const opener = new EntryOpener(keys);
  // The field `entry` and its bytes.
  const entries = [...oldest, ...newest].flatMap(([, fields]) => fields[1] ?? []);
  return anyFits(entries.map((entry) => 'entry' in opener.open(entry)));
}

/** The newest kept reply of each of some accounts. */
export async function idempotencyKeyFits({ redis }: Pick<Context, 'redis'>, cipher: ReplyCipher): Promise<Fit> {
  const accounts = await redis.zrevrange(elementAt(idempotencySumKeys, 1), 0, most - 1);
  const opened = accounts.map(async (account) => {
    const [newest] = await redis.zrevrange(idempotencyRepliesKey(account), 0, 0);
    const [digest] = newest?.split(' ') ?? [];
    if (digest === undefined) return [];
    const reply = await redis.hgetBuffer(idempotencyClaimKey(account, digest), 'b');
    return reply === null ? [] : [(await cipher.open(reply, digest)) !== null];
  });
  return anyFits((await Promise.all(opened)).flat());
}
