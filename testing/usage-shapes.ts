/**
 * The places and names under which servers state token counts, with what each must be read as: `simulator/usage-shapes.json`. None was
 * recorded from a live service: they are written after what the pages in `source` say.
 */
import { readFileSync } from 'node:fs';
import { inCheckout } from '@gw/stack/checkout';
import { z } from 'zod';
import { counts } from './transcripts.ts';

const usageShape = z.strictObject({
  name: z.string(),
  source: z.url(),
  endpoint: z.enum(['chat', 'completions', 'embeddings']).default('chat'),
  /** The fields of a JSON reply beside the answer; null: the shape is one of streams alone. */
  json: z.looseObject({}).nullable(),
  /** The events behind the first chunk with text; null: a last chunk that has the fields of `json`. */
  events: z.array(z.looseObject({})).nullable(),
  counts,
});
export type UsageShape = z.infer<typeof usageShape>;

const text = 'The Ebro.';
const answers = {
  chat: { choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }] },
  completions: { choices: [{ index: 0, text, finish_reason: 'stop' }] },
  embeddings: { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5] }] },
};
const begun = {
  chat: { choices: [{ index: 0, delta: { content: text }, finish_reason: null }] },
  completions: { choices: [{ index: 0, text, finish_reason: null }] },
};
const ended = {
  chat: { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  completions: { choices: [{ index: 0, text: '', finish_reason: 'stop' }] },
};

export const usageShapes: readonly UsageShape[] = z
  .array(usageShape)
  .parse(JSON.parse(readFileSync(inCheckout('simulator', 'usage-shapes.json'), 'utf8')));

/** The JSON reply of a shape; null if it has none. */
export const jsonOf = ({ endpoint, json }: UsageShape): object | null =>
  json === null ? null : { ...answers[endpoint], ...json };

/** The stream of a shape as text; null for an API without streams. */
export function eventsOf({ endpoint, events, json }: UsageShape): string | null {
  if (endpoint === 'embeddings') return null;
  const chunks = [begun[endpoint], ...(events ?? [{ ...ended[endpoint], ...json }])];
  return [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');
}
