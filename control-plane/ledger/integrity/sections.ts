/**
 * Sections: runs of receipts of a day that is over, in the order of their ids, whose contents were checked one by one. From then on a round compares
 * one digest for each section, which Postgres makes of all that it has stored of the rows, in place of decompressing and hashing each row here.
 *
 * Invariant: a section vouches only for what was checked. Each row's digest is read in the same statement as the row, so nothing can be altered between
 * the check and the digest. A section says nothing by itself: if its seal is not ours, or the digest is another one, its rows are read anew, and are
 * named if something is wrong with them. Deleting sections, or putting earlier ones back, only has rows read again, or leaves what is gone to the batches.
 */
import { createHash, type Hash } from 'node:crypto';
import { dayMs } from '@gw/contract/internal/durations';
import { type Database, Prisma } from '@gw/prisma/client';
import { dictionaryOf } from '../receipts/compressed-rows.ts';
import { partsNamed } from '../receipts/facts-parts.ts';
import { timeOfReceipt } from '../receipts/receipt-id.ts';
import { type LedgerRow, parsedColumn } from '../receipts/seal.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import type { RoundPlace } from './rounds.ts';

/** Versions behind `after`, up to `to`. */
interface Section {
  readonly after: RoundPlace;
  readonly to: RoundPlace;
  readonly day: string;
  readonly rows: number;
  /** SHA-256 over the digests of the rows, one behind the other. */
  readonly digest: string;
  /** The digests of the parts of facts that the rows name. */
  readonly parts: readonly string[];
  /** The digests of the dictionaries, apart from the parts: neither stands in for the other. */
  readonly dictionaries: readonly string[];
}

export interface StoredSection extends Section {
  readonly seal: string;
  readonly id: number;
}

export interface DigestedRow extends LedgerRow {
  readonly row_digest: Buffer;
}

interface SectionStores {
  readonly db: Database;
  readonly seals: Seals;
}

/** A first version may be settled for a week. Rows that change later have their section read anew. */
const settledMs = 8 * dayMs;
/** Postgres takes a fraction of a second for a section, and a row of sections is small beside those of its receipts. */
const mostRows = 50_000;
const mostParts = 5000;

/** Everything that is stored of a row, as Postgres sends it in binary form, which no setting changes. */
export const rowDigest = Prisma.sql`sha256(record_send(ROW(r.id, r.version, r.created_at, r.account_id, r.key_id, r.endpoint, r.model, r.region, r.tier,
  r.status, r.prompt_tokens, r.completion_tokens, r.energy_wh, r.carbon_g, r.body, r.routing_trace, r.facts, r.content_sha256, r.seal, r.seal_key,
  r.shown, r.compressed, r.arrived)))`;

const textOf = ({ after, day, dictionaries, digest, parts, rows, to }: Section): string =>
  JSON.stringify([day, after.id, after.version, to.id, to.version, rows, digest, parts, dictionaries]);

/** The first section that begins at a place or behind it. */
export async function nextSection(db: Database, { id, version }: RoundPlace): Promise<StoredSection | null> {
  const [found] = await db.$queryRaw<
    (Omit<StoredSection, 'after' | 'to'> & {
      after_id: string;
      after_version: number;
      to_id: string;
      to_version: number;
    })[]
  >`
    SELECT after_id, after_version, to_id, to_version, day, rows, digest, parts, dictionaries, seal, seal_key AS id FROM receipt_sections
    WHERE (after_id, after_version) >= (${id}, ${version}) AND (to_id, to_version) > (after_id, after_version)
    ORDER BY after_id, after_version LIMIT 1`;
  if (found === undefined) return null;
  const { after_id, after_version, to_id, to_version, ...section } = found;
  return { ...section, after: { id: after_id, version: after_version }, to: { id: to_id, version: to_version } };
}

/** Whether a section is ours, and Postgres still has all of its rows, no others, and all that they name, as they were when they were checked. */
export async function isUnchanged({ db, seals }: SectionStores, section: StoredSection): Promise<boolean> {
  if (seals.textFault('gw.section', textOf(section), section) !== null) return false;
  const [found] = await db.$queryRaw<SectionState[]>(stateOf(section));
  return (
    found?.rows === section.rows &&
    found.digest === section.digest &&
    found.parts === section.parts.length &&
    found.dictionaries === section.dictionaries.length
  );
}

interface SectionState extends Pick<Section, 'digest' | 'rows'> {
  readonly parts: number;
  readonly dictionaries: number;
}

