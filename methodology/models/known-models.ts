/**
 * Models whose size somebody has published or estimated: `data/model-cards.json` from the cards of their makers, and
 * `data/ecologits-models.json` from EcoLogits. Where both have a model, the card counts.
 *
 * Invariant: a model is found by its whole name, never by a part of one, so that no model gets the size of another.
 */

import ecologits from '../data/ecologits-models.json' with { type: 'json' };
import cards from '../data/model-cards.json' with { type: 'json' };
import type { ParameterRange } from '../facts/facts.ts';

export interface KnownModel {
  readonly kind: 'chat' | 'embedding';
  /** Billions of parameters. */
  readonly total: ParameterRange;
  /** Billions of parameters that serve a token. */
  readonly active: ParameterRange;
  /** Bits of a weight where the model exists in this form alone, otherwise null. */
  readonly bits: number | null;
  /** Output tokens per second of its maker's own service. */
  readonly tokensPerS: number | null;
  /** Seconds to the first token there. */
  readonly ttftS: number | null;
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
  readonly tokens_per_s?: number;
  readonly ttft_s?: number;
  readonly estimated?: boolean;
  readonly source: string;
}

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
  source,
});

/** `gpt-oss:120b` and `claude-haiku-4-5@20251001` are ways to write `gpt-oss-120b` and `claude-haiku-4-5-20251001`. */
const plain = (name: string): string => name.toLowerCase().replace(/[:@]/g, '-');
const withoutMaker = (name: string): string => name.slice(name.lastIndexOf('/') + 1);

/** Each model by its names; null under a name that models of different sizes share. */
function indexed(): ReadonlyMap<string, KnownModel | null> {
  const index = new Map<string, KnownModel | null>();
  const enter = (name: string, model: KnownModel) => {
    const before = index.get(name);
    const isSame = before === undefined || (before !== null && sameSize(before, model));
    index.set(name, isSame ? (before ?? model) : null);
  };
  const rows: readonly (readonly [ModelRow, string])[] = [
    ...cards.rows.map((row) => [row, row.source] as const),
    ...ecologits.rows.map((row: ModelRow) => {
      const who = row.estimated === true ? `estimated by ${ecologits.source}` : ecologits.source;
      return [row, `${who}, ${row.source}`] as const;
    }),
  ];
  for (const [row, source] of rows) {
    const model = known(row, source);
    const whole = row.names.map(plain).filter((name) => !index.has(name));
    for (const name of whole) index.set(name, model);
    for (const name of whole) if (name !== withoutMaker(name)) enter(withoutMaker(name), model);
  }
  return index;
}

const sameSize = (one: KnownModel, other: KnownModel): boolean =>
  JSON.stringify([one.total, one.active]) === JSON.stringify([other.total, other.active]);

const index = indexed();
/** How its weights are stored; the model is the same. */
const storage = /-(fp8|int8|w8a8|8bit|int4|w4a16|4bit|awq|gptq|nvfp4|mxfp4|bf16|fp16|gguf)$/;

/** Looks a model up as a provider names it: with or without its maker (`openai/…`) and with a suffix for how its weights are stored. */
export function findModel(id: string): KnownModel | null {
  const name = plain(id);
  for (const each of [name, withoutMaker(name)])
    for (const candidate of [each, each.replace(storage, '')]) {
      const model = index.get(candidate);
      if (model !== undefined) return model;
    }
  return null;
}
