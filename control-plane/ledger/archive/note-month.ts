/**
 * The note of a month whose files are written.
 *
 * Invariant: a month has one note, for ever: logs of accounts may tell of it by its digest. One that is stored and cannot be verified holds the month
 * up (closed), and no other takes its place.
 */
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import { signed } from '@gw/evidence/signature';
import type { Database, Queryable } from '@gw/prisma/client';
import type { ObjectStore } from '../../shared/objects/objects.ts';
import { listDigest, looseName } from '../receipts/archive-files.ts';
import { type ArchiveNote, firstOf, noteIn, sealedNote } from '../receipts/archive-notes.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import { ArchiveHeldUpError, type MonthOptions, storeObject } from './store-file.ts';
import { closeFiles } from './write-files.ts';

interface Noted {
  readonly month: string;
  /** As it is stored. */
  readonly note: unknown;
}

/** Returns the note of a try that has died; null: there is none yet. */
export async function storedNote(
  { db, seals }: { readonly db: Database; readonly seals: Seals },
  { month, note: stored }: Noted,
): Promise<ArchiveNote | null> {
  if (stored === null) return null;
  const note = noteIn(stored, month, seals);
  if (note === null)
    throw new ArchiveHeldUpError(
      'Its note is not sealed with a key that the control plane has: give it the key of that time in GW_LEDGER_KEYS_PREVIOUS, or restore receipt_archives from a backup.',
    );
  if (note.files_sha256 !== (await listDigest(db, month)))
    throw new ArchiveHeldUpError(
      'The list of its files is not the one that its note names: restore receipt_archive_files from a backup.',
    );
  return note;
}

export async function noteMonth(
  own: MonthOptions & { readonly db: Database; readonly now: () => Date; readonly seals: Seals },
  claim: { readonly claimed_until: Date },
  expectFree: (tx: Queryable) => Promise<void>,
): Promise<ArchiveNote> {
  const { db, goOn, month, now, seals } = own;
  const written = await closeFiles(own);
  const chain = await endOfChain(db);
  const note: ArchiveNote = { format: 'gw.archived/1', month, ...written, chain, at: now().toISOString() };
  await goOn();
  await db.$transaction(async (tx) => {
    await expectFree(tx);
    const noted = await tx.$executeRaw`
      UPDATE receipt_archives SET note = ${JSON.stringify(sealedNote(note, seals))}::json
      WHERE month = ${firstOf(month)}::date AND state = 'frozen' AND note IS NULL AND claimed_until = ${claim.claimed_until}`;
    if (noted === 0) throw new ArchiveHeldUpError('Another instance has taken the month over, or it was given up.');
  });
  return note;
}

/** Stores the note beside the files, for those who have them alone. The same note gives the same bytes. */
export async function publishNote(
  { key, objects }: { readonly key: SigningKey; readonly objects: ObjectStore },
  note: ArchiveNote,
): Promise<void> {
  const stated = Buffer.from(JSON.stringify({ ...note, signature: await signed(note, key) }));
  await storeObject(objects, looseName(note.month, 'note.json'), stated);
}

async function endOfChain(db: Queryable): Promise<ArchiveNote['chain']> {
  const [last] = await db.$queryRaw<ArchiveNote['chain'][]>`
    SELECT number::float8 AS number, encode(head, 'hex') AS head FROM receipt_batches WHERE number IS NOT NULL ORDER BY number DESC LIMIT 1`;
  return last ?? { number: 0, head: '0'.repeat(64) };
}
