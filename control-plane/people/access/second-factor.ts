/**
 * The second factor of people who log in with a credential: codes that change with time (TOTP, RFC 6238: SHA-1, 6 digits,
 * 30 s), as every authenticator makes them.
 *
 * Invariants: a code is taken once, by one login, and no code before it afterwards (RFC 6238, 5.2). Wrong codes are counted with the
 * secret itself, whatever address they come from: 100 of them shut it. The secret is sealed for its person, so that a row that is
 * copied to another person opens nothing. Fail-closed: what cannot be opened lets nobody in.
 */
import { minuteMs } from '@gw/contract/internal/durations';
import { err, ok } from '@gw/contract/internal/result';
import type { Database, Prisma } from '@gw/prisma/client';
import { Secret, TOTP } from 'otpauth';
import { z } from 'zod';
import type { Opened, Vault } from '../../shared/vault.ts';
import {
  type ChangeResult,
  invalidTransition,
  secondFactorLocked,
  secondFactorNeeded,
  secondFactorSealed,
  secondFactorWrong,
  slowDown,
} from './refusals.ts';
import type { Person } from './sessions.ts';

type Tx = Prisma.TransactionClient;

const periodS = 30;
const secretBytes = 20;
/** Steps of time before and after the own clock whose codes are taken too: the network delay of RFC 6238, 5.2. */
const window = 1;
/** How long a new secret can be confirmed. */
const confirmMs = 15 * minuteMs;
/** Three of a million codes are right at a time: 100 tries find one with a chance of 0.03 %. */
const pace = { free: 10, waitMs: 15 * minuteMs, most: 100 } as const;

/** As an authenticator takes it: typed, or scanned as the address. */
export interface NewSecret {
  /** Base32. */
  readonly secret: string;
  /** `otpauth://totp/…` */
  readonly uri: string;
}

export interface SecondFactors {
  /** Without the key that seals them no second factor can be made. */
  readonly canBeMade: boolean;
  /** Makes a secret, which counts once `confirm` has seen a code of it. It takes the place of one that was not confirmed. */
  make(tx: Tx, person: Person, label: string, now: Date): Promise<ChangeResult<NewSecret>>;
  /** From now on logins ask for codes. `tx` holds the person, here and in `check`. */
  confirm(tx: Tx, person: Person, code: string, now: Date): Promise<ChangeResult<null>>;
  /** Refuses a login that needs a code, unless it is right; takes the code. Null as `code`: none came. */
  check(tx: Tx, person: Person, code: string | null, now: Date): Promise<ChangeResult<null>>;
  /** Seals with the current key what the one before has sealed, so that that one can be taken away. */
  sealAgain(db: Database): Promise<void>;
}

/** `host` is what an authenticator calls the gateway. */
export function openSecondFactors(vault: Vault | null, host: string): SecondFactors {
  // A colon, as in an address of IPv6, would end the name.
  const issuer = host.replaceAll(':', '.');
  const open = (row: FactorRow): Secret | null => {
    const opened = openFactor(vault, row);
    return opened && Secret.fromBase32(opened.value);
  };
  const take = (tx: Tx, row: FactorRow, code: string, now: Date, more: { setAt?: Date } = {}) => {
    const secret = open(row);
    return secret === null ? err(secondFactorSealed()) : takeCode(tx, { row, secret, code, now, more });
  };

  return {
    canBeMade: vault !== null,
    make: async (tx, person, label, now) => {
      if (vault === null) return err(noVault());
      const secret = new Secret({ size: secretBytes });
      const data = {
        sealed: new Uint8Array(vault.seal(secret.base32, bindingOf(person))),
        madeAt: now,
        lastStep: 0,
        failures: 0,
        nextTryAt: null,
      };
      const key = { subjectKind: person.kind, subjectId: person.id };
      if ((await tx.secondFactor.count({ where: { ...key, setAt: { not: null } } })) > 0) return err(setAlready());
      await tx.secondFactor.upsert({
        where: { subjectKind_subjectId: key },
        create: { ...key, ...data },
        update: data,
      });
      const uri = new TOTP({ issuer, label, secret, period: periodS }).toString();
      return ok({ secret: secret.base32, uri });
    },
    confirm: async (tx, person, code, now) => {
      const row = await find(tx, person);
      if (row === null) return err(invalidTransition('No second factor was made. Make one first.'));
      if (row.setAt !== null) return err(setAlready());
      if (now.getTime() - row.madeAt.getTime() > confirmMs)
        return err(invalidTransition('This secret was made too long ago. Make another one.'));
      return take(tx, row, code, now, { setAt: now });
    },
    check: async (tx, person, code, now) => {
      const row = await find(tx, person);
      if (row === null || row.setAt === null) return ok(null);
      return code === null ? err(secondFactorNeeded()) : take(tx, row, code, now);
    },
    sealAgain: async (db) => {
      if (vault === null) return;
      for (const row of await db.secondFactor.findMany()) {
        const opened = openFactor(vault, row);
        if (opened === null || opened.isCurrent) continue;
        const sealed = new Uint8Array(vault.seal(opened.value, bindingOf(personOf(row))));
        // Unless it was made anew meanwhile.
        await db.secondFactor.updateMany({ where: { ...keyOf(row), sealed: row.sealed }, data: { sealed } });
      }
    },
  };
}

