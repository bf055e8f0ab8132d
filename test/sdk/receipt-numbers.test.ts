/** The numbers of receipts, recomputed from their own inputs by the published formulas. */
import type { Receipt } from '@gw/contract/receipt';
import { expect, test } from 'vitest';
import { addsUp, significantDigits } from './decimal-text.ts';
import { collect, openAi, receiptOf } from './gateway.ts';
import { expectedNumbers, gridYearsOf, type Inputs, parametersOf, siteOf } from './published-formulas.ts';

const client = openAi();

interface Case {
  readonly endpoint: 'chat' | 'stream' | 'completions' | 'embeddings';
  readonly model: string;
  readonly region: string;
  readonly boundary?: 'comprehensive' | 'narrow';
  readonly tier?: 'parametric' | 'proxy';
  readonly tokens: number;
  /** Words of the prompt. */
  readonly words: number;
}

async function receiptFor(what: Case): Promise<Receipt> {
  const { boundary, tier, region, model } = what;
  const prompt = 'word '.repeat(what.words).trim();
  const gw = { region, ...(boundary && { boundary }), ...(tier && { tier }) };
  const chat = { model, messages: [{ role: 'user' as const, content: prompt }], gw };
  const legacy = { model, prompt, gw };
  const embedding = { model, input: prompt, gw };
  const options = { headers: { 'x-sim-tokens': String(what.tokens) } };
  switch (what.endpoint) {
    case 'chat':
      return receiptOf(await client.chat.completions.create(chat, options));
    case 'stream': {
      const stream = await client.chat.completions.create({ ...chat, stream: true as const }, options);
      return receiptOf((await collect(stream)).at(-1));
    }
    case 'completions':
      return receiptOf(await client.completions.create(legacy, options));
    case 'embeddings':
      return receiptOf(await client.embeddings.create(embedding, options));
  }
}

const parameters = (model: string) => {
  const found = parametersOf[model];
  if (!found) throw new Error(`No parameters of ${model}.`);
  return found;
};

/** The receipt's own inputs, once they have been seen to be the right ones. */
function inputsOf(receipt: Receipt): Inputs {
  const site = siteOf[receipt.region ?? ''];
  if (!site || receipt.prompt_tokens === null || receipt.completion_tokens === null) throw new Error('No inputs.');
  expect(receipt).toMatchObject({ pue: site.pue, grid_intensity_g_per_kwh: site.gPerKwh });
  const model = parameters(receipt.model);
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = receipt;
  const gridYears = gridYearsOf(receipt);
  return { ...site, model, promptTokens, completionTokens, gridYears };
}

function expectNumbers(receipt: Receipt, inputs: Inputs): void {
  const expected = expectedNumbers(inputs, receipt.boundary, receipt.tier === 'proxy' ? 'proxy' : 'parametric');
  for (const [field, value] of Object.entries(expected)) {
    const actual = receipt[field as keyof Receipt];
    if (value === null) expect(actual, field).toBeNull();
    else
      expect(Math.abs(Number(actual) - value), `${field}: ${actual}, not ${value}`).toBeLessThanOrEqual(value * 1e-6);
  }
}

const known = (values: readonly (number | null)[]): number[] => values.filter((value) => value !== null);

function expectSums(receipt: Receipt): void {
  const energies = [receipt.energy_accelerator_wh, receipt.energy_host_wh, receipt.energy_idle_wh];
  expect(addsUp(known([...energies, receipt.energy_overhead_wh]), receipt.energy_wh ?? Number.NaN)).toBe(true);
  const carbon = known([receipt.carbon_operation_g, receipt.carbon_embodied_g]);
  expect(addsUp(carbon, receipt.carbon_g ?? Number.NaN)).toBe(true);
  for (const value of Object.values(receipt)) {
    if (typeof value === 'number') expect(significantDigits(value)).toBeLessThanOrEqual(12);
  }
}

