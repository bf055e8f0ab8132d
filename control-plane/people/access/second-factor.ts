/**
 * The second factor of people who log in with a credential: codes that change with time (TOTP, RFC 6238: SHA-1, 6 digits,
 * 30 s), as every authenticator makes them.
 *
 * Invariant: a code is taken once, by one login, and no code before it afterwards (RFC 6238, 5.2). The secret is sealed for its
 * person, so that a row that is copied to another person opens nothing. Fail-closed: what cannot be opened lets nobody in.
 */
import { err, ok } from '@gw/contract/internal/result';
import type { Database, Prisma } from '@gw/prisma/client';
import { Secret, TOTP } from 'otpauth';
import type { Vault } from '../../shared/vault.ts';
import {
  type ChangeResult,
  invalidTransition,
  secondFactorNeeded,
  secondFactorSealed,
  secondFactorWrong,
} from './refusals.ts';
import type { Person } from './sessions.ts';

type Tx = Prisma.TransactionClient;

const periodS = 30;
const secretBytes = 20;
/** Steps of time before and after the own clock whose codes are taken too: the network delay of RFC 6238, 5.2. */
const window = 1;

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
  /** From now on logins ask for codes. */
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
  const open = (row: Row): Secret | null => {
    const opened = vault?.open(row.sealed, bindingOf(personOf(row))) ?? null;
    return opened && Secret.fromBase32(opened.value);
  };
  /** Takes the code if it is right and comes after the last one that was taken. */
  const take = async (tx: Tx, row: Row, code: string, now: Date, more: { setAt?: Date } = {}) => {
    const secret = open(row);
    if (secret === null) return err(secondFactorSealed());
    const delta = new TOTP({ secret, period: periodS }).validate({ token: code, timestamp: now.getTime(), window });
    if (delta === null) return err(secondFactorWrong());
    const step = Math.floor(now.getTime() / 1000 / periodS) + delta;
    // Two logins at once with one code: the second one finds its step taken.
    const where = { ...keyOf(row), madeAt: row.madeAt, lastStep: { lt: step } };
    const { count } = await tx.secondFactor.updateMany({ where, data: { ...more, lastStep: step } });
    return count === 1 ? ok(null) : err(secondFactorWrong());
  };

  return {
    canBeMade: vault !== null,
    make: async (tx, person, label, now) => {
      if (vault === null) return err(noVault());
      const secret = new Secret({ size: secretBytes });
      const data = {
        sealed: new Uint8Array(vault.seal(secret.base32, bindingOf(person))),
        madeAt: now,
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
      return row.setAt === null ? take(tx, row, code, now, { setAt: now }) : err(setAlready());
    },
    check: async (tx, person, code, now) => {
      const row = await find(tx, person);
      if (row === null || row.setAt === null) return ok(null);
      return code === null ? err(secondFactorNeeded()) : take(tx, row, code, now);
    },
    sealAgain: async (db) => {
      if (vault === null) return;
      for (const row of await db.secondFactor.findMany()) {
        const binding = bindingOf(personOf(row));
        const opened = vault.open(row.sealed, binding);
        if (opened === null || opened.isCurrent) continue;
        const sealed = new Uint8Array(vault.seal(opened.value, binding));
        // Unless it was made anew meanwhile.
        await db.secondFactor.updateMany({ where: { ...keyOf(row), sealed: row.sealed }, data: { sealed } });
      }
    },
  };
}

/** Returns when the person's second factor was set; null if logins ask for none. */
export const secondFactorSetAt = async (db: Database | Tx, person: Person): Promise<Date | null> =>
  (await find(db, person))?.setAt ?? null;

/** Returns whether there was one that logins asked for. */
export async function removeSecondFactor(tx: Tx, person: Person): Promise<boolean> {
  const where = { subjectKind: person.kind, subjectId: person.id };
  const setAt = await secondFactorSetAt(tx, person);
  await tx.secondFactor.deleteMany({ where });
  return setAt !== null;
}

type Row = NonNullable<Awaited<ReturnType<Database['secondFactor']['findUnique']>>>;

const find = (db: Database | Tx, { kind, id }: Person): Promise<Row | null> =>
  db.secondFactor.findUnique({ where: { subjectKind_subjectId: { subjectKind: kind, subjectId: id } } });

const keyOf = ({ subjectKind, subjectId }: Row) => ({ subjectKind, subjectId });

const personOf = ({ subjectKind, subjectId }: Row) => ({ kind: subjectKind, id: subjectId });

/** No credential of a provider has a name with a blank, so neither can stand for the other. */
const bindingOf = ({ kind, id }: { kind: string; id: string }) => ({ name: `second factor ${kind} ${id}`, origin: '' });

const setAlready = () => invalidTransition('A second factor is set already. Remove it first.');

const noVault = () =>
  invalidTransition(
    'No second factor can be set here: GW_CREDENTIALS_KEY of the control plane, which encrypts its secret, is not set.',
  );
