/**
 * The parts of the facts that many receipts share: the model, the deployment, the grid reading. Each is stored once, under
 * the SHA-256 of its canonical form, and the row of a receipt names it by that.
 *
 * Invariant: facts that are split and put together again are the same JSON value, whatever they are. A part is never
 * changed or taken out, and is in Postgres no later than the first row that names it. So the seal on a row is on its parts
 * too. `facts_part` of the database finds a single part, for conditions of queries alone.
 */
import { canonicalText, textDigest } from '@gw/contract/internal/ledger-entry';
import { Prisma } from '@gw/prisma/client';

/** A part in its canonical form, which gives its digest. */
export interface FactsPart {
  readonly sha256: string;
  readonly content: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Names of the facts that are stored apart. The last is only there so that nothing but a split has that name. */
const apart: readonly string[] = ['model', 'site', 'grid', 'parts'];

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parts by their JSON text as it came: canonical forms take longer than everything else of a row. */
const known = new Map<string, FactsPart>();
const knownChars = 4_000_000;
let heldChars = 0;

function partOf(value: unknown): FactsPart {
  const text = JSON.stringify(value);
  const found = known.get(text);
  if (found !== undefined) return found;
  const content = canonicalText(JSON.parse(text));
  const part = { sha256: textDigest(content), content };
  heldChars += 2 * text.length;
  if (heldChars > knownChars) {
    known.clear();
    heldChars = 2 * text.length;
  }
  known.set(text, part);
  return part;
}

/** Rows as they are stored, and the parts that they name. */
export interface SplitRows<T> {
  readonly rows: readonly T[];
  readonly parts: readonly FactsPart[];
}

/** Takes the parts out of the facts of rows, and puts their digests in their place. */
export function splitRows<T extends { readonly facts: unknown }>(whole: readonly T[]): SplitRows<T> {
  const parts = new Map<string, FactsPart>();
  const rows = whole.map((row) => {
    const { facts } = row;
    if (!isFields(facts)) return row;
    const named = apart.filter((name) => Object.hasOwn(facts, name) && (name === 'parts' || isFields(facts[name])));
    if (named.length === 0) return row;
    const rest = Object.fromEntries(Object.entries(facts).filter(([name]) => !named.includes(name)));
    const digests = named.map((name) => {
      const part = partOf(facts[name]);
      parts.set(part.sha256, part);
      return [name, part.sha256] as const;
    });
    return { ...row, facts: { ...rest, parts: Object.fromEntries(digests) } };
  });
  return { rows, parts: [...parts.values()] };
}

/** Names and digests of the parts of stored facts; none if these are whole. */
export function partsNamed(stored: unknown): readonly (readonly [name: string, sha256: string])[] {
  if (!isFields(stored) || !isFields(stored.parts)) return [];
  return Object.entries(stored.parts).map(([name, sha256]) => [name, String(sha256)]);
}

/** Puts stored facts together again. `contents` has a value for the digest of each part. */
export function joinFacts(stored: unknown, contents: ReadonlyMap<string, unknown>): unknown {
  const named = partsNamed(stored);
  if (named.length === 0 || !isFields(stored)) return stored;
  const { parts: _, ...rest } = stored;
  return { ...rest, ...Object.fromEntries(named.map(([name, sha256]) => [name, contents.get(sha256)])) };
}

/**
 * The statement that stores parts; those that are there stay. In one order, so that two instances never wait in a ring. `parts` is how
 * the statement names them: as JSON.
 */
export const storingTexts = (parts: string): string => `
    INSERT INTO facts_parts (sha256, content)
    SELECT p.sha256, p.content::json
    FROM json_to_recordset(${parts}::json) AS p (sha256 text, content text) ORDER BY p.sha256
    ON CONFLICT (sha256) DO NOTHING`;

const [beforeParts = '', behindParts = ''] = storingTexts('|').split('|');

/** The same statement for Prisma. */
export const storingOf = (parts: readonly FactsPart[]): Prisma.Sql =>
  Prisma.sql([beforeParts, behindParts], JSON.stringify(parts));
