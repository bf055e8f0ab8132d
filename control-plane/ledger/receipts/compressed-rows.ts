/**
 * Rows of the ledger in a form that takes a third of the room (docs/decisions/0053-rows-are-compressed.md): receipt, routing trace and facts are
 * compressed together by raw deflate (RFC 1951), with the texts of another call as its dictionary.
 *
 * Invariants: decompression gives the same bytes again. What SQL reads of the three stays as JSON in their columns, and is checked against
 * them. A dictionary is never changed or taken out, and is in Postgres no later than the first row that was compressed with it.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { textDigest } from '@gw/contract/internal/ledger-entry';
import type { Queryable } from '@gw/prisma/client';
import type { ReceiptRow, Texts } from './entry-row.ts';
import { parsedColumn } from './seal.ts';
import { namesInBody } from './summed-names.ts';

/** A text that rows of one shape are compressed with. */
export interface Dictionary {
  readonly sha256: string;
  readonly shape: string;
  readonly content: string;
}

/** The columns of a compressed row, and the dictionary that it was compressed with. */
export interface Compressed {
  readonly columns: Texts;
  /** The digest of the dictionary, 32 bytes, and behind it what was compressed. */
  readonly compressed: Buffer;
  readonly dictionary: Dictionary;
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The fields of a receipt that SQL reads in addition to its own columns (compressed-rows.test.ts looks for more). */
const readOfBody: readonly string[] = [...namesInBody, 'grid_zone'];

function only(value: unknown, names: readonly string[]): Fields {
  const found: Record<string, unknown> = {};
  if (isFields(value)) for (const name of names) if (value[name] != null) found[name] = value[name];
  return found;
}

/** Returns what SQL reads of the three columns, which is all that a compressed row has in them. The facts are in parts. */
export function columnsOf({ body, facts, routing_trace }: Pick<ReceiptRow, 'body' | 'routing_trace' | 'facts'>): Texts {
  const { parts, telemetryFollows, usage } = isFields(facts) ? facts : ({} as Fields);
  const follows = telemetryFollows === true;
  const named = only(parts, follows ? ['site', 'grid'] : ['grid']);
  const saved = only(routing_trace, ['estimated_saving_g']);
  return {
    body: JSON.stringify(only(body, readOfBody)),
    routing_trace: Object.keys(saved).length === 0 ? null : JSON.stringify(saved),
    // SQL only asks whether there is any.
    facts: JSON.stringify({
      ...(usage == null ? {} : { usage: {} }),
      ...(follows ? { telemetryFollows } : {}),
      ...(Object.keys(named).length === 0 ? {} : { parts: named }),
    }),
  };
}

/**
 * Whether a row is compressed at all. A row that may still get facts, a trace, or another receipt in place of a stand-in is not. Neither is one
 * whose facts are not in parts, since triggers read them.
 */
const isCompressible = ({ routing_trace, shown, tier }: ReceiptRow, facts: unknown): boolean =>
  !shown && tier !== 'degraded' && routing_trace !== null && isFields(facts) && isFields(facts.parts);

const joined = ({ body, facts, routing_trace }: Texts): string => `${body}\n${routing_trace ?? ''}\n${facts ?? ''}`;

/** Smaller tables and pieces than by default are made faster, and a row is no larger for it. */
const deflating = { level: 6, memLevel: 6, chunkSize: 2048 } as const;
/** Larger texts, which no row of ours has, are stored as they are, since deflate looks back no further. */
const mostChars = 32_000;
const digestBytes = 32;

interface HeldDictionary extends Dictionary {
  readonly bytes: Buffer;
  readonly digest: Buffer;
}

const held = (dictionary: Dictionary): HeldDictionary => ({
  ...dictionary,
  bytes: Buffer.from(dictionary.content),
  digest: Buffer.from(dictionary.sha256, 'hex'),
});

const isGenuine = ({ content, sha256 }: Pick<Dictionary, 'content' | 'sha256'>): boolean =>
  textDigest(content) === sha256;

/** Further shapes share the dictionary that was made last. */
const mostShapes = 500;

/** Compresses rows by the dictionaries of their shapes. The first row of a shape becomes its dictionary. */
export class Compressor {
  readonly #byShape = new Map<string, HeldDictionary>();
  #last: HeldDictionary | null = null;
  #learning: Promise<void> | null = null;

