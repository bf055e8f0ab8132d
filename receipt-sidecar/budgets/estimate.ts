/**
 * What a call will use, before anybody has answered it: by the formulas of its receipt, with the length of its prompt as it is
 * measured and the longest answer that it allows.
 *
 * Invariant: central figures, never bounds. Null is what nobody can estimate; its receipt would have no number either.
 */
import type { Amounts } from '@gw/contract/internal/budgets';
import type { SnapshotModel } from '@gw/contract/internal/snapshot';
import { assess, type CallFacts } from '@gw/methodology/assess';
import type { ParsedRequest } from '../request/parsed-request.ts';
import type { Candidate } from '../snapshot.ts';

/** Tokens of an answer whose length the request does not bound: an assumption, a page of text. */
export const typicalAnswerTokens = 400;

type Asked = Pick<
  ParsedRequest,
  'candidates' | 'endpoint' | 'estimatedPromptTokens' | 'maxTokens' | 'mostPromptTokens' | 'options'
>;

/** How many tokens a call is estimated to read and to write. */
export function estimatedTokens({ candidates, endpoint, estimatedPromptTokens, maxTokens }: Asked) {
  const each = endpoint === 'embeddings' ? 0 : (maxTokens ?? typicalAnswerTokens);
  return { promptTokens: estimatedPromptTokens, completionTokens: each * candidates };
}

/** Returns what a call is estimated to use at a deployment; `at`: RFC 3339. */
export function estimateCall(
  request: Asked,
  model: SnapshotModel,
  { deployment, gridAt }: Candidate,
  at: string,
): Amounts {
  const { completionTokens, promptTokens } = estimatedTokens(request);
  const facts: CallFacts = {
    // Measured energy is not known beforehand.
    requestedTier: 'auto',
    boundary: request.options.boundary ?? 'comprehensive',
    requestedAt: at,
    usage: { promptTokens, cachedPromptTokens: 0, completionTokens },
    upstreamLatencyS: null,
    model,
    site: deployment,
    grid: gridAt(new Date(at)),
  };
  const first = assess(facts);
  const isUnknown = !first.ok && first.reason === 'model_parameters_unknown';
  const assessment = isUnknown ? assess({ ...facts, model: { ...model, modelClass: largest(model) } }) : first;
  const { carbon_g = null, energy_wh = null } = assessment.ok ? assessment.impact : {};
  return { carbon_g, energy_wh, tokens: promptTokens + completionTokens };
}

/** Of a model of which nothing is known; else it would be nothing, and no budget would hold for it. */
const largest = ({ kind }: SnapshotModel) => (kind === 'embedding' ? 'embedding' : 'frontier');