/** Reads what Postgres has of a section, and how many of the texts that it names; -1: one of them is altered. */
export const stateOf = ({ after, dictionaries, parts, to }: Section): Prisma.Sql => Prisma.sql`
  SELECT count(*)::int AS rows, encode(sha256(coalesce(string_agg(${rowDigest}, ''::bytea ORDER BY r.id, r.version, r.created_at), '')), 'hex') AS digest,
    ${soundAmong(Prisma.sql`facts_parts`, parts)} AS parts, ${soundAmong(Prisma.sql`receipt_dictionaries`, dictionaries)} AS dictionaries
  FROM receipts r WHERE (r.id, r.version) > (${after.id}, ${after.version}) AND (r.id, r.version) <= (${to.id}, ${to.version})`;

/** As `bpchar`, like the column: as `text` they would be looked for without its index, each in the whole table. */
const soundAmong = (table: Prisma.Sql, digests: readonly string[]): Prisma.Sql => Prisma.sql`(
  SELECT CASE WHEN coalesce(bool_and(encode(sha256(convert_to(content::text, 'UTF8')), 'hex') = sha256), TRUE)
    THEN count(DISTINCT sha256)::int ELSE -1 END
  FROM ${table} WHERE sha256 = ANY (${digests}::bpchar[]))`;

/** The day (UTC) of a receipt that may be in a section; null: it is not over for long enough, or what is there has no time. */
export function sealableDay({ id }: Pick<LedgerRow, 'id'>, now: number): string | null {
  const at = timeOfReceipt(id);
  return at === null || (Math.floor(+at / dayMs) + 1) * dayMs + settledMs > now ? null : at.toISOString().slice(0, 10);
}

interface OpenSection {
  readonly after: RoundPlace;
  readonly hash: Hash;
  readonly parts: Set<string>;
  readonly dictionaries: Set<string>;
  to: RoundPlace;
  day: string | null;
  rows: number;
}

/** Puts the pages of a round together to sections, and seals them. */
export class SectionMaker {
  readonly #stores: SectionStores;
  #open: OpenSection | null = null;

  constructor(stores: SectionStores) {
    this.#stores = stores;
  }

  /** Adds a page without faults; its rows are of one day that is over for long enough. */
  async add(after: RoundPlace, to: RoundPlace, rows: readonly DigestedRow[]): Promise<void> {
    const [first] = rows;
    const day = first === undefined ? null : sealableDay(first, Date.now());
    const before = this.#open;
    if (before !== null && (isFull(before) || (before.day ?? day) !== (day ?? before.day))) await this.end();
    this.#open ??= { after, to, hash: createHash('sha256'), parts: new Set(), dictionaries: new Set(), day, rows: 0 };
    const open = this.#open;
    for (const row of rows) {
      open.hash.update(row.row_digest);
      const dictionary = row.compressed === null ? null : dictionaryOf(row.compressed);
      if (dictionary !== null) open.dictionaries.add(dictionary);
      for (const [, sha256] of partsNamed(parsedColumn(row.facts))) open.parts.add(sha256);
    }
    open.day ??= day;
    open.rows += rows.length;
    open.to = to;
  }

  /** Seals what has come since the last section, in place of the sections that were there. */
  async end(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    if (open === null) return;
    const { after, hash, day, rows, to } = open;
    const { db, seals } = this.#stores;
    const gone = db.$executeRaw`
      DELETE FROM receipt_sections WHERE (after_id, after_version) >= (${after.id}, ${after.version})
        AND (after_id, after_version) < (${to.id}, ${to.version})`;
    if (day === null) {
      await gone;
      return;
    }
    const [parts, dictionaries] = [[...open.parts].sort(), [...open.dictionaries].sort()];
    const section = { after, to, day, rows, digest: hash.digest('hex'), parts, dictionaries };
    const { id, seal } = seals.sealText('gw.section', textOf(section));
    await db.$transaction([
      gone,
      db.$executeRaw`
        INSERT INTO receipt_sections (after_id, after_version, to_id, to_version, day, rows, digest, parts, dictionaries, seal, seal_key)
        VALUES (${after.id}, ${after.version}, ${to.id}, ${to.version}, ${day}, ${rows}, ${section.digest}, ${parts}, ${dictionaries}, ${seal}, ${id})`,
    ]);
  }
}

const isFull = ({ parts, rows }: OpenSection): boolean => rows >= mostRows || parts.size >= mostParts;