interface Taking {
  readonly row: FactorRow;
  readonly secret: Secret;
  readonly code: string;
  readonly now: Date;
  /** Is stored too if the code is right. */
  readonly more: { readonly setAt?: Date };
}

/** Takes the code if it is right and comes after the last one that was taken, else counts it. `tx` holds the person. */
async function takeCode(tx: Tx, { code, more, now, row, secret }: Taking): Promise<ChangeResult<null>> {
  if (row.failures >= pace.most) return err(secondFactorLocked());
  if (row.nextTryAt !== null && row.nextTryAt > now) return slowDown(row.nextTryAt.getTime() - now.getTime());
  const delta = new TOTP({ secret, period: periodS }).validate({ token: code, timestamp: now.getTime(), window });
  const step = delta === null ? null : Math.floor(now.getTime() / 1000 / periodS) + delta;
  const isRight = step !== null && step > row.lastStep;
  const failures = row.failures + 1;
  const nextTryAt = failures < pace.free ? null : new Date(now.getTime() + pace.waitMs);
  const data = isRight ? { ...more, lastStep: step, failures: 0, nextTryAt: null } : { failures, nextTryAt };
  await tx.secondFactor.update({ where: { subjectKind_subjectId: keyOf(row) }, data });
  return isRight ? ok(null) : err(secondFactorWrong());
}

/** Returns when the person's second factor was set; null if logins ask for none. */
export const secondFactorSetAt = async (db: Database | Tx, person: Person): Promise<Date | null> =>
  (await find(db, person))?.setAt ?? null;

/** Returns the ids of those people whose logins ask for a second factor. */
export async function withSecondFactor(
  db: Database,
  kind: Person['kind'],
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const where = { subjectKind: kind, subjectId: { in: [...ids] }, setAt: { not: null } };
  const rows = await db.secondFactor.findMany({ where, select: { subjectId: true } });
  return new Set(rows.map(({ subjectId }) => subjectId));
}

/** The field that lists of people show in addition. */
export const secondFactorField = {
  second_factor: z.boolean().describe('Whether a login with the credential asks for a code of a second factor'),
};

/** Returns whether there was one that logins asked for. */
export async function removeSecondFactor(tx: Tx, person: Person): Promise<boolean> {
  const where = { subjectKind: person.kind, subjectId: person.id };
  const setAt = await secondFactorSetAt(tx, person);
  await tx.secondFactor.deleteMany({ where });
  return setAt !== null;
}

type FactorRow = NonNullable<Awaited<ReturnType<Database['secondFactor']['findUnique']>>>;

const find = (db: Database | Tx, { kind, id }: Person): Promise<FactorRow | null> =>
  db.secondFactor.findUnique({ where: { subjectKind_subjectId: { subjectKind: kind, subjectId: id } } });

const keyOf = ({ subjectKind, subjectId }: FactorRow) => ({ subjectKind, subjectId });

const personOf = ({ subjectKind, subjectId }: FactorRow) => ({ kind: subjectKind, id: subjectId });

/** No credential of a provider has a name with a blank, so neither can stand for the other. */
const bindingOf = ({ kind, id }: { kind: string; id: string }) => ({ name: `second factor ${kind} ${id}`, origin: '' });

/** Null: it was sealed with a key that this control plane does not have, or for somebody else. */
export const openFactor = (vault: Vault | null, row: FactorRow): Opened | null =>
  vault?.open(row.sealed, bindingOf(personOf(row))) ?? null;

export const setAlready = () => invalidTransition('A second factor is set already. Remove it first.');

const noVault = () =>
  invalidTransition(
    'No second factor can be set here: GW_CREDENTIALS_KEY of the control plane, which encrypts its secret, is not set.',
  );