const cases: readonly Case[] = [
  { endpoint: 'chat', model: 'sim-small', region: 'us-east', tokens: 20, words: 1 },
  { endpoint: 'chat', model: 'sim-large', region: 'eu-north', tokens: 11, words: 700 },
  { endpoint: 'chat', model: 'sim-measured', region: 'eu-west', tier: 'parametric', tokens: 13, words: 30 },
  { endpoint: 'chat', model: 'sim-large', region: 'us-east', boundary: 'narrow', tokens: 5, words: 50 },
  { endpoint: 'chat', model: 'sim-small', region: 'eu-west', tier: 'proxy', tokens: 7, words: 9 },
  {
    endpoint: 'chat',
    model: 'sim-measured',
    region: 'us-east',
    tier: 'proxy',
    boundary: 'narrow',
    tokens: 3,
    words: 2,
  },
  { endpoint: 'stream', model: 'sim-small', region: 'eu-north', tokens: 17, words: 400 },
  { endpoint: 'stream', model: 'sim-large', region: 'us-east', tokens: 9, words: 3 },
  { endpoint: 'completions', model: 'sim-small', region: 'us-east', tokens: 8, words: 80 },
  { endpoint: 'completions', model: 'sim-measured', region: 'eu-north', tier: 'parametric', tokens: 6, words: 1 },
  { endpoint: 'embeddings', model: 'sim-embed', region: 'eu-west', tokens: 0, words: 1500 },
  { endpoint: 'embeddings', model: 'sim-embed', region: 'us-east', boundary: 'narrow', tokens: 0, words: 1 },
];

const title = ({ endpoint, model, region, boundary, tier, tokens, words }: Case): string =>
  [endpoint, model, region, boundary, tier, `${words} words in`, `${tokens} tokens out`].filter(Boolean).join(', ');

test.concurrent.each(cases.map((what) => [title(what), what] as const))(
  'numbers follow the formulas and sums hold in decimal: %s',
  async (_, what) => {
    const receipt = await receiptFor(what);
    expect(receipt).toMatchObject({ model: what.model, region: what.region, completion_tokens: what.tokens });
    expect(receipt).toMatchObject({ tier: what.tier ?? 'parametric', boundary: what.boundary ?? 'comprehensive' });
    expect(receipt).toMatchObject({ usage_source: 'provider', energy_split: 'modelled', methodology: 'gw-2.0' });
    expectNumbers(receipt, inputsOf(receipt));
    expectSums(receipt);
  },
);

test.each(['chat', 'stream', 'completions'] as const)(
  'measured energy is taken as it is told, %s',
  async (endpoint) => {
    const what: Case = { endpoint, model: 'sim-measured', region: 'eu-north', tokens: 21, words: 40 };
    const receipt = await receiptFor(what);
    expect(receipt).toMatchObject({ tier: 'telemetry', requested_tier: 'auto', energy_split: 'unavailable' });
    // The simulator states 640 W, an eighth of them, 60 tokens/s written and 3,000 read.
    const wh = (640 * 0.125 * (21 / 60 + Number(receipt.prompt_tokens) / 3000)) / 3600;
    const inputs = inputsOf(receipt);
    // Made of the same accelerators for the same time, whoever measured what they took.
    const { carbon_embodied_g: embodied } = expectedNumbers(inputs, 'comprehensive', 'parametric');
    const expected = {
      energy_wh: wh,
      carbon_operation_g: (wh / 1000) * inputs.gPerKwh,
      carbon_embodied_g: Number(embodied),
      carbon_g: (wh / 1000) * inputs.gPerKwh + Number(embodied),
    };
    for (const [field, value] of Object.entries(expected)) {
      expect(Math.abs(Number(receipt[field as keyof Receipt]) - value), field).toBeLessThanOrEqual(value * 1e-6);
    }
    expectSums({ ...receipt, energy_accelerator_wh: receipt.energy_wh });
  },
);

test('the grid value is dated: the year that it stands for ended as long ago as the receipt says', async () => {
  const receipt = await receiptFor({ endpoint: 'chat', model: 'sim-small', region: 'us-east', tokens: 1, words: 1 });
  expect(receipt).toMatchObject({
    grid_zone: 'USA',
    grid_intensity_source: 'ember-2025 (EcoLogits 0.11.3, year inferred)',
    grid_temporal_match: 'annual_fallback',
    grid_intensity_observed_at: '2026-01-01T00:00:00.000Z',
    grid_intensity_requested_at: receipt.created_at,
  });
  const ageMinutes = (Date.parse(receipt.created_at) - Date.parse('2026-01-01T00:00:00.000Z')) / 60_000;
  // With one decimal.
  expect(Math.abs((receipt.grid_intensity_age_minutes ?? 0) - ageMinutes)).toBeLessThan(0.051);
});
