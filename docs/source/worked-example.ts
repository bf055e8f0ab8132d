/** The call of methodology/worked-example.md, from the package alone. */
import { assess, type CallFacts, type Impact } from '@gw/methodology/assess';
import { annualReading } from '@gw/methodology/grid-annual';
import { type Lineage, lineageOf } from '@gw/methodology/lineage';

export const workedFacts: CallFacts = {
  requestedTier: 'auto',
  boundary: 'comprehensive',
  requestedAt: '2026-11-21T09:30:00.000Z',
  usage: { promptTokens: 1200, cachedPromptTokens: 200, completionTokens: 400 },
  upstreamLatencyS: 14.2,
  model: {
    kind: 'chat',
    activeParametersB: { min: 70, max: 70 },
    totalParametersB: { min: 70, max: 70 },
    modelClass: 'large',
    quantizationBits: null,
    tokensPerS: null,
    ttftS: null,
  },
  site: { pue: 1.2, wueOnsiteLPerKwh: 0.3 },
  grid: annualReading('DEU'),
};

export function workedImpact(): Impact {
  const assessment = assess(workedFacts);
  if (!assessment.ok) throw new Error(assessment.explanation);
  return assessment.impact;
}

export function workedLineage(): Lineage {
  const result = lineageOf(workedFacts);
  if (!result.ok) throw new Error(result.explanation);
  return result.lineage;
}
