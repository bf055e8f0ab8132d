/** Log probabilities in OpenAI's two shapes, with numbers derived from the token. */
import { splitTokens } from './text.ts';

/** Returns a value between -2 and 0 that depends only on the token. */
function logprobOf(token: string): number {
  let mixed = 7;
  for (let i = 0; i < token.length; i++) mixed = (mixed * 31 + token.charCodeAt(i)) % 2000;
  return -mixed / 1000;
}

const bytesOf = (token: string): number[] => [...Buffer.from(token, 'utf8')];

/** An entry of `choices[].logprobs.content`, with `top` alternatives, of which the first is the token itself. */
export function chatLogprob(token: string, top: number): object {
  const entry = (text: string, logprob: number): object => ({ token: text, logprob, bytes: bytesOf(text) });
  const own = logprobOf(token);
  const alternatives = Array.from({ length: top }, (_, rank) => entry(rank === 0 ? token : `alt${rank}`, own - rank));
  return { ...entry(token, own), top_logprobs: alternatives };
}

export const chatLogprobs = (text: string, top: number): object => ({
  content: splitTokens(text).map((token) => chatLogprob(token, top)),
  refusal: null,
});

/** `choices[].logprobs` of legacy completions, for a text at `offset`. */
export function completionLogprobs(text: string, top: number, offset = 0): object {
  const tokens = splitTokens(text);
  let position = offset;
  return {
    tokens,
    token_logprobs: tokens.map(logprobOf),
    top_logprobs: tokens.map((token) => (top > 0 ? { [token]: logprobOf(token) } : {})),
    text_offset: tokens.map((token) => {
      const start = position;
      position += token.length;
      return start;
    }),
  };
}
