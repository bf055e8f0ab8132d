/** Wraps the keys of subjects with the current master key, so that the one before can be forgotten. */
import type { KeyRing } from '@gw/contract/internal/key-ring';
import type { Queryable } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import { unwrapKey, type WrappedKey, wrapKey } from './cipher.ts';

const keysAtOnce = 500;

/** Several instances can do this at once, and one that is killed leaves no key that does not open. Returns how many were wrapped. */
export async function wrapAgain(db: Queryable, ring: KeyRing, log: Pick<Logger, 'error'>): Promise<number> {
  let wrapped = 0;
  for (let after = ''; ; ) {
    const rows = await db.$queryRaw<(WrappedKey & { subject: string })[]>`
      SELECT subject, wrapped, key_id FROM subject_keys
      WHERE erased_at IS NULL AND key_id <> ${ring.current.id} AND subject > ${after} ORDER BY subject LIMIT ${keysAtOnce}`;
    for (const row of rows) wrapped += await wrapOne(db, ring, row, log);
    const last = rows.at(-1);
    if (last === undefined || rows.length < keysAtOnce) return wrapped;
    after = last.subject;
  }
}

async function wrapOne(
  db: Queryable,
  ring: KeyRing,
  row: WrappedKey & { readonly subject: string },
  log: Pick<Logger, 'error'>,
): Promise<number> {
  const { key_id: before, subject } = row;
  const key = unwrapKey(ring, subject, row);
  if (key === null) {
    log.error(
      { subject, key: before },
      'the key of a subject does not open: GW_NAMES_KEYS_PREVIOUS lacks its master key',
    );
    return 0;
  }
  const { key_id, wrapped } = wrapKey(ring.current, subject, key);
  // It may have been erased since.
  return db.$executeRaw`
    UPDATE subject_keys SET wrapped = ${wrapped}, key_id = ${key_id}
    WHERE subject = ${subject} AND key_id = ${before} AND erased_at IS NULL`;
}
