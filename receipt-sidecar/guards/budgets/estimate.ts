/**
 * Estimates the use of a call before it is sent, by the formulas of its receipt, from the measured length of its prompt and the longest
 * answer that it allows.
 *
 * Invariant: estimates are central figures, never bounds. An amount is null if it cannot be estimated; its receipt would have no number
 * either.
 */
import type { Amounts } from '@gw/contract/internal/budgets';
import type { TokenPrice } from '@gw/contract/internal/catalogue/prices';
import type { SnapshotGridReading, SnapshotModel } from '@gw/contract/internal/snapshot';
import type { ReceiptNumbers } from '@gw/contract/receipt';
import { assess, type CallFacts, type Impact, type TokenUsage } from '@gw/methodology/assess';
import { type Footprint, footprintOf } from '@gw/methodology/footprint';
import type { OpenAnswer } from '@gw/service/budgets';
import type { ParsedRequest } from '../../api/port/parsed-request.ts';
import { sequencesOf } from '../../api/sequences.ts';
import { shapeOf } from '../../api/shapes.ts';
import type { Candidate, Named } from '../../catalogue/snapshot.ts';

import type { TokenEstimates } from '../token-limits.ts';

/** The assumed length of an answer that the request does not limit: a page of text. */
const typicalAnswerTokens = 400;

type EstimatedRequest = Pick<
  ParsedRequest,
  'candidates' | 'endpoint' | 'estimatedPromptTokens' | 'maxTokens' | 'options' | 'prompts'
>;

export function estimatedTokens({
  candidates,
  endpoint,
  estimatedPromptTokens,
  maxTokens,
}: Omit<EstimatedRequest, 'prompts'>) {
  const each = shapeOf(endpoint).kind === 'embedding' ? 0 : (maxTokens ?? usualAnswer({ endpoint }));
  return { promptTokens: estimatedPromptTokens, completionTokens: each * candidates };
}

/** The length that is assumed of an answer without a limit, in tokens. */
export const usualAnswer = ({ endpoint }: Pick<EstimatedRequest, 'endpoint'>): number =>
  shapeOf(endpoint).request.bound?.usual ?? typicalAnswerTokens;

export function tokenEstimates(request: Omit<EstimatedRequest, 'prompts'>, maxTokens: number | null): TokenEstimates {
  const typical = Math.min(maxTokens ?? typicalAnswerTokens, usualAnswer(request));
  const assumed = estimatedTokens({ ...request, maxTokens: typical });
  return { ...estimatedTokens({ ...request, maxTokens }), assumed: assumed.promptTokens + assumed.completionTokens };
}

/** `at`: RFC 3339. */
export function estimateCall(
  request: EstimatedRequest,
  model: SnapshotModel,
  candidate: Candidate,
  at: string,
): Amounts {
  const usage = estimatedTokens(request);
  const time = new Date(at);
  const impact = estimatedImpact(request, model, candidate, { at, usage, grid: candidate.gridAt(time) });
  const { carbon_g = null, energy_wh = null } = impact ?? {};
  const tokens = usage.promptTokens + usage.completionTokens;
  return { carbon_g, energy_wh, tokens, cost: costOf(usage, candidate.priceAt(model.id, time)) };
}

/** As `estimateCall`; `signal` replaces the grid reading where there is none. Null if nothing can be estimated. */
export function estimateFootprint(
  request: EstimatedRequest,
  model: SnapshotModel,
  candidate: Candidate,
  { at, signal }: { readonly at: string; readonly signal: SnapshotGridReading },
): Footprint | null {
  const grid = candidate.gridAt(new Date(at)) ?? { ...signal, signal: 'average' as const };
  const impact = estimatedImpact(request, model, candidate, { at, usage: estimatedTokens(request), grid });
  return impact && footprintOf(impact);
}

interface Estimated {
  readonly at: string;
  readonly usage: ReturnType<typeof estimatedTokens>;
  readonly grid: SnapshotGridReading | null;
}

function estimatedImpact(
  request: EstimatedRequest,
  model: SnapshotModel,
  { deployment }: Candidate,
  { at, grid, usage }: Estimated,
): Impact | null {
  const facts: CallFacts = {
    // Measured energy is unknown beforehand.
    requestedTier: 'auto',
    boundary: request.options.boundary ?? 'comprehensive',
    requestedAt: at,
    usage: { ...usage, ...sequencesOf(request), cachedPromptTokens: 0 },
    upstreamLatencyS: null,
    model,
    site: deployment,
    grid,
  };
  const first = assess(facts);
  const isUnknown = !first.ok && first.reason === 'model_parameters_unknown';
  const assessment = isUnknown ? assess({ ...facts, model: { ...model, modelClass: largest(model) } }) : first;
  return assessment.ok ? assessment.impact : null;
}

export interface Estimates {
  /** Is reserved at least; assumes the longest answer that the client allows, or one of typical length if the client sets no limit. */
  readonly estimate: Amounts;
  /**
   * Counts where the receipt of a call that ran has no number; assumes an answer of typical length at most, by the model that takes most of
   * those that may be asked.
   */
  readonly assumed: Amounts;
  /** Set if the answer can become longer than `estimate` assumes, and has to be bounded where the longest does not fit. */
  readonly open: OpenEstimates | null;
}

interface OpenEstimates extends OpenAnswer {
  /** With an answer of the length `to`. */
  readonly bounded: Amounts;
  /** With the longest answer that the model can write. */
  readonly whole: Amounts;
}

