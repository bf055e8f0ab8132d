/**
 * Finds the token counts that a provider states, in every place that is known, by the names of usage-names.ts. OpenAI's come first; the others are
 * of servers that speak OpenAI's API and keep their own counts in it, or of proxies that pass on what stands behind them.
 *
 * Invariant: reading a reply or a chunk costs a bounded number of look-ups, whatever it holds. A name that is not known is no count.
 */
import type { ClaimedUsage } from '../port/shape.ts';
import { count, field, firstOf, flatNames, isCount, known, sumOf } from './usage-names.ts';

/** Reads an object with counts, under any of the names; null if it states neither prompt nor completion nor total. */
export function readClaim(usage: unknown): ClaimedUsage | null {
  if (usage === null || typeof usage !== 'object') return null;
  const prompt = firstOf(usage, known.prompt);
  const completion = firstOf(usage, known.completion);
  const total = firstOf(usage, known.total);
  const hit = count(field(usage, 'prompt_cache_hit_tokens'));
  const miss = count(field(usage, 'prompt_cache_miss_tokens'));
  const split = hit !== null && miss !== null ? hit + miss : null;
  if (prompt === null && completion === null && total === null && split === null) return null;
  const read = firstOf(usage, known.cached);
  const whole = prompt === null ? split : prompt + besides(usage, { prompt, completion, total, read });
  const missed = whole !== null && miss !== null && miss <= whole ? whole - miss : null;
  return {
    prompt: whole,
    completion,
    total,
    cached: read ?? missed,
    reasoning: firstOf(usage, known.reasoning),
    rejected: count(field(field(usage, 'completion_tokens_details'), 'rejected_prediction_tokens')),
  };
}

interface Stated {
  readonly prompt: number;
  readonly completion: number | null;
  readonly total: number | null;
  readonly read: number | null;
}

/** Names by which only counts go that leave out what was read from a cache or written to one. */
const leaveOut = ['cacheReadInputTokens', 'cacheReadInputTokenCount', 'cache_n'];

/**
 * Returns the tokens of the prompt that are counted beside it. A total decides, where one is stated; otherwise the names do: Anthropic's
 * `input_tokens`, Bedrock's counts and llama.cpp's timings leave out the cache, and no prompt is smaller than its cached part.
 */
function besides(usage: object, { completion, prompt, read, total }: Stated): number {
  const fromTools = sumOf(firstOf(usage, known.toolPrompt));
  const cache = sumOf(read, firstOf(usage, known.stored));
  if (cache === 0) return fromTools;
  const counted = sumOf(prompt, completion);
  if (total === counted) return fromTools;
  if (total === counted + cache) return cache;
  // OpenAI's details are parts of the prompt by definition.
  if ('prompt_tokens_details' in usage || 'input_tokens_details' in usage) return fromTools;
  const isAnthropic = 'cache_read_input_tokens' in usage && !('prompt_tokens' in usage);
  const isApart = isAnthropic || leaveOut.some((name) => name in usage) || sumOf(read) > prompt;
  return isApart ? cache : fromTools;
}

/** Objects of a reply that hold counts, best first: where two speak of the same reply, the first is what the provider charges by. */
const places: ReadonlyMap<string, (value: unknown) => unknown> = new Map([
  ['usage', (value: unknown) => value],
  // Groq
  ['x_groq', (value: unknown) => field(value, 'usage')],
  // Gemini
  ['usageMetadata', (value: unknown) => value],
  ['usage_metadata', (value: unknown) => value],
  // Bedrock's streams
  ['metadata', (value: unknown) => field(value, 'usage')],
  ['amazon-bedrock-invocationMetrics', (value: unknown) => value],
  // Cohere
  ['meta', (value: unknown) => value],
  // llama.cpp, TGI
  ['timings', (value: unknown) => value],
  ['details', (value: unknown) => value],
]);
const rankOf = new Map([...places.keys()].map((name, rank) => [name, rank]));
/** The rank of counts that stand in the reply itself. */
const flatRank = places.size;
/** Behind `usage`: Moonshot states the usage of each choice within it, and proxies in what it says. */
const choiceRank = 0.5;

export interface FoundClaim {
  readonly claim: ClaimedUsage;
  /** The lower, the better: a claim is not replaced by one of a higher rank. */
  readonly rank: number;
  /** The index of the choice that it is about; null if it is about the reply. */
  readonly choice: number | null;
}

/** Returns what a reply or a chunk states; of several places the best holds, and each choice of `choices` for itself. */
export function claimsIn(reply: object): readonly FoundClaim[] {
  let best: FoundClaim | null = null;
  let isFlat = false;
  for (const name in reply) {
    const rank = rankOf.get(name);
    isFlat ||= flatNames.has(name);
    if (rank === undefined || (best !== null && best.rank <= rank)) continue;
    const claim = readClaim(places.get(name)?.(field(reply, name)));
    if (claim) best = { claim, rank, choice: null };
  }
  if (best !== null && best.rank < choiceRank) return [withCacheOf(reply, best)];
  const choices = ofChoices(field(reply, 'choices'));
  if (choices.length > 0) return choices;
  if (best !== null) return [best];
  const claim = isFlat ? readClaim(reply) : null;
  return claim ? [{ claim, rank: flatRank, choice: null }] : [];
}

/** Some state the cached tokens beside the usage. */
function withCacheOf(reply: object, found: FoundClaim): FoundClaim {
  const cached = found.claim.cached ?? count(field(reply, 'cached_tokens'));
  return cached === found.claim.cached ? found : { ...found, claim: { ...found.claim, cached } };
}

/** A reply has at most 128 choices of each prompt, and a claim about any further one is no use. */
const mostChoices = 1024;

function ofChoices(choices: unknown): FoundClaim[] {
  if (!Array.isArray(choices)) return [];
  return choices.slice(0, mostChoices).flatMap((choice, at) => {
    const usage =
      field(choice, 'usage') ?? field(field(choice, 'delta'), 'usage') ?? field(field(choice, 'message'), 'usage');
    const claim = usage ? readClaim(usage) : null;
    if (claim === null) return [];
    const index = field(choice, 'index');
    return [{ claim, rank: choiceRank, choice: isCount(index) && index < mostChoices ? index : at }];
  });
}

/** Null if neither states it. */
const sumOrNone = (a: number | null, b: number | null): number | null =>
  a === null && b === null ? null : sumOf(a, b);

/** Returns the claim of a reply whose choices state theirs: they share one prompt, and each has written its own. */
export function claimOfChoices(claims: readonly ClaimedUsage[]): ClaimedUsage | null {
  const [first, ...others] = claims;
  if (first === undefined || others.length === 0) return first ?? null;
  return others.reduce(
    (all, each) => ({
      prompt: all.prompt ?? each.prompt,
      completion: sumOrNone(all.completion, each.completion),
      total: null,
      cached: all.cached ?? each.cached,
      reasoning: sumOrNone(all.reasoning, each.reasoning),
      rejected: sumOrNone(all.rejected, each.rejected),
    }),
    { ...first, total: null },
  );
}
