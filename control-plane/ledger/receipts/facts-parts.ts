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

/** A part as it came, and as a value that nobody may change: calls share it. */
interface KnownPart {
  readonly text: string;
  readonly value: unknown;
  readonly part: FactsPart;
}

/** Parts by their JSON text as it came: canonical forms take longer than everything else of a row. */
const known = new Map<string, KnownPart>();
/** The same by their beginnings, the newest first: so they are found in a text that is not parsed yet. */
const byBeginning = new Map<string, readonly KnownPart[]>();
/** The readings of a zone change by the hour, and entries of the catalogue hardly ever. */
const mostAlike = 4;
const knownChars = 4_000_000;
let heldChars = 0;

const beginningOf = (name: string, text: string, at: number): string =>
  `${name} ${text.slice(at, text.indexOf(',', at))}`;

function partOf(name: string, value: unknown): FactsPart {
  const text = JSON.stringify(value);
  const found = known.get(text);
  if (found !== undefined) return found.part;
  const content = canonicalText(JSON.parse(text));
  const part = { sha256: textDigest(content), content };
  heldChars += 2 * text.length;
  if (heldChars > knownChars) {
    known.clear();
    byBeginning.clear();
    heldChars = 2 * text.length;
  }
  const held = { text, value: JSON.parse(text), part };
  known.set(text, held);
  const beginning = beginningOf(name, text, 0);
  byBeginning.set(beginning, [held, ...(byBeginning.get(beginning) ?? [])].slice(0, mostAlike));
  return part;
}

/** Facts as they are stored: with the digests of their parts in the place of these. */
export interface SplitFacts {
  readonly stored: unknown;
  readonly parts: readonly FactsPart[];
}

/** Facts that were read from their text. `split`: null if that is still to be done (`splitFacts`), which fails for what has no canonical form. */
export interface ReadFacts {
  readonly whole: unknown;
  readonly split: SplitFacts | null;
}

/** Reads the facts of an entry. Parts that came before are neither parsed nor put into their canonical form again. */
export const readFacts = (text: string): ReadFacts => withKnownParts(text) ?? { whole: JSON.parse(text), split: null };

/** The order in which they stand in the facts of a sidecar. */
const inText = ['model', 'site', 'grid'] as const;

/** Null if the text has not just these parts, each once and at its place, as they are known. */
function withKnownParts(text: string): ReadFacts | null {
  let rest = '';
  let from = 0;
  const found: KnownPart[] = [];
  for (const name of inText) {
    const opening = `,"${name}":`;
    const at = text.indexOf(opening, from);
    if (at === -1) return null;
    const begins = at + opening.length;
    const part = byBeginning.get(beginningOf(name, text, begins))?.find((each) => text.startsWith(each.text, begins));
    if (part === undefined) return null;
    rest += `${text.slice(from, begins)}"${part.part.sha256}"`;
    from = begins + part.text.length;
    found.push(part);
  }
  rest += text.slice(from);
  const fields: unknown = JSON.parse(rest);
  if (!isFields(fields) || Object.hasOwn(fields, 'parts')) return null;
  const { grid, model, site, ...others } = fields;
  const [ofModel, ofSite, ofGrid] = found;
  const digests = { model: ofModel?.part.sha256, site: ofSite?.part.sha256, grid: ofGrid?.part.sha256 };
  // All that was cut out stood at the top, and nothing else has a digest.
  if (model !== digests.model || site !== digests.site || grid !== digests.grid) return null;
  for (const { part } of found) if (rest.indexOf(part.sha256) !== rest.lastIndexOf(part.sha256)) return null;
  return {
    whole: { ...fields, model: ofModel?.value, site: ofSite?.value, grid: ofGrid?.value },
    split: { stored: { ...others, parts: digests }, parts: found.map(({ part }) => part) },
  };
}

/** Takes the parts out of facts, and puts their digests in their place. */
export function splitFacts(facts: unknown): SplitFacts {
  if (!isFields(facts)) return { stored: facts, parts: [] };
  const named = apart.filter((name) => Object.hasOwn(facts, name) && (name === 'parts' || isFields(facts[name])));
  if (named.length === 0) return { stored: facts, parts: [] };
  const rest = Object.fromEntries(Object.entries(facts).filter(([name]) => !named.includes(name)));
  const parts = named.map((name) => partOf(name, facts[name]));
  const digests = Object.fromEntries(parts.map(({ sha256 }, at) => [named[at], sha256]));
  return { stored: { ...rest, parts: digests }, parts };
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
    const { parts: own, stored } = splitFacts(row.facts);
    for (const part of own) parts.set(part.sha256, part);
    return { ...row, facts: stored };
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
