/**
 * Models whose size somebody has published or estimated: `data/model-cards.json` from the cards of their makers, and
 * `data/ecologits-models.json` from EcoLogits. Where both have a model, the card counts.
 *
 * Invariant: a model is found by its whole name, never by a part of one. A model that only its maker serves is not found under another
 * maker's name; one whose weights are published may be offered by anybody.
 */
import ecologits from '../data/ecologits-models.json' with { type: 'json' };
import hidden from '../data/hidden-reasoning.json' with { type: 'json' };
import cards from '../data/model-cards.json' with { type: 'json' };
import type { ParameterRange } from '../facts/facts.ts';

export interface KnownModel {
  readonly kind: 'chat' | 'embedding';
  /** Billions of parameters. */
  readonly total: ParameterRange;
  /** Billions of parameters that serve a token. */
  readonly active: ParameterRange;
  /**
   * Bits of a weight if the model is published with four. Eight are not stated: at 16, the bounds hold what was measured of such
   * models; at eight, not always.
   */
  readonly bits: number | null;
  /** Output tokens per second of its maker's own service. */
  readonly tokensPerS: number | null;
  /** Seconds to the first token there. */
  readonly ttftS: number | null;
  /** The host of that service; null: anybody serves it. */
  readonly makersHost: string | null;
  /** Who says so, with an address; at most 300 characters. */
  readonly source: string;
}

/** A count, or the ends of a range. */
type Amount = number | readonly number[];
interface ModelRow {
  readonly names: readonly string[];
  readonly kind?: string;
  readonly total: Amount;
  readonly active: Amount;
  readonly bits?: number;
  readonly maker?: string;
  readonly tokens_per_s?: number;
  readonly ttft_s?: number;
  readonly estimated?: boolean;
  readonly source: string;
}

/** Where makers serve their models, and how gateways write that maker in front of a name. */
const makers: Readonly<Record<string, { readonly host: string; readonly prefixes: readonly string[] }>> = {
  anthropic: { host: 'api.anthropic.com', prefixes: ['anthropic'] },
  cohere: { host: 'api.cohere.com', prefixes: ['cohere', 'cohereforai', 'coherelabs'] },
  google_genai: { host: 'generativelanguage.googleapis.com', prefixes: ['google', 'gemini', 'models', 'vertex_ai'] },
  mistralai: { host: 'api.mistral.ai', prefixes: ['mistral', 'mistralai'] },
  openai: { host: 'api.openai.com', prefixes: ['openai', 'azure'] },
};

const rangeOf = (amount: Amount): ParameterRange => {
  const [min = 0, max = min] = typeof amount === 'number' ? [amount] : amount;
  return { min, max };
};

const known = (row: ModelRow, source: string): KnownModel => ({
  kind: row.kind === 'embedding' ? 'embedding' : 'chat',
  total: rangeOf(row.total),
  active: rangeOf(row.active),
  bits: row.bits ?? null,
  tokensPerS: row.tokens_per_s ?? null,
  ttftS: row.ttft_s ?? null,
  makersHost: row.maker === undefined ? null : (makers[row.maker]?.host ?? null),
  source,
});

/** `gpt-oss:120b` and `claude-haiku-4-5@20251001` are ways to write `gpt-oss-120b` and `claude-haiku-4-5-20251001`. */
const plain = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[:@]/g, '-')
    .replace(/^accounts\/fireworks\/models\//, '');
const withoutMaker = (name: string): string => name.slice(name.indexOf('/') + 1);

/** The names that a row is found by; `*` stands for any maker. */
function keysOf({ maker, names }: Pick<ModelRow, 'maker' | 'names'>): string[] {
  return names.map(plain).flatMap((name) => {
    const short = withoutMaker(name);
    if (maker === undefined) return [name, short, `*/${short}`];
    return [name, ...(makers[maker]?.prefixes ?? []).map((prefix) => `${prefix}/${name}`)];
  });
}

/** Each model by its names; null under a name that models of different sizes share. */
function indexed(): ReadonlyMap<string, KnownModel | null> {
  const ofCards = new Map<string, KnownModel>();
  for (const row of cards.rows) for (const key of keysOf(row)) ofCards.set(key, known(row, row.source));
  const all = new Map<string, KnownModel | null>();
  for (const row of ecologits.rows as readonly ModelRow[]) {
    const who = row.estimated === true ? `estimated by ${ecologits.source}` : ecologits.source;
    const model = known(row, `${who}, ${row.source}`);
    for (const key of new Set(keysOf(row))) {
      const before = all.get(key);
      const isSame = before === undefined || (before !== null && sameSize(before, model));
      all.set(key, isSame ? (before ?? model) : null);
    }
  }
  for (const [key, model] of ofCards) all.set(key, model);
  return all;
}

const sameSize = (one: KnownModel, other: KnownModel): boolean =>
  JSON.stringify([one.total, one.active]) === JSON.stringify([other.total, other.active]);

const index = indexed();
const hiding: ReadonlySet<string> = new Set(hidden.rows.flatMap(keysOf));
/** Whether its maker writes that a model thinks without showing it all. False: nobody says so. */
export const hidesReasoning = (id: string): boolean => hiding.has(plain(id));

/** How its weights are stored; the model is the same. */
const storage = /-(fp8|int8|w8a8|8bit|int4|w4a16|4bit|awq|gptq|nvfp4|mxfp4|bf16|fp16|gguf)$/;
const bitsBySuffix: readonly (readonly [RegExp, number])[] = [
  [/-(int4|w4a16|4bit|awq|nvfp4|mxfp4)$/, 4],
  [/-(fp8|int8|w8a8|8bit)$/, 8],
  [/-(bf16|fp16)$/, 16],
];

/** Looks a model up as a provider names it: with or without its maker (`openai/…`) and with a suffix for how its weights are stored. */
export function findModel(id: string): KnownModel | null {
  const name = plain(id);
  const whole = found(name);
  if (whole !== null || !storage.test(name)) return whole;
  const stored = found(name.replace(storage, ''));
  // Any other form is not the one that the model is published in.
  const [, bits = null] = bitsBySuffix.find(([suffix]) => suffix.test(name)) ?? [];
  return stored && Object.assign({}, stored, { bits });
}

function found(name: string): KnownModel | null {
  const model = index.get(name);
  if (model !== undefined) return model;
  // One maker: a path is the name of something else.
  return (/^[^/]+\/[^/]+$/.test(name) ? index.get(`*/${withoutMaker(name)}`) : null) ?? null;
}
