/**
 * The facts of stored receipts, put together from their parts: the only way in which anybody reads them.
 *
 * Invariant: facts are given whole or not at all. A part whose content does not give its digest, or that is gone, is
 * reported by that digest, and no lineage and no version is made of any receipt that names it (closed). The receipts
 * themselves stay good: they are in their rows, under their seals.
 */
import { textDigest } from '@gw/contract/internal/ledger-entry';
import type { Queryable } from '@gw/prisma/client';
import { joinFacts, partsNamed } from './facts-parts.ts';
import type { StoredFacts } from './revision.ts';
import type { LedgerRow } from './seal.ts';
import { genuine, type Seals } from './sealed-rows.ts';

export type PartFault = 'facts altered' | 'facts missing';

/** The facts of a row, whole; null if it has none. */
export type WholeFacts = { readonly facts: StoredFacts | null } | { readonly fault: PartFault };

interface Stores {
  readonly db: Queryable;
  readonly seals: Pick<Seals, 'report'>;
}

/** Returns the facts of rows that are genuine, in their order, and reports the parts that are not. */
export async function wholeFacts(
  { db, seals }: Stores,
  rows: readonly Pick<LedgerRow, 'facts'>[],
): Promise<WholeFacts[]> {
  const stored = rows.map(({ facts }): unknown => (facts === null ? null : JSON.parse(facts)));
  const digests = new Set(stored.flatMap(digestsOf));
  const { contents, faults } = await readParts(db, [...digests]);
  if (faults.size > 0)
    await seals.report([...faults].map(([id, fault]) => ({ id, version: 0, fault: fault.replace('facts ', '') })));
  return stored.map((facts) => {
    const fault = digestsOf(facts).flatMap((digest) => faults.get(digest) ?? [])[0];
    return fault === undefined ? { facts: joinFacts(facts, contents) as StoredFacts | null } : { fault };
  });
}

const digestsOf = (facts: unknown): string[] => partsNamed(facts).map(([, sha256]) => sha256);
const digestForm = /^[0-9a-f]{64}$/;

interface ReadParts {
  readonly contents: ReadonlyMap<string, unknown>;
  readonly faults: ReadonlyMap<string, PartFault>;
}

async function readParts(db: Queryable, digests: readonly string[]): Promise<ReadParts> {
  const contents = new Map<string, unknown>();
  const faults = new Map<string, PartFault>();
  if (digests.length === 0) return { contents, faults };
  const found = await db.$queryRaw<{ sha256: string; content: string }[]>`
    SELECT sha256, content::text AS content FROM facts_parts
    WHERE sha256 = ANY (${digests.filter((digest) => digestForm.test(digest))})`;
  const texts = new Map(found.map(({ content, sha256 }) => [sha256, content]));
  for (const digest of digests) {
    const text = texts.get(digest);
    if (text === undefined) faults.set(digest, 'facts missing');
    else if (textDigest(text) !== digest) faults.set(digest, 'facts altered');
    else contents.set(digest, JSON.parse(text));
  }
  return { contents, faults };
}

/** A row with its facts whole. */
export type WholeRow<T> = Omit<T, 'facts'> & { readonly facts: StoredFacts | null };

/** Returns the rows that are genuine, with their facts whole, and reports what is not. For jobs that make versions. */
export async function genuineWhole<T extends LedgerRow>(
  stores: { readonly db: Queryable; readonly seals: Seals },
  rows: readonly T[],
): Promise<WholeRow<T>[]> {
  const checked = await genuine(stores.seals, rows);
  const whole = await wholeFacts(stores, checked);
  return checked.flatMap((row, at) => {
    const read = whole[at];
    return read === undefined || 'fault' in read ? [] : { ...row, facts: read.facts };
  });
}
