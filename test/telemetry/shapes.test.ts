/** Energy that a provider reports, in each published shape, from its reply into the receipt and its lineage. */
import type { Receipt } from '@gw/contract/receipt';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addsUp } from '../sdk/decimal-text.ts';
import { additionsOf, collect, finishedReceipt, messages, openAi, receiptOf } from '../sdk/gateway.ts';
import { addModels, type MeteredModels, provenLineage, simulatedWh } from './metered.ts';

const shapes = ['neuralwatt', 'greenpt', 'melious', 'energy_header'] as const;
const fields = { neuralwatt: 'energy', greenpt: 'impact', melious: 'environment_impact' };
const modelOf = (shape: string): string => `shape-${shape}`;

let models: MeteredModels;
beforeAll(async () => {
  const one = (shape: string) => ({ model: modelOf(shape), deployments: [{ telemetry: shape }] });
  models = await addModels('shapes', [
    ...[...shapes, 'ecologits_impacts'].map(one),
    { model: modelOf('embedding'), kind: 'embedding', deployments: [{ telemetry: 'melious' }] },
    { model: modelOf('none'), deployments: [{ telemetry: null }] },
  ]);
});
afterAll(() => models.remove());

interface CallOptions {
  readonly model: string;
  readonly gw?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

const requestOf = ({ model, gw, body }: CallOptions) => ({
  model: modelOf(model),
  messages,
  ...(gw && { gw }),
  ...body,
});
const optionsOf = ({ headers }: CallOptions) => ({ headers: { 'x-sim-tokens': '25', ...headers } });

const ask = (asked: CallOptions) => openAi().chat.completions.create(requestOf(asked), optionsOf(asked));

async function askStream(asked: CallOptions, includeUsage: boolean) {
  const usage = includeUsage ? { stream_options: { include_usage: true } } : {};
  const request = { ...requestOf(asked), ...usage, stream: true as const };
  return collect(await openAi().chat.completions.create(request, optionsOf(asked)));
}

function streamReceipt(chunks: readonly unknown[]): Receipt {
  const carriers = chunks.filter((chunk) => additionsOf(chunk).gw !== undefined);
  // The last chunk with choices, and the usage chunk where it was asked for.
  const asked = chunks.some((chunk) => (chunk as { usage?: unknown }).usage);
  expect(carriers).toHaveLength(asked ? 2 : 1);
  const receipt = receiptOf(carriers[0]);
  expect(receiptOf(carriers.at(-1))).toEqual(receipt);
  return receipt;
}

function expectMeasured(receipt: Receipt): void {
  expect(receipt).toMatchObject({
    simulated: true,
    status: 'complete',
    tier: 'telemetry',
    usage_source: 'provider',
    completion_tokens: 25,
    energy_split: 'unavailable',
    energy_accelerator_wh: null,
    energy_host_wh: null,
    energy_idle_wh: null,
    energy_overhead_wh: null,
  });
  expect(receipt.tier_reason).toContain('energy that a simulator made up, not measured');
  const wh = simulatedWh(receipt);
  expect(Math.abs(Number(receipt.energy_wh) - wh)).toBeLessThanOrEqual(wh * 1e-11);
  // The intensity of the United States, per kWh; what is embodied comes on top.
  const operation = (Number(receipt.energy_wh) / 1000) * Number(receipt.grid_intensity_g_per_kwh);
  expect(Math.abs(Number(receipt.carbon_operation_g) - operation)).toBeLessThanOrEqual(operation * 1e-11);
  expect(receipt.carbon_embodied_g).toBeGreaterThan(0);
  expect(
    addsUp([Number(receipt.carbon_operation_g), Number(receipt.carbon_embodied_g)], Number(receipt.carbon_g)),
  ).toBe(true);
  const [low, high] = [Number(receipt.energy_low_wh), Number(receipt.energy_high_wh)];
  expect(low).toBeLessThan(wh);
  expect(high).toBeGreaterThan(wh);
  expect(receipt.modelled_energy_wh).toBeGreaterThan(0);
}

describe.each(shapes)('energy as %s', (shape) => {
  const asked: CallOptions = { model: shape, headers: { 'x-sim-energy': shape } };

  test.each(['auto', 'telemetry'])(
    'is the energy of a JSON reply under %s, with its raw value in the lineage',
    async (tier) => {
      const reply = await ask({ ...asked, gw: { tier } });
      const receipt = receiptOf(reply);
      expect(receipt.requested_tier).toBe(tier);
      expectMeasured(receipt);
      const { telemetry } = await provenLineage(receipt);
      expect(telemetry).toMatchObject({ used: true, source: 'simulator', energy_source: 'simulated', refused: null });
      if (shape === 'energy_header') expect(telemetry?.raw).toMatchObject({ 'x-energy-method': 'simulated' });
      else {
        // The provider's own words reach the client as they came, and the lineage as they were read.
        const said = (reply as unknown as Record<string, unknown>)[fields[shape]];
        expect(telemetry?.raw).toEqual(said);
      }
    },
  );

  test.each([false, true])('is the energy of a stream, include_usage %s', async (includeUsage) => {
    for (const tier of ['auto', 'telemetry']) {
      const chunks = await askStream({ ...asked, gw: { tier } }, includeUsage);
      const receipt = streamReceipt(chunks);
      expectMeasured(receipt);
      expect(chunks.filter((chunk) => chunk.usage).length).toBe(includeUsage ? 1 : 0);
      const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
      expect(text.length).toBeGreaterThan(20);
      const { telemetry } = await provenLineage(receipt);
      expect(telemetry).toMatchObject({ used: true, source: 'simulator' });
    }
  });

  test('falls back in auto, and not otherwise, where the provider says nothing', async () => {
    const quiet: CallOptions = { ...asked, headers: { ...asked.headers, 'x-sim-fault': 'no-energy' } };
    const automatic = receiptOf(await ask(quiet));
    expect(automatic).toMatchObject({ tier: 'parametric', tier_reason: expect.stringContaining('no measured energy') });
    const explicit = { ...quiet, gw: { tier: 'telemetry' } };
    const wanted = { tier: 'degraded', degraded_reason: 'tier_unavailable', energy_wh: null };
    expect(receiptOf(await ask(explicit))).toMatchObject(wanted);
    expect(streamReceipt(await askStream(explicit, true))).toMatchObject(wanted);
  });
});

describe("a provider's own estimate", () => {
  const asked: CallOptions = { model: 'ecologits_impacts', headers: { 'x-sim-energy': 'ecologits_impacts' } };

  test('is kept in the lineage, and the call is modelled', async () => {
    for (const receipt of [receiptOf(await ask(asked)), streamReceipt(await askStream(asked, true))]) {
      expect(receipt).toMatchObject({ tier: 'parametric', energy_split: 'modelled' });
      expect(receipt.tier_reason).toContain("it is the provider's own EcoLogits estimate, not a measurement");
      expect((await provenLineage(receipt)).telemetry).toMatchObject({ used: false, stated: { unit: 'kWh' } });
    }
  });

  test('serves no explicit telemetry, which is refused before the provider is asked', async () => {
    await expect(ask({ ...asked, gw: { tier: 'telemetry' } })).rejects.toMatchObject({ code: 'invalid_tier' });
  });
});

describe('what is not believed', () => {
  const everything = [...shapes, 'ecologits_impacts'].join(',');

  test('energy in the reply of a deployment that is not configured for any', async () => {
    const asked = { model: 'none', headers: { 'x-sim-energy': everything } };
    for (const receipt of [receiptOf(await ask(asked)), streamReceipt(await askStream(asked, true))]) {
      expect(receipt).toMatchObject({ tier: 'parametric', tier_reason: expect.stringContaining('no measured energy') });
      expect((await provenLineage(receipt)).telemetry).toBeNull();
    }
  });

  test.each(shapes)('another shape than %s, alone or beside it', async (shape) => {
    const others = shapes.filter((each) => each !== shape).join(',');
    const alone = receiptOf(await ask({ model: shape, headers: { 'x-sim-energy': others } }));
    expect(alone).toMatchObject({ tier: 'parametric', tier_reason: expect.stringContaining('no measured energy') });
    const beside = { model: shape, headers: { 'x-sim-energy': everything } };
    expectMeasured(receiptOf(await ask(beside)));
    expectMeasured(streamReceipt(await askStream(beside, false)));
  });

  test('what a client sends as energy', async () => {
    const body = { energy: { energy_joules: 1 }, impact: { energy: { total: 1, unit: 'Wms' } } };
    for (const shape of ['neuralwatt', 'energy_header'] as const) {
      const headers = { 'x-energy-joules': '1', 'x-sim-fault': 'no-energy', 'x-sim-echo-headers': '1' };
      const reply = await ask({ model: shape, headers, body });
      expect(receiptOf(reply).tier_reason).toContain('no measured energy');
      expect(JSON.stringify(reply)).not.toContain('x-energy-joules');
      const measured = { 'x-energy-joules': '1', 'x-sim-energy': shape };
      expectMeasured(receiptOf(await ask({ model: shape, headers: measured, body })));
    }
  });

  test("a provider's own gw beside its energy", async () => {
    const asked = { model: 'neuralwatt', headers: { 'x-sim-energy': 'neuralwatt', 'x-sim-fault': 'own-gw' } };
    const reply = await ask(asked);
    expect(JSON.stringify(reply)).not.toContain('forged');
    expectMeasured(receiptOf(reply));
    expectMeasured(streamReceipt(await askStream(asked, true)));
  });
});

test.each(['neuralwatt', 'greenpt', 'melious'])('%s said twice: the last word counts', async (shape) => {
  const asked = { model: shape, headers: { 'x-sim-energy': shape, 'x-sim-fault': 'energy-twice' } };
  expectMeasured(receiptOf(await ask(asked)));
  expectMeasured(streamReceipt(await askStream(asked, false)));
});

test('a header said twice is not a number', async () => {
  const asked = { model: 'energy_header', headers: { 'x-sim-energy': 'energy_header', 'x-sim-fault': 'energy-twice' } };
  const receipt = receiptOf(await ask(asked));
  expect(receipt).toMatchObject({ tier: 'parametric', tier_reason: expect.stringContaining('it is not a number') });
  expect((await provenLineage(receipt)).telemetry).toMatchObject({ used: false, refused: 'not_a_number' });
});

test('a stream that breaks off before its energy counts what was seen', async () => {
  for (const [tier, wanted] of [
    ['auto', 'parametric'],
    ['telemetry', 'degraded'],
  ] as const) {
    const headers = { 'x-sim-energy': 'neuralwatt', 'x-sim-fault': 'cut', 'x-sim-tokens-per-second': '200' };
    const request = { ...requestOf({ model: 'neuralwatt', gw: { tier } }), stream: true as const };
    const { data, response } = await openAi()
      .chat.completions.create(request, optionsOf({ model: '', headers }))
      .withResponse();
    await expect(collect(data)).rejects.toThrow();
    const id = response.headers.get('x-gw-receipt-id') ?? '';
    const receipt = await finishedReceipt(id);
    expect(receipt).toMatchObject({ status: 'upstream_error', tier: wanted, usage_source: 'estimated' });
  }
});

test('a stream that breaks off after its energy counts it', async () => {
  const faults = { 'x-sim-fault': 'cut,energy-twice', 'x-sim-tokens-per-second': '200' };
  const asked = { model: 'greenpt', gw: { tier: 'telemetry' }, headers: { 'x-sim-energy': 'greenpt', ...faults } };
  const request = { ...requestOf(asked), stream: true as const };
  const { data, response } = await openAi().chat.completions.create(request, optionsOf(asked)).withResponse();
  await expect(collect(data)).rejects.toThrow();
  const receipt = await finishedReceipt(response.headers.get('x-gw-receipt-id') ?? '');
  expect(receipt).toMatchObject({ status: 'upstream_error', tier: 'telemetry', usage_source: 'estimated' });
  expect((await provenLineage(receipt)).telemetry).toMatchObject({
    used: true,
    stated: { field: 'impact.energy.total' },
  });
});

test('a provider that stands still before its energy delays the receipt, and does not keep it', async () => {
  for (const includeUsage of [false, true]) {
    const asked = { model: 'neuralwatt', headers: { 'x-sim-energy': 'neuralwatt', 'x-sim-fault': 'stall-energy' } };
    const usage = includeUsage ? { stream_options: { include_usage: true } } : {};
    const request = { ...requestOf(asked), ...usage, stream: true as const };
    const stream = await openAi().chat.completions.create(request, optionsOf(asked));
    let receipt: Receipt | undefined;
    for await (const chunk of stream) {
      receipt = additionsOf(chunk).gw;
      // The stream itself goes on, until the provider or the client has had enough.
      if (receipt) break;
    }
    expect(receipt).toMatchObject({
      status: 'complete',
      tier: 'parametric',
      usage_source: 'provider',
      completion_tokens: 25,
    });
    expect(receipt?.tier_reason).toContain('no measured energy');
  }
});

test.each([false, true])('without usage the energy is still the energy (stream: %s)', async (stream) => {
  const headers = { 'x-sim-energy': 'neuralwatt', 'x-sim-fault': 'no-usage' };
  const receiptWith = async (more: Readonly<Record<string, string>>) => {
    const asked = { model: 'neuralwatt', gw: { tier: 'telemetry' }, headers: { ...headers, ...more } };
    return stream ? streamReceipt(await askStream(asked, false)) : receiptOf(await ask(asked));
  };
  const counted = await receiptWith({});
  expect(counted).toMatchObject({ tier: 'telemetry', usage_source: 'estimated' });
  expect(counted.energy_wh).toBeGreaterThan(0);
  await provenLineage(counted);
  // No text, so nothing to estimate from.
  const uncounted = await receiptWith({ 'x-sim-tokens': '0' });
  expect(uncounted).toMatchObject({
    tier: 'telemetry',
    usage_source: null,
    prompt_tokens: null,
    completion_tokens: null,
    carbon_embodied_g: null,
  });
  expect(uncounted.energy_wh).toBeGreaterThan(0);
  expect(uncounted.carbon_g).toBeGreaterThan(0);
  expect((await provenLineage(uncounted)).telemetry).toMatchObject({ used: true });
});

test('an embedding has its energy too', async () => {
  for (const tier of ['auto', 'telemetry']) {
    const request = { model: modelOf('embedding'), input: ['one text', 'and another'], gw: { tier } };
    const options = { headers: { 'x-sim-energy': 'melious' } };
    const receipt = receiptOf(await openAi().embeddings.create(request, options));
    expect(receipt).toMatchObject({ tier: 'telemetry', completion_tokens: 0 });
    expect(Number(receipt.energy_wh)).toBeCloseTo(simulatedWh(receipt), 12);
    expect((await provenLineage(receipt)).telemetry).toMatchObject({ used: true, source: 'simulator' });
  }
});

test('a stream without [DONE] has its energy all the same', async () => {
  const headers = { 'x-sim-energy': 'neuralwatt' };
  const open = await askStream({ model: 'neuralwatt', headers: { ...headers, 'x-sim-fault': 'no-done' } }, false);
  expectMeasured(streamReceipt(open));
});
