/**
 * The token counts of a call: the provider's, as far as they can be true, else estimates from text.
 *
 * Invariants: a count that is missing, or too small for its text, is estimated or null, never 0. A count above what
 * request, reply, model and time allow is not charged, and not corrected either: the receipt is degraded, with the
 * claim and the bound. Of two readings of what a provider states the larger is charged.
 */
import { err, ok, type Result } from '@gw/contract/internal/result';
import { longestTokenBytes } from '@gw/contract/internal/tokenizers';
import type { TokenUsage } from '@gw/methodology/assess';
import { estimatedCounts } from '@gw/methodology/factors';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import { bytesPerToken } from '../api/port/prompt-size.ts';
import type { SaidSoFar } from '../api/port/shape.ts';
import { shapeOf } from '../api/shapes.ts';

/** Facts that bound the counts of a call. */
export interface CountedCall {
  readonly request: ParsedRequest;
  /** The context window in tokens; null if the catalogue does not know it. */
  readonly contextWindow: number | null;
  /** Seconds from asking the provider to the end of its reply. */
  readonly elapsedS: number;
  /** Whether the reply came to its end; otherwise a count of 0 says only that no word had come yet. */
  readonly isWhole: boolean;
}

/** An assumption: the fastest published service of one stream writes some thousands, so no hardware reaches this. */
const mostTokensPerS = 100_000;
/** An assumption, for where no window is known: the longest that is published is a million or two. */
const mostTokensPerPrompt = 10_000_000;
/** Seconds that are added to the time, for a reply that was computed before it was asked for. */
const graceS = 1;
/** How many tokens of an answer leave no text: its end, and the frame of channels and tool calls. */
const unseenPerAnswer = 64;

/** Returns the counts; null if nothing says them. The error is a sentence that names the claim and what can be true. */
export function countCall(said: SaidSoFar, call: CountedCall): Result<TokenUsage | null, string> {
  const { request } = call;
  const prompt = claimedPrompt(said, call);
  const written = writesNothing(request) ? nothingWritten : writtenBy(said, call);
  const explanation = promptProblem(prompt, call) ?? written.problem;
  if (explanation !== null) return err(explanation);
  return ok(written.tokens === null ? null : usageOf(said, prompt, written, request));
}

const writesNothing = ({ endpoint }: ParsedRequest): boolean => shapeOf(endpoint).kind === 'embedding';

interface Written {
  /** Null if nothing says it. */
  readonly tokens: number | null;
  readonly isEstimate: boolean;
  readonly outside: number;
  readonly problem: string | null;
}

/** An embedding writes nothing, even if the provider claims a completion. */
const nothingWritten: Written = { tokens: 0, isEstimate: false, outside: 0, problem: null };
const untold: Written = { ...nothingWritten, tokens: null };

function usageOf(said: SaidSoFar, claimed: number | null, written: Written, request: ParsedRequest): TokenUsage {
  const promptTokens = claimed ?? request.estimatedPromptTokens;
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
  if (claim === null || stated === null || said.isStale) return estimated(bytes, stated, said, call);
  const reasoning = claim.reasoning ?? 0;
  const isApart = reasoning > stated;
  const over = rest === null ? 0 : rest - stated;
  const outside = isApart ? Math.max(over, reasoning) : over;
  const tokens = stated + Math.max(0, outside);
  // The text of a completion that repeats its prompt says nothing of how little was written.
  if (tokens * longestTokenBytes < bytes && !call.request.echoes) return estimated(bytes, null, said, call);
  const hidden = (isApart ? 0 : reasoning) + (claim.rejected ?? 0);
  const apart = Math.max(0, Math.min(outside, reasoning));
  return {
    tokens,
    isEstimate: false,
    outside,
    problem: writtenProblem({ tokens, visible: stated - hidden, apart }, said, call),
  };
}

/** Estimates tokens from bytes of text. `running` is what the provider had counted when there was less of it. */
function estimated(bytes: number, running: number | null, said: SaidSoFar, call: CountedCall): Written {
  if (bytes === 0 && running === null) return untold;
  const tokens = Math.max(Math.ceil(bytes / bytesPerToken), running ?? 0);
  const problem = running === null ? null : writtenProblem({ tokens: running, visible: running, apart: 0 }, said, call);
  return { tokens, isEstimate: true, outside: 0, problem };
}

const claims = (count: number, kind: string, most: number, why: string): string =>
  `The provider states ${count} ${kind} tokens, and no more than ${most} can be true: ${why}.`;

function promptProblem(prompt: number | null, { contextWindow, request }: CountedCall): string | null {
  if (prompt === null) return null;
  const { mostPromptTokens: bytes, prompts } = request;
  if (bytes !== null && prompt > bytes)
    return claims(prompt, 'prompt', bytes, `the request has ${request.promptBytes} bytes, and templates add little`);
  const most = (contextWindow ?? mostTokensPerPrompt) * prompts;
  if (prompt <= most) return null;
  const why = contextWindow === null ? 'no model reads so much' : 'the context window of the model holds no more';
  return claims(prompt, 'prompt', most, why);
}

interface WrittenClaim {
  readonly tokens: number;
  /** Tokens whose text was delivered. */
  readonly visible: number;
  /** Tokens of reasoning that the provider counts outside of the completion. */
  readonly apart: number;
}

function writtenProblem({ apart, tokens, visible }: WrittenClaim, said: SaidSoFar, call: CountedCall): string | null {
  const { contextWindow, elapsedS, request } = call;
  const { candidates } = request;
  // Some servers do not count reasoning towards the limit: what was delivered of it, or is counted apart, is allowed beside.
  const beside = Math.max(said.reasoningBytes, apart);
  const asked = request.maxTokens === null ? null : request.maxTokens * candidates + beside;
  const window = contextWindow === null ? null : contextWindow * candidates;
  const time = Math.ceil((elapsedS + graceS) * mostTokensPerS * candidates);
  // Where reasoning is claimed beyond what another bound allows, that one is told.
  if (asked !== null && tokens > asked && asked <= Math.max(window ?? 0, time))
    return claims(tokens, 'completion', asked, 'the request limits them');
  if (window !== null && tokens > window)
    return claims(tokens, 'completion', window, 'the context window of the model holds no more');
  const text = said.answerBytes + said.reasoningBytes + said.otherBytes + unseenPerAnswer * request.answers;
  if (candidates === request.answers && visible > text)
    return claims(visible, 'visible completion', text, 'the reply has no more bytes of text');
  if (tokens > time) return claims(tokens, 'completion', time, 'no hardware writes so fast');
  return null;
}
