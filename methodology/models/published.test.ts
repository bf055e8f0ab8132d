/** The bounds of known models hold what others have published for them, for an answer of 500 tokens unless it says otherwise. */
import { expect, test } from 'vitest';
import { assess } from '../receipt/assess.ts';
import { call } from '../testdata/facts.ts';
import { findModel } from './known-models.ts';

test.each<[string, number, string, number, number]>([
  ['gpt-oss-120b', 0.035, 'ML.ENERGY v3, energy of the GPUs, mean of 20 runs at batches of 16 to 256', 200, 500],
  ['gpt-4o-mini', 0.061, 'EcoLogits 0.11.3', 200, 500],
  ['gemini-2.5-flash', 0.24, "arXiv 2508.15734: Google's median prompt, whose tokens are not stated", 200, 300],
  ['gpt-4o', 0.34, 'OpenAI: an average query', 200, 500],
  ['deepseek-r1', 0.31, 'arXiv 2509.20241 v2: median above 200 billion parameters', 500, 300],
])('%s: %d Wh by %s', (name, publishedWh, _source, promptTokens, completionTokens) => {
  const known = findModel(name);
  if (known === null) throw new Error(`${name} is not known`);
  const model = {
    kind: known.kind,
    activeParametersB: known.active,
    totalParametersB: known.total,
    modelClass: null,
    quantizationBits: known.bits,
    tokensPerS: known.tokensPerS,
    ttftS: known.ttftS,
    parametersSource: known.source,
  };
  const usage = { promptTokens, cachedPromptTokens: 0, completionTokens };
  const assessed = assess({ ...call, model, usage });
  if (!assessed.ok) throw new Error(assessed.reason);
  expect(assessed.impact.tier).toBe('parametric');
  expect(publishedWh).toBeGreaterThanOrEqual(assessed.impact.energy_low_wh);
  expect(publishedWh).toBeLessThanOrEqual(assessed.impact.energy_high_wh);
});
