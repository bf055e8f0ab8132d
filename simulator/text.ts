/**
 * The text of answers: sentences that say they are simulated, chosen by a seed.
 *
 * Invariant: a token is four code points, and the last one may be shorter. Streams send one token per chunk, so that usage, `max_tokens`
 * and the number of chunks always agree.
 */

export type TextStyle = 'plain' | 'unicode';

const OPENING: Record<TextStyle, string> = {
  plain: 'This is a simulated answer. ',
  unicode: 'Ceci est une réponse simulée — 模拟的回答 🧪. ',
};

const SENTENCES: Record<TextStyle, readonly string[]> = {
  plain: [
    'No model has run to make it. ',
    'The words were chosen by a hash of the question. ',
    'The same question will always get the same words. ',
    'A real provider would say something useful here. ',
    'The simulator only counts four letters as one token. ',
    'Nothing in this text is true or false. ',
    'It exists so that clients and gateways can be tried without cost. ',
    'Simulated words use no accelerator at all. ',
    'Please do not quote the simulator. ',
    'Point the gateway at another provider to get real answers. ',
    'The pace of this stream is simulated as well. ',
    'Here ends one more simulated sentence. ',
  ],
  unicode: [
    'Ça coûte zéro €, naïve façade, Ångström. ',
    'Семь слов, выбранных хешем вопроса. ',
    '这些字是由问题的散列选择的。 ',
    'ここに本当の答えはありません。 ',
    'هذا النص محاكاة فقط. ',
    'Family 👩‍👩‍👧‍👦, flag 🇫🇷, clef 𝄞, math 𝒙². ',
    'e\u0301 is two code points, é is one. ',
    'Line\u2028separators and \u0000 are "escaped" \\ here. ',
  ],
};

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

function countCodePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) if (isHighSurrogate(text.charCodeAt(i))) count--;
  return count;
}

export const countTokens = (text: string): number => Math.ceil(countCodePoints(text) / 4);

/** A list whose items can be computed lazily. Arrays are such lists. */
export interface Listed<Item> {
  readonly length: number;
  readonly at: (index: number) => Item | undefined;
}

export const slice = <Item>(list: Listed<Item>, from = 0, to = list.length): Item[] =>
  Array.from({ length: Math.max(0, Math.min(to, list.length) - from) }, (_, at) => list.at(from + at) as Item);

/** Splits a text into tokens. */
export function tokensOf(text: string): Listed<string> {
  const length = countTokens(text);
  // A text without surrogate pairs is split lazily, because most streams end long before their last token.
  if (countCodePoints(text) < text.length) return cutByCodePoints(text);
  return { length, at: (index) => (index < length ? text.slice(index * 4, index * 4 + 4) : undefined) };
}

function cutByCodePoints(text: string): string[] {
  const tokens: string[] = [];
  let start = 0;
  while (start < text.length) {
    let end = start;
    for (let taken = 0; taken < 4 && end < text.length; taken++) end += isHighSurrogate(text.charCodeAt(end)) ? 2 : 1;
    tokens.push(text.slice(start, end));
    start = end;
  }
  return tokens;
}

export const splitTokens = (text: string): string[] => slice(tokensOf(text));

/** A token of the text with the index `of`. */
export interface Turn {
  readonly of: number;
  readonly token: string;
}

/** Returns the tokens of several texts, one of each in turn. */
export function inTurn(texts: readonly string[]): Listed<Turn> {
  const [only, ...others] = texts.map(tokensOf);
  if (only === undefined) return [];
  if (others.length > 0) return mixed([only, ...others]);
  return {
    length: only.length,
    at: (index) => {
      const token = only.at(index);
      return token === undefined ? undefined : { of: 0, token };
    },
  };
}

function mixed(lists: readonly Listed<string>[]): Turn[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, step) =>
    lists.flatMap((list, of) => {
      const token = list.at(step);
      return token === undefined ? [] : [{ of, token }];
    }),
  ).flat();
}

/** Returns the first `tokens` tokens of a text. */
export function cutTokens(text: string, tokens: number): string {
  let end = 0;
  for (let left = tokens * 4; left > 0 && end < text.length; left--)
    end += isHighSurrogate(text.charCodeAt(end)) ? 2 : 1;
  return text.slice(0, end);
}

/** Returns a text for this seed: two to four sentences after the opening, or exactly `tokens` tokens. */
export function answerText(seed: number, style: TextStyle, tokens: number | null): string {
  const sentences = SENTENCES[style];
  let next = seed % sentences.length;
  let text = OPENING[style];
  const append = (): void => {
    text += sentences[next];
    next = (next + 1) % sentences.length;
  };
  if (tokens === null) {
    for (let count = 2 + ((seed >>> 8) % 3); count > 0; count--) append();
    return text.trimEnd();
  }
  // At least half of its UTF-16 units are code points, so the text is long enough.
  while (text.length < tokens * 8) append();
  return cutTokens(text, tokens);
}

/** Returns the text before the first stop sequence. */
export function cutAtStop(text: string, stops: readonly string[]): string {
  let end = text.length;
  for (const stop of stops) {
    const found = stop === '' ? -1 : text.indexOf(stop);
    if (found >= 0 && found < end) end = found;
  }
  return end === text.length ? text : text.slice(0, end);
}
