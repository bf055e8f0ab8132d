/**
 * The token counts of a call: the provider's, as far as any reading of the call makes them possible, else estimates from text.
 *
 * Invariants: a count that is missing, or too small for its text, is estimated or null, never 0. A count that goes beyond what
 * request and reply show is charged as stated, with wider bounds and the reason (doubts.ts), as long as a provider can have read or
 * written so much unseen. One above what limits, window, time and power allow is not charged, and not corrected either: the receipt
 * is degraded, with the claim and the bound. Of two readings of what a provider states the larger is charged.
 */
import { err, ok, type Result } from '@gw/contract/internal/result';
import { longestTokenBytes } from '@gw/contract/internal/tokenizers';
import type { TokenUsage } from '@gw/methodology/assess';
import { estimatedCounts } from '@gw/methodology/factors';
import type { PowerUse } from '@gw/methodology/power';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import { bytesPerToken } from '../api/port/prompt-size.ts';
import type { SaidSoFar } from '../api/port/shape.ts';
import { shapeOf } from '../api/shapes.ts';
import { powerProblem, promptProblem, writtenProblem } from './count-limits.ts';
import type { CountedCall, Written } from './counted-call.ts';
import { doubtsOf } from './doubts.ts';

/** Returns the counts; null if nothing says them. The error is a sentence that names the claim and what can be true. */
export function countCall(said: SaidSoFar, call: CountedCall): Result<TokenUsage | null, string> {
  const { request } = call;
  const prompt = claimedPrompt(said, call);
  const written = writesNothing(request) ? nothingWritten : writtenBy(said, call);
  const problem = promptProblem(prompt, writesNothing(request), call) ?? writtenProblem(written, said, call);
  if (problem !== null) return err(problem);
  if (written.tokens === null) return ok(null);
  const usage = usageOf(said, prompt, written, request);
  const power = powerFor(usage, call);
  const beyond = power && powerProblem(usage, power);
  if (beyond) return err(beyond);
  return ok(doubtsOf({ usage, claimedPrompt: prompt, written, said, power }, call));
}

const writesNothing = ({ endpoint }: ParsedRequest): boolean => shapeOf(endpoint).kind === 'embedding';

/** No accelerators take fewer tokens than these and so many a second for remarkable. */
const unremarkable = { tokens: 50, perS: 500, readPerWritten: 20 } as const;

/** A prompt that the request holds is left out: a cache can have served it without a word. */
function powerFor(usage: TokenUsage, { elapsedS, powerOf, request }: CountedCall): PowerUse | null {
  const isHeld = request.mostPromptTokens === null || usage.promptTokens <= request.mostPromptTokens;
  const computed = isHeld ? { ...usage, cachedPromptTokens: usage.promptTokens } : usage;
  const read = computed.promptTokens - computed.cachedPromptTokens;
  const work = usage.completionTokens + read / unremarkable.readPerWritten;
  return work > unremarkable.tokens + unremarkable.perS * elapsedS ? powerOf(computed) : null;
}

/** An embedding writes nothing, even if the provider claims a completion. */
const nothingWritten: Written = { tokens: 0, isEstimate: false, outside: 0, claim: null };
const untold: Written = { ...nothingWritten, tokens: null };

function usageOf(said: SaidSoFar, claimed: number | null, written: Written, request: ParsedRequest): TokenUsage {
  const promptTokens =
    claimed ?? request.estimatedPromptTokens - (request.parts === null ? 0 : request.parts.estimatedTokens);
  const { isEstimate, outside, tokens } = written;
  const estimated = claimed === null ? (isEstimate ? 'both' : 'prompt') : isEstimate ? 'completion' : null;
  return {
    promptTokens,
    cachedPromptTokens: Math.min(said.claim?.cached ?? 0, promptTokens),
    completionTokens: tokens ?? 0,
    ...(estimated !== null && { estimated }),
    ...(outside !== 0 && { outsideCounts: outside }),
  };
}

/** Returns null if it is not stated, or if the prompt has more text than that. */
function claimedPrompt({ claim, isStale }: SaidSoFar, { contextWindow, request }: CountedCall): number | null {
  if (claim === null) return null;
  const { completion, prompt, total } = claim;
  const rest = writesNothing(request) ? total : total === null || completion === null ? null : total - completion;
  const stated = prompt ?? (rest !== null && rest >= 0 ? rest : null);
  if (stated === null || (stated === 0 && request.estimatedPromptTokens > 0)) return null;
  const bytes = Math.ceil(request.promptTextBytes / longestTokenBytes);
  // Some servers cut a text off that is longer than the window.
  if (stated < (contextWindow === null ? bytes : Math.min(bytes, contextWindow))) return null;
  // Some servers count a prompt while they read it; an estimate is no further from the true count than that.
  return isStale && stated < request.estimatedPromptTokens / estimatedCounts.ratio ? null : stated;
}

function writtenBy(said: SaidSoFar, call: CountedCall): Written {
  const { claim } = said;
  const bytes = said.answerBytes + said.reasoningBytes;
  const rest = claim !== null && claim.total !== null && claim.prompt !== null ? claim.total - claim.prompt : null;
  const stated = claim?.completion ?? (rest !== null && rest >= 0 ? rest : null);
  if (stated === 0 && bytes === 0 && !call.isWhole) return untold;
  if (claim === null || stated === null || said.isStale) return estimated(bytes, stated);
  const reasoning = claim.reasoning ?? 0;
  const isApart = reasoning > stated;
  const over = rest === null ? 0 : rest - stated;
  const outside = isApart ? Math.max(over, reasoning) : over;
  const tokens = stated + Math.max(0, outside);
  // The text of a completion that repeats its prompt says nothing of how little was written.
  if (tokens * longestTokenBytes < bytes && !call.request.echoes) return estimated(bytes, null);
  const hidden = (isApart ? 0 : reasoning) + (claim.rejected ?? 0);
  const apart = Math.max(0, Math.min(outside, reasoning));
  return { tokens, isEstimate: false, outside, claim: { tokens, visible: stated - hidden, apart } };
}

/** Estimates tokens from bytes of text. `running` is what the provider had counted when there was less of it. */
function estimated(bytes: number, running: number | null): Written {
  if (bytes === 0 && running === null) return untold;
  const tokens = Math.max(Math.ceil(bytes / bytesPerToken), running ?? 0);
  const claim = running === null ? null : { tokens: running, visible: running, apart: 0 };
  return { tokens, isEstimate: true, outside: 0, claim };
}
