/**
 * What a call will use, before anybody has answered it: by the formulas of its receipt, with the length of its prompt as it is
 * measured and the longest answer that it allows.
 *
 * Invariant: central figures, never bounds. Null is what nobody can estimate; its receipt would have no number either.
 */
import type { Amounts } from '@gw/contract/internal/budgets';
import type { TokenPrice } from '@gw/contract/internal/catalogue/prices';
import type { SnapshotModel } from '@gw/contract/internal/snapshot';
import type { ReceiptNumbers } from '@gw/contract/receipt';
import { assess, type CallFacts, type TokenUsage } from '@gw/methodology/assess';
import type { ParsedRequest } from '../../api/port/parsed-request.ts';
import { shapeOf } from '../../api/shapes.ts';
import type { Candidate } from '../../catalogue/snapshot.ts';

/** Tokens of an answer whose length the request does not bound: an assumption, a page of text. */
export const typicalAnswerTokens = 400;

type Asked = Pick<
  ParsedRequest,
  'candidates' | 'endpoint' | 'estimatedPromptTokens' | 'maxTokens' | 'mostPromptTokens' | 'options'
>;

/** How many tokens a call is estimated to read and to write. */
export function estimatedTokens({ candidates, endpoint, estimatedPromptTokens, maxTokens }: Asked) {
  const each = shapeOf(endpoint).kind === 'embedding' ? 0 : (maxTokens ?? typicalAnswerTokens);
  return { promptTokens: estimatedPromptTokens, completionTokens: each * candidates };
}

/** Returns what a call is estimated to use at a deployment; `at`: RFC 3339. */
export function estimateCall(
  request: Asked,
  model: SnapshotModel,
  { deployment, gridAt, priceAt }: Candidate,
  at: string,
): Amounts {
  const usage = estimatedTokens(request);
  const facts: CallFacts = {
    // Measured energy is not known beforehand.
    requestedTier: 'auto',
    boundary: request.options.boundary ?? 'comprehensive',
    requestedAt: at,
    usage: { ...usage, cachedPromptTokens: 0 },
    upstreamLatencyS: null,
    model,
    site: deployment,
    grid: gridAt(new Date(at)),
  };
  const first = assess(facts);
  const isUnknown = !first.ok && first.reason === 'model_parameters_unknown';
  const assessment = isUnknown ? assess({ ...facts, model: { ...model, modelClass: largest(model) } }) : first;
  const { carbon_g = null, energy_wh = null } = assessment.ok ? assessment.impact : {};
  const tokens = usage.promptTokens + usage.completionTokens;
  return { carbon_g, energy_wh, tokens, cost: costOf(usage, priceAt(model.id, new Date(at))) };
}

/** Returns what a call used by its receipt; null is what that has no number of. */
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

/** Returns what tokens cost; null without a price, or if nobody knows how many they were. */
function costOf(
  usage: Pick<TokenUsage, 'promptTokens' | 'completionTokens'> | null,
  price: TokenPrice | null,
): number | null {
  if (usage === null || price === null) return null;
  return (usage.promptTokens * price.inputPerMTok + usage.completionTokens * price.outputPerMTok) / 1e6;
}

/** Of a model of which nothing is known; else it would be nothing, and no budget would hold for it. */
const largest = ({ kind }: SnapshotModel) => (kind === 'embedding' ? 'embedding' : 'frontier');
