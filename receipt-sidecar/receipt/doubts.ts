/**
 * Widens the bounds of counts that go beyond what a call shows, and says why.
 *
 * Invariant: a count itself is never changed. Its least is what the text bears, its most what limit, window and size allow.
 */
import type { TokenUsage } from '@gw/methodology/assess';
import { estimatedCounts } from '@gw/methodology/factors';
import type { CountDoubt } from '@gw/methodology/facts';
import type { PowerUse } from '@gw/methodology/power';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import { bytesPerToken } from '../api/port/prompt-size.ts';
import type { SaidSoFar } from '../api/port/shape.ts';
import { sequencesOf } from '../api/sequences.ts';
import { densest, limitOf, mostTokensPerPrompt, shownBytes, unseenPerAnswer } from './count-limits.ts';
import type { CountedCall, Written } from './counted-call.ts';

interface Counted {
  readonly usage: TokenUsage;
  /** Null where the prompt's count is an estimate. */
  readonly claimedPrompt: number | null;
  readonly written: Written;
  readonly said: SaidSoFar;
  readonly power: PowerUse | null;
}

/** The widening of one count. A bound that is absent stays that of the count. */
interface Widening {
  readonly doubts: readonly CountDoubt[];
  readonly least?: number;
  readonly most?: number;
}

export function doubtsOf(counted: Counted, call: CountedCall): TokenUsage {
  const { power, usage } = counted;
  const prompt = doubtsOfPrompt(counted, call);
  const completion = doubtsOfWritten(counted, call);
  const isTooFast = power !== null && power.share > 1;
  const ranTools = call.request.hostedTools !== undefined;
  const doubts = [
    ...prompt.doubts,
    ...completion.doubts,
    ...(isTooFast ? (['too_fast'] as const) : []),
    ...(ranTools ? (['ran_tools'] as const) : []),
    ...(call.request.parts !== null || call.request.speaks ? (['encodes_media'] as const) : []),
  ];
  // Tokens that there was no power for may come from a cache, or never have been.
  const powered = (count: number, { least = count }: Widening): number =>
    isTooFast ? Math.min(least, Math.floor(count / power.share)) : least;
  const wrote = powered(usage.completionTokens, completion);
  const read = prompt.doubts.length === 0 ? usage.promptTokens : powered(usage.promptTokens, prompt);
  return {
    ...usage,
    ...(read < usage.promptTokens && { promptLeast: read }),
    ...(prompt.most !== undefined && { promptMost: Math.max(prompt.most, usage.promptTokens) }),
    ...(wrote < usage.completionTokens && { completionLeast: wrote }),
    ...(completion.most !== undefined && { completionMost: Math.max(completion.most, usage.completionTokens) }),
    ...sequencesOf(call.request),
    ...(doubts.length > 0 && { doubts }),
  };
}

const sparsest = (tokens: number): number => Math.ceil(tokens / estimatedCounts.ratio);

function doubtsOfPrompt({ claimedPrompt, usage }: Counted, call: CountedCall): Widening {
  const { contextWindow, readsByItself, request } = call;
  const { asksToRead, estimatedPromptTokens, mostPromptTokens, parts } = request;
  if (claimedPrompt === null) {
    if (parts === null) return { doubts: [] };
    const most = contextWindow ?? mostTokensPerPrompt;
    const sent = parts.mostTokens === null ? most : Math.min(most, usage.promptTokens + parts.mostTokens);
    return { doubts: ['parts_uncounted'], most: sent };
  }
  if (mostPromptTokens === null || claimedPrompt <= mostPromptTokens) return { doubts: [] };
  const why = asksToRead || readsByItself === true ? 'read_elsewhere' : 'read_unstated';
  return { doubts: [why], least: sparsest(estimatedPromptTokens) };
}

function doubtsOfWritten({ said, usage, written }: Counted, call: CountedCall): Widening {
  const { contextWindow, hidesReasoning, isCutShort, request } = call;
  const { claim } = written;
  const tokens = usage.completionTokens;
  const most = isCutShort ? mostWritten(request, contextWindow) : null;
  const end = most === null ? {} : { most };
  if (claim === null || written.isEstimate) return { doubts: [], ...end };
  const text = shownBytes(said);
  const limit = limitOf(written, said, call);
  const isAbove = limit !== null && tokens > limit;
  const isUnseen =
    request.candidates === request.answers && claim.visible > densest(text) + unseenPerAnswer * request.answers;
  const doubts: CountDoubt[] = [];
  if (isUnseen) doubts.push(said.isFiltered ? 'filtered' : hidesReasoning ? 'hidden' : 'hidden_unstated');
  if (isAbove) doubts.push('above_limit');
  // Tokens that the provider itself calls reasoning, or prediction, leave no text.
  const shown = sparsest(Math.ceil(text / bytesPerToken)) + tokens - claim.visible;
  const least = Math.min(isUnseen ? shown : tokens, isAbove && hidesReasoning !== true ? limit : tokens);
  return { doubts, ...end, ...(doubts.length > 0 && { least }) };
}

/** How many tokens the answers to a request can have; null if nothing bounds them. */
export function mostWritten(
  { candidates, maxTokens }: Pick<ParsedRequest, 'candidates' | 'maxTokens'>,
  contextWindow: number | null,
): number | null {
  const window = contextWindow ?? Number.POSITIVE_INFINITY;
  const each = Math.min(maxTokens ?? Number.POSITIVE_INFINITY, window);
  return Number.isFinite(each) ? each * candidates : null;
}
