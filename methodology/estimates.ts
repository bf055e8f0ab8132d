/**
 * What is modelled of a call: by the parameters of its model, or by a class.
 *
 * Invariant: an estimate reads the tokens as the methodology charges them, and nothing that was measured.
 */
import { countRatios } from './counts.ts';
import { uncountedBounds } from './factors.ts';
import type { CallFacts, GridReading, ModelClass, TokenUsage } from './facts.ts';
import type { Modelled } from './measured.ts';
import type { Methodology } from './methodologies.ts';
import { parametricEstimate } from './parametric.ts';
import { proxyEstimate } from './proxy.ts';
import type { TierChoice } from './tier.ts';
import { isGuessed } from './uncertainty.ts';
import type { Estimate } from './work.ts';

/** Facts with all that a calculation needs, within the formulas' domain. */
export type ReadyFacts = CallFacts & { readonly usage: TokenUsage; readonly grid: GridReading };
/** What the smallest class takes for as little as a call can be; null where the methodology has no floor for uncounted calls. */
export function fewestTokens(facts: CallFacts & { readonly grid: GridReading }, method: Methodology): Estimate | null {
  const { kind } = facts.model;
  const floorClass = method.floorClasses?.[kind] ?? null;
  if (!method.boundsUncounted || floorClass === null) return null;
  const { fewestTokens: tokens } = uncountedBounds;
  const [promptTokens, completionTokens] = kind === 'embedding' ? [tokens, 0] : [0, tokens];
  return classEstimate(
    floorClass,
    { ...facts, usage: { promptTokens, cachedPromptTokens: 0, completionTokens } },
    method,
  );
}

export function modelledOf(choice: TierChoice, facts: ReadyFacts, method: Methodology): Modelled | null {
  if (choice.tier === null) return null;
  const estimate = estimateOf(choice, facts, method);
  return estimate === null ? null : { tier: choice.tier, estimate };
}

function estimateOf(choice: TierChoice & { tier: string }, facts: ReadyFacts, method: Methodology): Estimate | null {
  if (choice.tier === 'proxy') return classEstimate(choice.modelClass, facts, method);
  const { upstreamLatencyS } = facts;
  return parametricEstimate(facts.model, { ...tokensOf(facts, method), upstreamLatencyS });
}

export function classEstimate(modelClass: ModelClass, facts: ReadyFacts, method: Methodology): Estimate {
  const { facts: about, ...tokens } = tokensOf(facts, method);
  return proxyEstimate(modelClass, { ...tokens, facts: { ...about, isGuessed: false } });
}

/** What is read and written, as far as it is charged. */
function tokensOf({ model, site, usage }: ReadyFacts, method: Methodology) {
  const { cachedPromptTokens, completionTokens, promptTokens } = usage;
  const outputTokens = model.kind === 'embedding' ? 0 : completionTokens;
  return {
    inputTokens: method.chargesInput ? Math.max(0, promptTokens - cachedPromptTokens) : 0,
    outputTokens,
    facts: { isGuessed: isGuessed(model), promptTokens, outputTokens, site, ratios: countRatios(usage, method) },
    combinesBounds: method.combinesBounds,
  };
}
