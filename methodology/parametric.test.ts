import { describe, expect, it } from 'vitest';
import { accountFor } from './boundary.ts';
import { embodiedOf, embodiedPerGpu } from './indicators.ts';
import { decode, decodeWork, readInput } from './parametric.ts';
import reference from './testdata/ecologits-cases.json' with { type: 'json' };

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
    const steps = runOf(input, side);
    const wanted: Record<string, Figure> | undefined = intermediate.value ?? intermediate[side];
    const gpus = steps.decode.gpu_required_count;
    const actual: Record<string, number> = {
      gpu_energy: steps.decode.gpu_energy / 1000,
      generation_latency: steps.decode.generation_latency,
      model_required_memory: steps.decode.model_required_memory,
      gpu_required_count: gpus,
      server_energy: steps.decode.server_energy / 1000,
      request_it_energy: steps.request.request_it_energy / 1000,
      request_energy: steps.request.request_energy / 1000,
      server_gpu_embodied_gwp: gpus * embodiedPerGpu.gwpKg,
      server_gpu_embodied_adpe: gpus * embodiedPerGpu.adpeKgSb,
      server_gpu_embodied_pe: gpus * embodiedPerGpu.peMj,
    };
    expect(Object.keys(wanted ?? {}).sort()).toEqual(Object.keys(actual).sort());
    for (const [id, figure] of Object.entries(wanted ?? {})) near(actual[id] ?? Number.NaN, end(figure, side));
  });

  it.each(ends)('results of $id, $side', ({ input, expected, side }) => {
    const { request } = runOf(input, side);
    const making = embodiedOf(request.accelerator_time);
    const kwh = request.request_energy / 1000;
    const { usage, embodied } = expected;
    expect(usage).toBeDefined();
    near(kwh, end(expected.energy_kwh, side));
    near((request.request_usage_gwp + request.request_embodied_gwp) / 1000, end(expected.gwp_kgco2eq, side));
    near(kwh * input.mix.adpe_kg_per_kwh + making.adpeKgSb, end(expected.adpe_kgsbeq, side));
    near(kwh * input.mix.pe_mj_per_kwh + making.peMj, end(expected.pe_mj, side));
    near((request.request_usage_wcf ?? Number.NaN) / 1000, end(expected.wcf_l, side));
    near(request.request_usage_gwp / 1000, end(usage?.gwp ?? Number.NaN, side));
    near(kwh * input.mix.adpe_kg_per_kwh, end(usage?.adpe ?? Number.NaN, side));
    near(kwh * input.mix.pe_mj_per_kwh, end(usage?.pe ?? Number.NaN, side));
    near(request.request_embodied_gwp / 1000, end(embodied.gwp, side));
    near(making.adpeKgSb, end(embodied.adpe, side));
    near(making.peMj, end(embodied.pe, side));
  });
});

/** EcoLogits takes ranges end by end: the lower parameters with the lower PUE and water, and so on. */
function runOf(input: (typeof cases)[number]['input'], side: keyof Range) {
  const decodeSteps = decode(
    input.output_tokens,
    end(input.active_params_b ?? Number.NaN, side),
    end(input.total_params_b ?? Number.NaN, side),
    {
      quantizationBits: null,
      tokensPerS: input.tps ?? null,
      ttftS: input.ttft_s ?? null,
      upstreamLatencyS: input.request_latency_s,
    },
  );
  const site = {
    pue: end(input.pue ?? Number.NaN, side),
    wueOnsiteLPerKwh: end(input.wue_onsite_l_per_kwh ?? Number.NaN, side),
  };
  const grid = { gPerKwh: input.mix.gwp_kg_per_kwh * 1000, waterLPerKwh: input.mix.wue_l_per_kwh };
  return { decode: decodeSteps, request: accountFor(decodeWork(decodeSteps), site, grid, null) };
}

const unmeasured = { quantizationBits: null, tokensPerS: null, ttftS: null, upstreamLatencyS: null };
const gpusFor = (totalB: number, bits: number | null = null) =>
  decode(1, 1, totalB, { ...unmeasured, quantizationBits: bits }).gpu_required_count;

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
    expect(decode(0, 8, 8, { ...unmeasured, ttftS: 2 }).generation_latency).toBe(0);
  });
});

describe('the prefill model', () => {
  it('charges 0.069 Wh for 1,000 input tokens of a 70B model', () => {
    expect(readInput(1000, 70).prefill_gpu_energy).toBeCloseTo(0.0688, 4);
  });

  it('charges 0.0003 Wh for an embedding of 1,000 tokens with 0.3B parameters', () => {
    expect(readInput(1000, 0.3).prefill_gpu_energy).toBeCloseTo(0.000295, 6);
  });
});
