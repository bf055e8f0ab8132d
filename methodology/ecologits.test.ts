/** 200 random calls as EcoLogits 0.11.3 computes them: the formulas that are credited to it are its own. */
import { describe, expect, it } from 'vitest';
import { accountFor } from './boundary.ts';
import { embodiedOf } from './indicators.ts';
import { defaultMethodology, methodologyOf } from './methodologies.ts';
import { decode, decodeWork } from './parametric.ts';
import reference from './testdata/ecologits-random-cases.json' with { type: 'json' };

type Case = (typeof reference.cases)[number] | (typeof reference.empty)[number];

/** In the units of EcoLogits: kWh, kg, MJ, L. */
function computed({ input }: Case): Case['output'] {
  const conditions = {
    quantizationBits: input.quantization_bits,
    tokensPerS: input.tps,
    ttftS: input.ttft_s,
    upstreamLatencyS: input.request_latency_s,
  };
  const steps = decode(input.output_tokens, input.active_params_b, input.total_params_b, conditions);
  const site = { pue: input.pue, wueOnsiteLPerKwh: input.wue_onsite_l_per_kwh };
  const grid = { gPerKwh: input.gwp_kg_per_kwh * 1000, waterLPerKwh: input.wue_l_per_kwh };
  const request = accountFor(decodeWork(steps), site, grid, null);
  const making = embodiedOf(request.accelerator_time);
  const kwh = request.request_energy / 1000;
  return {
    gpu_energy: steps.gpu_energy / 1000,
    generation_latency: steps.generation_latency,
    model_required_memory: steps.model_required_memory,
    gpu_required_count: steps.gpu_required_count,
    server_energy: steps.server_energy / 1000,
    request_energy: kwh,
    usage_gwp: request.request_usage_gwp / 1000,
    usage_adpe: kwh * input.adpe_kg_per_kwh,
    usage_pe: kwh * input.pe_mj_per_kwh,
    wcf: (request.request_usage_wcf ?? Number.NaN) / 1000,
    embodied_gwp: request.request_embodied_gwp / 1000,
    embodied_adpe: making.adpeKgSb,
    embodied_pe: making.peMj,
  };
}

it('each step and result of 200 random cases is within 1e-9', () => {
  expect(reference.cases).toHaveLength(200);
  for (const [at, each] of reference.cases.entries()) {
    const ours = computed(each);
    for (const [name, value] of Object.entries(each.output)) {
      const found = ours[name as keyof typeof ours];
      expect(Math.abs(found - value), `${name} of case ${at}: ${found}, not ${value}`).toBeLessThanOrEqual(
        Math.abs(value) * 1e-9,
      );
    }
  }
});

it('has cases of each kind', () => {
  const has = (test: (input: Case['input']) => boolean) => reference.cases.filter(({ input }) => test(input)).length;
  expect(has(({ output_tokens: tokens }) => tokens === 0)).toBeGreaterThan(20);
  expect(has(({ request_latency_s: latency }) => latency !== null)).toBeGreaterThan(50);
  expect(has(({ tps }) => tps !== null)).toBeGreaterThan(50);
  expect(has(({ ttft_s: ttft }) => ttft !== null)).toBeGreaterThan(30);
  expect(has(({ active_params_b: active, total_params_b: total }) => active < total)).toBeGreaterThan(50);
  expect(has(({ quantization_bits: bits }) => bits === 4)).toBeGreaterThan(10);
});

describe('a call without output that has a time to the first token', () => {
  const ofTime = ['generation_latency', 'server_energy'] as const;
  const ofMemory = ['gpu_energy', 'model_required_memory', 'gpu_required_count'] as const;

  it('is charged that time by EcoLogits, and nothing here', () => {
    expect(reference.empty).toHaveLength(20);
    for (const each of reference.empty) {
      const { input, output } = each;
      expect(input.output_tokens).toBe(0);
      const time = Math.min(input.ttft_s ?? Number.NaN, input.request_latency_s ?? Number.POSITIVE_INFINITY);
      expect(output.generation_latency).toBeCloseTo(time, 12);
      expect(output.embodied_gwp).toBeGreaterThan(0);
      const ours = computed(each);
      for (const name of ofMemory) expect(ours[name]).toBeCloseTo(output[name], 9);
      for (const name of [...ofTime, 'request_energy', 'usage_gwp', 'embodied_gwp'] as const)
        expect(ours[name]).toBe(0);
    }
  });

  it('so the formula is not credited to EcoLogits, nor is what comes of it', () => {
    const { steps } = methodologyOf(defaultMethodology);
    expect(steps.generation_latency).toMatchObject({ origin: 'gw', formula: expect.stringMatching(/^T_out = 0 \? 0/) });
    expect(steps.request_embodied_gwp?.origin).toBe('gw');
    expect(steps.gpu_energy?.origin).toBe('ecologits-0.11.3');
  });
});
