import type { CallFacts } from '@gw/methodology/facts';
import { areSound, isPossible } from '@gw/methodology/internals/facts/domain';
import { cases } from '@gw/testing/cases';

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { modelKind, wrongSize } from './model-entry.ts';

const odd = fc.oneof(fc.constantFrom(0, -1, 8, 70, 1e-9, 1e9), fc.double(), fc.integer({ min: 1, max: 2000 }));

/** Numbers of which most can be, since a model is accepted only if all of its numbers can. */
const mostly = (...common: (number | null)[]) =>
  fc.oneof({ arbitrary: fc.constantFrom(...common), weight: 3 }, { arbitrary: odd, weight: 1 });

const sizes = (...common: number[]) => {
  const size = mostly(...common);
  return fc.oneof(
    { arbitrary: fc.oneof(size, fc.record({ min: size, max: size })), weight: 8 },
    { arbitrary: fc.constantFrom(null, '8', [8]), weight: 1 },
  );
};
const bodies = fc.record(
  {
    id: fc.constant('m'),
    owned_by: fc.constant('acme'),
    kind: fc.constantFrom('chat', 'embedding'),
    active_parameters_b: sizes(3, 8, 37),
    total_parameters_b: sizes(37, 70, 671),
    quantization_bits: mostly(null, 4, 8, 16),
    tokens_per_s: mostly(null, 30, 90.5),
    ttft_s: mostly(null, 0.2, 1),
  },
  { requiredKeys: ['id', 'owned_by', 'kind'] },
);

test('what is accepted of a model lies where the formulas of receipts are defined', () => {
  let accepted = 0;
  fc.assert(
    fc.property(bodies, (body) => {
      const parsed = modelKind.addBody.safeParse(body);
      if (!parsed.success) return;
      const model = modelKind.added(parsed.data, new Date(0));
      if (wrongSize(model) !== null) return;
      accepted += 1;
      const facts = {
        model: {
          activeParametersB: model.active_parameters_b,
          totalParametersB: model.total_parameters_b,
          quantizationBits: model.quantization_bits,
          tokensPerS: model.tokens_per_s,
          ttftS: model.ttft_s,
        },
        site: { pue: 1, wueOnsiteLPerKwh: null },
        usage: { promptTokens: 1, cachedPromptTokens: 0, completionTokens: 1 },
        grid: null,
        upstreamLatencyS: null,
      } as unknown as CallFacts;
      expect(areSound(facts) && isPossible(facts.model)).toBe(true);
      for (const range of [model.active_parameters_b, model.total_parameters_b])
        if (range !== null) expect(range.min).toBeLessThanOrEqual(range.max);
    }),
    { numRuns: cases(3000) },
  );
  expect(accepted).toBeGreaterThan(cases(3000) / 60);
});
