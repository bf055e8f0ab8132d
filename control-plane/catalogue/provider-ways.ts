/**
 * Finds out what is particular about a provider of chats: which of the fields that the gateway adds it refuses, and where its replies state
 * token counts. It makes up to three further calls of at most a few tokens.
 *
 * Invariant: a provider's reply is read for names alone; none of its text is passed on.
 */
import { jsonIn } from '@gw/contract/internal/json-in';

/** Sends a body without its model. Null: there was no reply. */
export type Send = (body: object) => Promise<{ readonly status: number; readonly body: string } | null>;

export interface ProviderWays {
  /** Fields that the gateway adds to a request, and the provider refuses. */
  readonly refused: readonly string[];
  /** Where a JSON reply and a stream state token counts: `usage`, `x_groq.usage`, …; null: nowhere. */
  readonly usageInJson: string | null;
  readonly usageInStream: string | null;
}

const counted =
  /^(?:(?:prompt|completion|input|output|total|generated)_?tokens|tokens_(?:evaluated|predicted)|\w*token_?count|(?:prompt_)?eval_count|(?:prompt|predicted)_n)$/i;
const isName = (name: string): boolean => /^[\w-]{1,60}$/.test(name);
const deepest = 3;

/** Returns the path of the first object that has a count of tokens; `the reply itself` if it is the outermost. */
export function placeOfCounts(value: unknown, path = '', depth = 0): string | null {
  if (typeof value !== 'object' || value === null || depth > deepest) return null;
  const members = Object.entries(value);
  if (!Array.isArray(value) && members.some(([name, count]) => counted.test(name) && Number.isInteger(count)))
    return path === '' ? 'the reply itself' : path;
  for (const [name, inner] of Array.isArray(value) ? members.slice(0, 1) : members) {
    const step = Array.isArray(value) ? `${path}[]` : path === '' ? name : `${path}.${name}`;
    const found = isName(name) ? placeOfCounts(inner, step, depth + 1) : null;
    if (found !== null) return found;
  }
  return null;
}

/** The last event with counts says where they stand. */
const placeInStream = (text: string): string | null =>
  text
    .split(/\r?\n/)
    .flatMap((line) => (line.startsWith('data:') ? (placeOfCounts(jsonIn(line.slice('data:'.length))) ?? []) : []))
    .at(-1) ?? null;

const refuses = (reply: { readonly status: number } | null): boolean => reply?.status === 400 || reply?.status === 422;

/** `request` is a body that the provider has just answered with `answer`. `leftOut`: fields that the catalogue leaves out already. */
export async function findWays(
  send: Send,
  request: object,
  answer: string,
  leftOut: readonly string[],
): Promise<ProviderWays> {
  const refused: string[] = [];
  if (!leftOut.includes('temperature') && refuses(await send({ ...request, temperature: 1 })))
    refused.push('temperature');
  const plain = { ...request, stream: true };
  const asking = { ...plain, stream_options: { include_usage: true } };
  const asks = !leftOut.includes('stream_options');
  let stream = await send(asks ? asking : plain);
  if (asks && refuses(stream)) {
    stream = await send(plain);
    if (stream?.status === 200) refused.push('stream_options');
  }
  const usageInStream = stream?.status === 200 ? placeInStream(stream.body) : null;
  return { refused, usageInJson: placeOfCounts(jsonIn(answer)), usageInStream };
}
