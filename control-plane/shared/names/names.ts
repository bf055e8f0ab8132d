/**
 * Names at rest: what names a person or an account is stored, logged and hashed as a text that only their own key opens. Inside of the
 * program names travel so; they are opened where they leave it (`open-replies.ts`, `people/audit/read.ts`) and where what they say matters.
 *
 * Invariant: the keys of subjects are read anew each time and kept by nobody, so an erased name is gone everywhere with the commit.
 *
 * Open on reading: a name that cannot be opened reads `erased`, or `unreadable` if its key is there and does not fit. Closed on writing: over a
 * connection without the master key no name is written.
 */

import { hiddenMark } from '@gw/contract/hidden-mark';
import { hmacSha256 } from '@gw/contract/internal/hmac';
import type { KeyRing } from '@gw/contract/internal/key-ring';
import type { Database, Queryable } from '@gw/prisma/client';
import { makeKey, openName, sealName, unwrapKey, type WrappedKey, wrapKey } from './cipher.ts';

/** Whose name it is. */
export type Subject = `${'account' | 'operator' | 'organisation_admin'}:${string}`;

/** As an erased name reads. */
export const erased = 'erased';
const unreadable = 'unreadable';
const hiddenForm = /\{gw-name:([a-z_]+:[\w.-]{1,100}):([\w-]+)\}/g;
/** Not a person's: digests of e-mail addresses are made with it. */
const lookupSubject = 'lookup:email';

const property: unique symbol = Symbol('master key of names');

/** Gives the keys to a connection. Prisma shows its transactions the properties that it has. */
export function setNameKeys(db: Database, keys: KeyRing): void {
  Object.assign(db, { [property]: keys });
}

const keysOf = (db: Queryable & { readonly [property]?: KeyRing }): KeyRing | undefined => db[property];

/**
 * Names somebody by the id alone, where a hidden name stands before it in brackets: for what goes into receipts, which no erasure reaches, and
 * which no reply opens.
 */
export const byId = (text: string): string => text.replace(/\{gw-name:[^}]*\} \(([^()]*)\)/g, '$1');

export const isHidden = (text: string): boolean => text.includes(hiddenMark);

type StoredKey = Partial<{ readonly [Field in keyof WrappedKey]: WrappedKey[Field] | null }> & {
  readonly subject: string;
};

const readKeys = (db: Queryable, subjects: readonly string[]): Promise<StoredKey[]> => db.$queryRaw<StoredKey[]>`
  SELECT subject, wrapped, key_id FROM subject_keys WHERE subject = ANY (${[...subjects]}::text[])`;

const isWhole = (stored: StoredKey): stored is StoredKey & WrappedKey =>
  stored.wrapped != null && stored.key_id != null;

/** Returns the keys of subjects, which it makes for those that have none; null for those that are erased. */
async function holdKeys(tx: Queryable, subjects: readonly string[]): Promise<Map<string, Buffer | null>> {
  const ring = keysOf(tx);
  if (ring === undefined) throw new Error('A name was to be hidden over a connection without the keys.');
  let stored = await readKeys(tx, subjects);
  const missing = subjects.filter((subject) => !stored.some((row) => row.subject === subject));
  for (const subject of missing.sort()) {
    const { key_id, wrapped } = wrapKey(ring.current, subject, makeKey());
    await tx.$executeRaw`
      INSERT INTO subject_keys (subject, wrapped, key_id) VALUES (${subject}, ${wrapped}, ${key_id})
      ON CONFLICT (subject) DO NOTHING`;
  }
  if (missing.length > 0) stored = await readKeys(tx, subjects);
  return new Map(
    stored.map((row) => {
      if (!isWhole(row)) return [row.subject, null];
      const key = unwrapKey(ring, row.subject, row);
      if (key === null)
        throw new Error(
          `The key of ${row.subject} does not open: set GW_NAMES_KEY, or GW_NAMES_KEYS_PREVIOUS with the key number ${row.key_id}.`,
        );
      return [row.subject, key];
    }),
  );
}

/** Hides names of the subjects that were given to `openHider`. A hidden text stays as it is. */
export type Hider = (subject: Subject, text: string) => string;

/**
 * Returns what hides names of these subjects. Names of one who is erased become `erased`. Call it before `tx` locks what others lock after
 * the keys of subjects: a new key is held until `tx` ends.
 */
export async function openHider(tx: Queryable, subjects: readonly Subject[]): Promise<Hider> {
  const distinct = [...new Set(subjects)];
  const keys = distinct.length === 0 ? new Map<string, Buffer | null>() : await holdKeys(tx, distinct);
  return (subject, text) => {
    if (isHidden(text)) return text;
    const key = keys.get(subject);
    if (key === undefined) throw new Error(`The key of ${subject} was not asked for.`);
    return key === null ? erased : `${hiddenMark}${subject}:${sealName(key, subject, text)}}`;
  };
}

/** Returns a name as it is stored. */
export const hide = async (tx: Queryable, subject: Subject, text: string): Promise<string> =>
  (await openHider(tx, [subject]))(subject, text);

/** Opens the hidden names in a text. */
export type NameOpener = (text: string, spelled?: (name: string) => string) => string;

/** Returns what opens the hidden names of these texts, and of no others, which it leaves. */
export async function openNames(db: Queryable, texts: readonly string[]): Promise<NameOpener> {
  const subjects = new Set(
    texts.flatMap((text) => [...text.matchAll(hiddenForm)].map(([, subject]) => String(subject))),
  );
  if (subjects.size === 0) return (text) => text;
  const ring = keysOf(db);
  const stored = new Map((await readKeys(db, [...subjects])).map((row) => [row.subject, row]));
  const keys = new Map(
    [...stored].flatMap(([subject, row]) =>
      isWhole(row) ? [[subject, ring === undefined ? null : unwrapKey(ring, subject, row)] as const] : [],
    ),
  );
  const nameOf = (subject: string, text: string): string => {
    const key = keys.get(subject);
    if (key === undefined) return erased;
    return (key && openName(key, subject, text)) ?? unreadable;
  };
  return (text, spelled = (name) => name) =>
    text.replace(hiddenForm, (whole, subject: string, hidden: string) =>
      subjects.has(subject) ? spelled(nameOf(subject, hidden)) : whole,
    );
}

export const opened = async (db: Queryable, text: string): Promise<string> => (await openNames(db, [text]))(text);

/** Returns the keyed digest by which a person is found by their e-mail address. */
export async function emailDigest(db: Queryable, email: string): Promise<Uint8Array<ArrayBuffer>> {
  const key = (await holdKeys(db, [lookupSubject])).get(lookupSubject);
  if (key == null) throw new Error('There is no key for digests of e-mail addresses.');
  return new Uint8Array(hmacSha256(key, email));
}
