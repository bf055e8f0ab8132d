import { describe, expect, it } from 'vitest';
import { ecologitsSteps, embodiedOf, embodiedPerGpu } from '../testdata/ecologits.ts';
import reference from '../testdata/ecologits-cases.json' with { type: 'json' };

interface Range {
  readonly min: number;
  readonly max: number;
}
type Figure = number | Range;
const end = (figure: Figure, side: keyof Range): number => (typeof figure === 'number' ? figure : figure[side]);

function near(actual: number, expected: number): void {
  expect(Math.abs(actual - expected)).toBeLessThanOrEqual(Math.abs(expected) * reference.relative_tolerance);
}

/** The cases that state their parameters; the others name a model of EcoLogits' own catalogue. */
const cases = reference.cases.flatMap((item) => {
  const { input, intermediate } = item;
  if (input.mix === undefined || intermediate === undefined) return [];
  return [{ id: item.id, input: { ...input, mix: input.mix }, intermediate, expected: item.expected }];
});

const ends = cases.flatMap((item) => (['min', 'max'] as const).map((side) => ({ ...item, side })));

describe('EcoLogits 0.11.3 is reproduced to 1e-9', () => {
  it('by all eight cases with explicit parameters', () => {
    expect(cases).toHaveLength(8);
  });

  it.each(ends)('steps of $id, $side', ({ input, intermediate, side }) => {
    const step = runOf(input, side);
    const wanted: Record<string, Figure> | undefined = intermediate.value ?? intermediate[side];
    const gpus = step('gpu_required_count');
    const actual: Record<string, number> = {
      gpu_energy: step('gpu_energy') / 1000,
      generation_latency: step('generation_latency'),
      model_required_memory: step('model_required_memory'),
      gpu_required_count: gpus,
      server_energy: step('server_energy') / 1000,
      request_it_energy: step('request_it_energy') / 1000,
      request_energy: step('request_energy') / 1000,
      server_gpu_embodied_gwp: gpus * embodiedPerGpu.gwpKg,
      server_gpu_embodied_adpe: gpus * embodiedPerGpu.adpeKgSb,
      server_gpu_embodied_pe: gpus * embodiedPerGpu.peMj,
    };
    expect(Object.keys(wanted ?? {}).sort()).toEqual(Object.keys(actual).sort());
    for (const [id, figure] of Object.entries(wanted ?? {})) near(actual[id] ?? Number.NaN, end(figure, side));
  });

  it.each(ends)('results of $id, $side', ({ input, expected, side }) => {
    const step = runOf(input, side);
    const making = embodiedOf(step('accelerator_time'));
    const kwh = step('request_energy') / 1000;
    const { usage, embodied } = expected;
    expect(usage).toBeDefined();
    near(kwh, end(expected.energy_kwh, side));
    near((step('request_usage_gwp') + step('request_embodied_gwp')) / 1000, end(expected.gwp_kgco2eq, side));
    near(kwh * input.mix.adpe_kg_per_kwh + making.adpeKgSb, end(expected.adpe_kgsbeq, side));
    near(kwh * input.mix.pe_mj_per_kwh + making.peMj, end(expected.pe_mj, side));
    near(step('request_usage_wcf') / 1000, end(expected.wcf_l, side));
    near(step('request_usage_gwp') / 1000, end(usage?.gwp ?? Number.NaN, side));
    near(kwh * input.mix.adpe_kg_per_kwh, end(usage?.adpe ?? Number.NaN, side));
    near(kwh * input.mix.pe_mj_per_kwh, end(usage?.pe ?? Number.NaN, side));
    near(step('request_embodied_gwp') / 1000, end(embodied.gwp, side));
    near(making.adpeKgSb, end(embodied.adpe, side));
    near(making.peMj, end(embodied.pe, side));
  });
});

/** EcoLogits takes ranges end by end: the lower parameters with the lower PUE and water, and so on. */
function runOf(input: (typeof cases)[number]['input'], side: keyof Range) {
  return ecologitsSteps({
    outputTokens: input.output_tokens,
    activeB: end(input.active_params_b ?? Number.NaN, side),
    totalB: end(input.total_params_b ?? Number.NaN, side),
    tokensPerS: input.tps ?? null,
    ttftS: input.ttft_s ?? null,
    latencyS: input.request_latency_s,
    pue: end(input.pue ?? Number.NaN, side),
    wueOnsiteLPerKwh: end(input.wue_onsite_l_per_kwh ?? Number.NaN, side),
    kgPerKwh: input.mix.gwp_kg_per_kwh,
    waterLPerKwh: input.mix.wue_l_per_kwh,
  });
}

const gpusFor = (totalB: number, quantizationBits: number | null = null) =>
  ecologitsSteps({ outputTokens: 1, activeB: 1, totalB, quantizationBits })('gpu_required_count');

describe('the decode model', () => {
  it.each([
    [1e-9, 1],
    [33, 1],
    [34, 2],
    [66, 2],
    [67, 4],
    [405, 16],
  ])('puts %s billion parameters on %s GPUs', (totalB, gpus) => {
    expect(gpusFor(totalB)).toBe(gpus);
  });

  it('needs fewer GPUs for a model with smaller weights', () => {
    expect(gpusFor(117)).toBe(4);
    expect(gpusFor(117, 4)).toBe(1);
  });

  it('takes no time for no output, also with a known time to the first token', () => {
    const step = ecologitsSteps({ outputTokens: 0, activeB: 8, totalB: 8, ttftS: 2 });
    expect(step('generation_latency')).toBe(0);
  });
});
