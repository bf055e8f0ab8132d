/** People as they are stored: name and e-mail are hidden, and the e-mail is found by its digest. */
import type { Queryable } from '@gw/prisma/client';
import { emailDigest, openHider, type Subject } from '../../shared/names/names.ts';

/** Returns the person with name and e-mail hidden, as far as they are there. */
export async function hidePerson<T extends { readonly name?: string; readonly email?: string }>(
  tx: Queryable,
  subject: Subject,
  person: T,
): Promise<T> {
  const hide = await openHider(tx, [subject]);
  const { email, name } = person;
  return {
    ...person,
    ...(name !== undefined && { name: hide(subject, name) }),
    ...(email !== undefined && { email: hide(subject, email) }),
  };
}

/** As a person types it at the login. */
export const emailDigestOf = (db: Queryable, email: string) => emailDigest(db, email.toLowerCase());