  /** Takes up what other instances have made in the last month, once; older ones no longer look like today's rows. Rejects if Postgres is away. */
  learn(db: Queryable): Promise<void> {
    this.#learning ??= this.#learn(db).catch((error: unknown) => {
      this.#learning = null;
      throw error;
    });
    return this.#learning;
  }

  async #learn(db: Queryable): Promise<void> {
    const found = await db.$queryRaw<Dictionary[]>`
      SELECT sha256, shape, content FROM (
        SELECT DISTINCT ON (shape) * FROM receipt_dictionaries
        WHERE first_seen_at > CURRENT_TIMESTAMP - INTERVAL '30 days' ORDER BY shape, first_seen_at DESC) newest
      ORDER BY first_seen_at DESC LIMIT ${mostShapes}`;
    // The newest comes last, as if they were made here.
    for (const dictionary of found.toReversed()) if (isGenuine(dictionary)) this.#add(held(dictionary));
  }

  /**
   * Stores dictionaries before the rows that were compressed with them; those that are there stay. It rejects if one that is there is not what it was,
   * and forgets it: rows that are made again have another one.
   */
  async store(db: Queryable, used: readonly Dictionary[]): Promise<void> {
    if (used.length === 0) return;
    const rows = used.map(({ content, sha256, shape }) => ({ content, sha256, shape }));
    // They are stored in one order, so that two instances never deadlock.
    await db.$executeRaw`
      INSERT INTO receipt_dictionaries (sha256, shape, content)
      SELECT d.sha256, d.shape, d.content
      FROM json_to_recordset(${JSON.stringify(rows)}::json) AS d (sha256 text, shape text, content text) ORDER BY d.sha256
      ON CONFLICT (sha256) DO NOTHING`;
    const altered = await db.$queryRaw<{ sha256: string }[]>`
      SELECT sha256 FROM receipt_dictionaries WHERE sha256 = ANY (${rows.map(({ sha256 }) => sha256)})
        AND encode(sha256(convert_to(content, 'UTF8')), 'hex') <> sha256`;
    if (altered.length === 0) return;
    const names = altered.map(({ sha256 }) => sha256);
    for (const [shape, { sha256 }] of this.#byShape) if (names.includes(sha256)) this.#byShape.delete(shape);
    if (this.#last !== null && names.includes(this.#last.sha256)) this.#last = null;
    throw new Error(`Dictionaries of receipts were altered in storage: ${names.join()}`);
  }

  /** Returns null for a row that is stored as it is. `facts`: in parts. */
  compress(row: ReceiptRow, texts: Texts, facts: unknown = row.facts): Compressed | null {
    const text = joined(texts);
    // Postgres refuses such a text, and has to see it for that.
    if (!isCompressible(row, facts) || text.length > mostChars || text.includes('\\u0000')) return null;
    // White space that no sidecar writes.
    if (texts.body.includes('\n') || texts.routing_trace?.includes('\n')) return null;
    const dictionary = this.#dictionaryOf(row, texts);
    const deflated = deflateRawSync(text, { ...deflating, dictionary: dictionary.bytes });
    const { body, routing_trace } = row;
    return {
      columns: columnsOf({ body, routing_trace, facts }),
      compressed: Buffer.concat([dictionary.digest, deflated]),
      dictionary,
    };
  }

  #dictionaryOf(row: ReceiptRow, texts: Texts): HeldDictionary {
    const shape = shapeOf(row);
    const found = this.#byShape.get(shape) ?? (this.#byShape.size < mostShapes ? null : this.#last);
    if (found !== null) return found;
    // The one word of a client that a receipt has.
    const content = joined({ ...texts, body: JSON.stringify({ ...(row.body as Fields), project: null }) });
    return this.#add(held({ shape, content, sha256: textDigest(content) }));
  }

  #add(dictionary: HeldDictionary): HeldDictionary {
    this.#byShape.set(dictionary.shape, dictionary);
    this.#last = dictionary;
    return dictionary;
  }
}

/** Names the properties that most of the text of a row follows from. */
function shapeOf({ body, endpoint, model, region, routing_trace, status, tier }: ReceiptRow): string {
  const { grid_intensity_source, methodology } = isFields(body) ? body : ({} as Fields);
  const reason = isFields(routing_trace) ? routing_trace.fallback_reason : null;
  return JSON.stringify([endpoint, model, region, tier, status, methodology, grid_intensity_source, reason]);
}

/** The digest of the dictionary of a compressed row, in hexadecimal; null if the bytes can be none. */
export const dictionaryOf = (compressed: Uint8Array): string | null =>
  compressed.length > digestBytes ? Buffer.from(compressed.subarray(0, digestBytes)).toString('hex') : null;

/** As it was stored. */
export interface StoredTexts extends Texts {
  /** True: the client was shown this receipt, so `body` is the receipt, whatever is compressed. */
  readonly shown: boolean;
  readonly compressed: Uint8Array | null;
}

/** Returns what was compressed; null if it cannot be read, or the columns do not say the same. */
export function uncompressed(row: StoredTexts & { readonly compressed: Uint8Array }, dictionary: Buffer): Texts | null {
  try {
    const bytes = row.compressed.subarray(digestBytes);
    const inflated = inflateRawSync(bytes, { dictionary, maxOutputLength: 3 * mostChars, info: true });
    const { buffer, engine } = inflated as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
    if (engine.bytesWritten !== bytes.length) return null;
    const [body = '', ...others] = buffer.toString().split('\n');
    const [routing_trace = null, facts = null, ...more] = others.map((text) => text || null);
    if (more.length > 0) return null;
    const value = { body: JSON.parse(body), routing_trace: parsedColumn(routing_trace), facts: parsedColumn(facts) };
    const columns = columnsOf(value);
    const isSame = columns.routing_trace === row.routing_trace && columns.facts === row.facts;
    if (!isSame || (!row.shown && columns.body !== row.body)) return null;
    return { body: row.shown ? row.body : body, routing_trace, facts };
  } catch {
    return null;
  }
}
