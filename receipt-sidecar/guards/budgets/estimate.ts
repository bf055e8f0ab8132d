/**
 * Estimates the use of a call before it is sent, by the formulas of its receipt, from the measured length of its prompt and the longest
 * answer that it allows.
 *
 * Invariant: estimates are central figures, never bounds. An amount is null if it cannot be estimated; its receipt would have no number
 * either.
 */
import { type Amounts, budgetUnits } from '@gw/contract/internal/budgets';
import type { TokenPrice } from '@gw/contract/internal/catalogue/prices';
import type { SnapshotGridReading, SnapshotModel } from '@gw/contract/internal/snapshot';
import type { ReceiptNumbers } from '@gw/contract/receipt';
import { assess, type CallFacts, type Impact, type TokenUsage } from '@gw/methodology/assess';
import { type Footprint, footprintOf } from '@gw/methodology/footprint';
import type { ParsedRequest } from '../../api/port/parsed-request.ts';
import { shapeOf } from '../../api/shapes.ts';
import type { Candidate, Named } from '../../catalogue/snapshot.ts';

/** The assumed length of an answer that the request does not limit: a page of text. */
export const typicalAnswerTokens = 400;

type EstimatedRequest = Pick<
  ParsedRequest,
  'candidates' | 'endpoint' | 'estimatedPromptTokens' | 'maxTokens' | 'options'
>;

export function estimatedTokens({ candidates, endpoint, estimatedPromptTokens, maxTokens }: EstimatedRequest) {
  const each = shapeOf(endpoint).kind === 'embedding' ? 0 : (maxTokens ?? typicalAnswerTokens);
  return { promptTokens: estimatedPromptTokens, completionTokens: each * candidates };
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
  { options }: EstimatedRequest,
  model: SnapshotModel,
  { deployment }: Candidate,
  { at, grid, usage }: Estimated,
): Impact | null {
  const facts: CallFacts = {
    // Measured energy is unknown beforehand.
    requestedTier: 'auto',
    boundary: options.boundary ?? 'comprehensive',
    requestedAt: at,
    usage: { ...usage, cachedPromptTokens: 0 },
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

/** The two estimates of a call. */
export interface Estimates {
  /** Is reserved; assumes the longest answer that the call allows. */
  readonly estimate: Amounts;
  /**
   * Counts where the receipt of a call that ran has no number; assumes an answer of typical length at most, by the model that takes most of
   * those that may be asked.
   */
  readonly assumed: Amounts;
}

interface EstimatedRoute extends Pick<Named, 'modelOf'> {
  readonly failoverChain: readonly [Candidate, ...Candidate[]];
}

export function estimatesOf(
  request: EstimatedRequest,
  { failoverChain, modelOf }: EstimatedRoute,
  at: string,
): Estimates {
  const [first] = failoverChain;
  const model = modelOf(first);
  const estimate = estimateCall(request, model, first, at);
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
  return { estimate, assumed };
}

const larger = (a: number | null, b: number | null): number | null => (a === null || (b !== null && b > a) ? b : a);

const largerOf = (a: Amounts, b: Amounts): Amounts => ({
  carbon_g: larger(a.carbon_g, b.carbon_g),
  energy_wh: larger(a.energy_wh, b.energy_wh),
  tokens: larger(a.tokens, b.tokens),
  cost: larger(a.cost, b.cost),
});

/** No model of a chat API is known to write less, in tokens. */
const everyModelWrites = 4096;

/** A longer answer than this may be more than a model of which nobody knows the window can write. */
const unknownWindow = 4096;

/**
 * Returns the longest answer, in tokens, that a request without a limit can have within `room`; null if the model's window ends it before.
 * `assumed`: the estimate of the call, whose answer is of typical length.
 */
export function fittingAnswer(
  request: EstimatedRequest,
  model: SnapshotModel,
  by: Candidate,
  { assumed, at, room }: { readonly assumed: Amounts; readonly at: string; readonly room: Amounts },
): number | null {
  const most = model.contextWindow === null ? unknownWindow : model.contextWindow - request.estimatedPromptTokens;
  // An answer that is scaled with the whole estimate is never too long, and most calls need no second estimate.
  const isNear = budgetUnits.some((unit) => {
    const [all, left] = [assumed[unit], room[unit]];
    return all !== null && left !== null && left < all * (most / typicalAnswerTokens);
  });
  if (!isNear) return null;
  const prompt = estimateCall({ ...request, maxTokens: 0 }, model, by, at);
  const answers = budgetUnits.map((unit) => {
    const [all, left, read] = [assumed[unit], room[unit], prompt[unit]];
    if (all === null || left === null || read === null || all <= read) return Number.POSITIVE_INFINITY;
    return Math.floor((typicalAnswerTokens * (left - read)) / (all - read));
  });
  const longest = Math.max(1, Math.min(...answers));
  // Providers refuse a bound that their model cannot write, and nobody knows it for each model; all write this much.
  return longest < Math.min(most, everyModelWrites) ? longest : null;
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