/**
 * How hard budgets hold for an answer that the client has not bounded: the gateway bounds it, or `reserve`: it cannot, so that the longest
 * answer is reserved. Null: no hard budget holds.
 */
export type Keeping = 'bound' | 'reserve' | null;

interface EstimatedRoute extends Pick<Named, 'modelOf'> {
  readonly failoverChain: readonly [Candidate, ...Candidate[]];
}

export function estimatesOf(
  request: EstimatedRequest,
  { failoverChain, modelOf }: EstimatedRoute,
  at: string,
  keeping: Keeping,
): Estimates {
  const [first] = failoverChain;
  const model = modelOf(first);
  const estimateOf = (maxTokens: number | null) => estimateCall({ ...request, maxTokens }, model, first, at);
  const estimate = estimateOf(request.maxTokens);
  const isTypical = request.maxTokens === null || request.maxTokens <= typicalAnswerTokens;
  const typical = isTypical ? request : { ...request, maxTokens: typicalAnswerTokens };
  let assumed = isTypical ? estimate : estimateCall(typical, model, first, at);
  const seen = new Set([model]);
  for (const candidate of failoverChain) {
    const other = modelOf(candidate);
    if (seen.has(other)) continue;
    seen.add(other);
    assumed = largerOf(assumed, estimateCall(typical, other, candidate, at));
  }
  const shape = shapeOf(request.endpoint);
  if (keeping === null || shape.kind === 'embedding' || request.maxTokens !== null)
    return { estimate, assumed, open: null };
  const longest = longestAnswer(request, [...seen]);
  const whole = estimateOf(longest);
  if (keeping === 'reserve') return { estimate: whole, assumed, open: null };
  const from = usualAnswer(request);
  const to = Math.min(shape.request.bound?.usual ?? everyModelWrites, longest, roomForAnswer(request, [...seen]));
  if (to < from) return { estimate: whole, assumed, open: null };
  return { estimate, assumed, open: { from, to, bounded: estimateOf(to), whole } };
}

const larger = (a: number | null, b: number | null): number | null => (a === null || (b !== null && b > a) ? b : a);

const largerOf = (a: Amounts, b: Amounts): Amounts => ({
  carbon_g: larger(a.carbon_g, b.carbon_g),
  energy_wh: larger(a.energy_wh, b.energy_wh),
  tokens: larger(a.tokens, b.tokens),
  cost: larger(a.cost, b.cost),
});

/**
 * The longest bound that the gateway sets. Providers refuse one that their model cannot write, and nobody knows it for each model; none of a
 * chat API is known to write less than this.
 */
export const everyModelWrites = 4096;

/** No published service writes a longer answer, whatever the window of its model. */
const mostWritten = 131_072;

/** Returns how long each answer is without a limit, as far as the models' windows and published services tell, in tokens. */
export function longestAnswer(
  request: Pick<EstimatedRequest, 'endpoint' | 'estimatedPromptTokens' | 'prompts'>,
  models: readonly SnapshotModel[],
): number {
  const windows = models.map(({ contextWindow }) => contextWindow ?? Number.POSITIVE_INFINITY);
  const left = Math.max(...windows) - Math.floor(request.estimatedPromptTokens / request.prompts);
  return Math.max(usualAnswer(request), Math.min(mostWritten, left));
}

/** The estimate of a prompt takes four bytes for a token. No known tokenizer makes more than this many times as many of any text (1.6 bytes for a token). */
const mostOverEstimate = 2.5;

/**
 * Returns how long each answer can be at most, in tokens, so that it certainly fits into all of the windows with its prompt. A provider refuses a
 * longer bound, which would look as if the prompt were too long.
 */
export function roomForAnswer(
  request: Pick<EstimatedRequest, 'estimatedPromptTokens' | 'prompts'>,
  models: readonly SnapshotModel[],
): number {
  const windows = models.map(({ contextWindow }) => contextWindow ?? Number.POSITIVE_INFINITY);
  return Math.min(...windows) - Math.ceil((mostOverEstimate * request.estimatedPromptTokens) / request.prompts);
}

/** Returns the use that the receipt of a call states; null where it has no number. */
export function amountsUsed(
  { numbers }: { readonly numbers: Pick<ReceiptNumbers, 'carbon_g' | 'energy_wh'> | null },
  usage: TokenUsage | null,
  { createdAt }: { readonly createdAt: string },
  model: SnapshotModel,
  servedBy: Candidate | null,
): Amounts {
  const price = servedBy?.priceAt(model.id, new Date(createdAt)) ?? null;
  const tokens = usage && usage.promptTokens + usage.completionTokens;
  return {
    carbon_g: numbers?.carbon_g ?? null,
    energy_wh: numbers?.energy_wh ?? null,
    tokens,
    cost: costOf(usage, price),
  };
}

/** Returns null if the price or the number of tokens is unknown. */
function costOf(
  usage: Pick<TokenUsage, 'promptTokens' | 'completionTokens'> | null,
  price: TokenPrice | null,
): number | null {
  if (usage === null || price === null) return null;
  return (usage.promptTokens * price.inputPerMTok + usage.completionTokens * price.outputPerMTok) / 1e6;
}

/** Assumed for a model without known parameters: with no estimate, no budget would apply to it. */
const largest = ({ kind }: SnapshotModel) => (kind === 'embedding' ? 'embedding' : 'frontier');
