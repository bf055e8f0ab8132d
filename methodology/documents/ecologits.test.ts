/** 200 random calls as EcoLogits 0.11.3 computes them: the formulas that are credited to it are its own. */
import { describe, expect, it } from 'vitest';
import { ecologitsSteps, embodiedOf } from '../testdata/ecologits.ts';
import reference from '../testdata/ecologits-random-cases.json' with { type: 'json' };
import { defaultMethodology, methodologyOf } from './methodologies.ts';

type Case = (typeof reference.cases)[number] | (typeof reference.empty)[number];

/** In the units of EcoLogits: kWh, kg, MJ, L. */
function computed({ input }: Case): Case['output'] {
  const step = ecologitsSteps({
    outputTokens: input.output_tokens,
    activeB: input.active_params_b,
    totalB: input.total_params_b,
    quantizationBits: input.quantization_bits,
    tokensPerS: input.tps,
    ttftS: input.ttft_s,
    latencyS: input.request_latency_s,
    pue: input.pue,
    wueOnsiteLPerKwh: input.wue_onsite_l_per_kwh,
    kgPerKwh: input.gwp_kg_per_kwh,
    waterLPerKwh: input.wue_l_per_kwh,
  });
  const making = embodiedOf(step('accelerator_time'));
  const kwh = step('request_energy') / 1000;
  return {
    gpu_energy: step('gpu_energy') / 1000,
    generation_latency: step('generation_latency'),
    model_required_memory: step('model_required_memory'),
    gpu_required_count: step('gpu_required_count'),
    server_energy: step('server_energy') / 1000,
    request_energy: kwh,
    usage_gwp: step('request_usage_gwp') / 1000,
    usage_adpe: kwh * input.adpe_kg_per_kwh,
    usage_pe: kwh * input.pe_mj_per_kwh,
    wcf: step('request_usage_wcf') / 1000,
    embodied_gwp: step('request_embodied_gwp') / 1000,
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
    expect(steps.request_embodied_gwp?.origin).toBe('gw');
    expect(steps.request_usage_gwp?.origin).toBe('ecologits-0.11.3');
  });
});
