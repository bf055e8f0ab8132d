/**
 * The limits that no reading of a call lets a claimed count exceed.
 *
 * Invariant: each problem is a sentence that names the claim and what can be true.
 */

import type { TokenUsage } from '@gw/methodology/assess';
import { estimatedCounts } from '@gw/methodology/factors';
import type { PowerUse } from '@gw/methodology/power';
import { bytesPerToken } from '../api/port/prompt-size.ts';
import type { SaidSoFar } from '../api/port/shape.ts';
import type { CountedCall, Written } from './counted-call.ts';

/** An assumption: the fastest published service of one stream writes some thousands, so no hardware reaches this. */
const mostTokensPerS = 100_000;
/** An assumption, for where no window is known: the longest that is published is a million or two. */
export const mostTokensPerPrompt = 10_000_000;
/** Seconds that are added to the time, for a reply that was computed before it was asked for. */
const graceS = 1;
/** How many tokens of an answer leave no text: its end, and the frame of channels and tool calls. */
export const unseenPerAnswer = 64;
/** How many tokens an answer has above its limit where a server counts its end, or writes several tokens in a step. */
const mostOvershoot = 16;

const claims = (count: number, kind: string, most: number, why: string): string =>
  `The provider states ${count} ${kind} tokens, and no more than ${most} can be true: ${why}.`;

/** Bytes of the reply that are text of the model, or may be. */
export const shownBytes = ({ answerBytes, otherBytes, reasoningBytes }: SaidSoFar): number =>
  answerBytes + reasoningBytes + otherBytes;

/** How many tokens text of so many bytes has, if it has as many as the densest. */
export const densest = (bytes: number): number => Math.ceil((bytes / bytesPerToken) * estimatedCounts.ratio);

/** How many tokens the request lets the answers have; null: any number. What was delivered of reasoning, or is counted apart, is beside. */
export const limitOf = ({ claim }: Written, { reasoningBytes }: SaidSoFar, { request }: CountedCall): number | null =>
  request.maxTokens === null
    ? null
    : request.maxTokens * request.candidates + Math.max(reasoningBytes, claim === null ? 0 : claim.apart);

export function promptProblem(
  prompt: number | null,
  isEmbedding: boolean,
  { contextWindow, readsByItself, request }: CountedCall,
): string | null {
  if (prompt === null) return null;
  const { asksToRead, mostPromptTokens: bytes, promptBytes, prompts } = request;
  const most = (contextWindow ?? mostTokensPerPrompt) * prompts;
  if (prompt > most && (bytes === null || bytes > most)) return claims(prompt, 'prompt', most, whyMost(contextWindow));
  const readsMore = !isEmbedding && (asksToRead || readsByItself !== false);
  if (bytes !== null && prompt > bytes && !readsMore)
    return claims(prompt, 'prompt', bytes, `the request has ${promptBytes} bytes, and templates add little`);
  return prompt > most ? claims(prompt, 'prompt', most, whyMost(contextWindow)) : null;
}

const whyMost = (contextWindow: number | null): string =>
  contextWindow === null ? 'no model reads so much' : 'the context window of the model holds no more';

export function writtenProblem(written: Written, said: SaidSoFar, call: CountedCall): string | null {
  const { claim } = written;
  if (claim === null) return null;
  const { contextWindow, elapsedS, hidesReasoning, request } = call;
  const { candidates } = request;
  const { tokens, visible } = claim;
  const limit = limitOf(written, said, call);
  const window = contextWindow === null ? null : contextWindow * candidates;
  const time = Math.ceil((elapsedS + graceS) * mostTokensPerS * candidates);
  const text = shownBytes(said);
  // Where reasoning is claimed beyond what another bound allows, that one is told.
  const isTold = limit !== null && limit <= (window === null ? time : Math.max(window, time));
  // A provider can ignore the limit, which its text then shows, or count thoughts beside it.
  const ignores = limit !== null && tokens > limit + mostOvershoot * candidates && tokens > densest(text);
  if (isTold && ignores && hidesReasoning !== true)
    return claims(tokens, 'completion', limit, 'the request limits them');
  if (window !== null && tokens > window)
    return claims(tokens, 'completion', window, 'the context window of the model holds no more');
  const shown = text + unseenPerAnswer * request.answers;
  const isDelivered = candidates === request.answers && !said.isFiltered;
  if (isDelivered && hidesReasoning === false && visible > shown)
    return claims(visible, 'visible completion', shown, 'the reply has no more bytes of text');
  return tokens > time ? claims(tokens, 'completion', time, 'no hardware writes so fast') : null;
}

/** Null if the accelerators can have made the tokens in the time, by the least energy that they take. */
export function powerProblem(
  { completionTokens, promptTokens }: TokenUsage,
  { accelerators, leastShare }: PowerUse,
): string | null {
  if (leastShare <= 1) return null;
  const isWritten = completionTokens > 0;
  const count = isWritten ? completionTokens : promptTokens;
  const why = `${accelerators} ${accelerators === 1 ? 'accelerator draws' : 'accelerators draw'} no more power in the time`;
  return claims(count, isWritten ? 'completion' : 'prompt', Math.floor(count / leastShare), why);
}
