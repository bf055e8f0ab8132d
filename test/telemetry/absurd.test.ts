/** Energy that cannot be right: it is refused, in words, and the completion arrives with what can be said without it. */
import type { Receipt } from '@gw/contract/receipt';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { additionsOf, collect, eventually, get, messages, openAi, receiptOf } from '../sdk/gateway.ts';
import { addModels, type MeteredModels, provenLineage } from './metered.ts';

const shapes = ['neuralwatt', 'greenpt', 'melious', 'energy_header'] as const;
type Shape = (typeof shapes)[number];
const modelOf = (shape: string): string => `absurd-${shape}`;
/** Units of each shape in a watt-hour. */
const perWh: Readonly<Record<Shape, number>> = {
  neuralwatt: 3600,
  greenpt: 3_600_000,
  melious: 0.001,
  energy_header: 3600,
};

let models: MeteredModels;
let estimateWh: number;
beforeAll(async () => {
  models = await addModels('absurd', [
    ...shapes.map((shape) => ({ model: modelOf(shape), deployments: [{ telemetry: shape }] })),
    { model: 'absurd-unknown', isUnknown: true, deployments: [{ telemetry: 'energy_header' }] },
  ]);
  estimateWh = Number((await ask('neuralwatt', null, 'parametric')).energy_wh);
});
afterAll(() => models.remove());

/** Long enough for the fitted time to count, so that the estimate is the same in each call. */
const headersFor = (shape: Shape, value: string | null, more: Readonly<Record<string, string>> = {}) => ({
  'x-sim-tokens': '5',
  'x-sim-delay-ms': '300',
  'x-sim-energy': shape,
  ...(value !== null && { 'x-sim-energy-value': value }),
  ...more,
});

async function ask(shape: Shape, value: string | null, tier = 'auto', more = {}): Promise<Receipt> {
  const request = { model: modelOf(shape), messages, gw: { tier } };
  return receiptOf(await openAi().chat.completions.create(request, { headers: headersFor(shape, value, more) }));
}

async function askStream(shape: Shape, value: string | null, tier = 'auto', more = {}): Promise<Receipt> {
  const request = { model: modelOf(shape), messages, gw: { tier }, stream: true as const };
  const options = { headers: headersFor(shape, value, more) };
  const chunks = await collect(await openAi().chat.completions.create(request, options));
  expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('').length).toBeGreaterThan(5);
  return receiptOf(chunks.find((chunk) => additionsOf(chunk).gw));
}

interface Case {
  readonly name: string;
  readonly value: (shape: Shape) => string;
  readonly why: RegExp;
  /** Refused by the reader, before any comparison. */
  readonly unread?: boolean;
}

const amount = (wh: () => number) => (shape: Shape) => String(wh() * perWh[shape]);
const cases: readonly Case[] = [
  { name: 'negative', value: () => '-5', why: /negative/, unread: true },
  { name: 'zero', value: () => '0', why: /zero for a call with tokens/ },
  { name: 'minus zero', value: () => '-0', why: /zero for a call with tokens/ },
  { name: 'NaN as text', value: () => '"NaN"', why: /not a number/, unread: true },
  { name: '1e308', value: () => '1e308', why: /not finite|more than 100 times/ },
  { name: 'beyond any number', value: () => '1e999', why: /not finite|not a number/, unread: true },
  { name: 'a subnormal', value: () => '5e-324', why: /less than 1\/100|zero|contradict/ },
  { name: '101 times the estimate', value: amount(() => estimateWh * 101), why: /more than 100 times/ },
  { name: 'a 101st of the estimate', value: amount(() => estimateWh / 101), why: /less than 1\/100/ },
  { name: 'a text of a number', value: () => '"0.1 J"', why: /not a number/, unread: true },
  { name: 'an array', value: () => '[1]', why: /not a number/, unread: true },
  { name: 'an object', value: () => '{"joules":1}', why: /not a number/, unread: true },
  { name: 'true', value: () => 'true', why: /not a number/, unread: true },
];

describe.each(shapes)('energy as %s that is', (shape) => {
  test.concurrent.each(cases.map((each) => [each.name, each] as const))('%s', async (_, { value, why, unread }) => {
    const said = value(shape);
    const [json, streamed] = await Promise.all([ask(shape, said), askStream(shape, said)]);
    for (const receipt of [json, streamed]) {
      expect(receipt).toMatchObject({ tier: 'parametric', requested_tier: 'auto', energy_split: 'modelled' });
      expect(receipt.tier_reason).toMatch(/measured energy not used: the figure was refused/);
      expect(receipt.tier_reason).toMatch(why);
      expect(receipt.energy_wh).toBe(estimateWh);
    }
    const { telemetry } = await provenLineage(json);
    expect(telemetry).toMatchObject({ used: false, source: 'simulator' });
    if (unread) expect(telemetry?.refused).toEqual(expect.any(String));
    const [explicit, explicitStreamed] = await Promise.all([
      ask(shape, said, 'telemetry'),
      askStream(shape, said, 'telemetry'),
    ]);
    for (const receipt of [explicit, explicitStreamed]) {
      expect(receipt).toMatchObject({
        tier: 'degraded',
        degraded_reason: 'tier_unavailable',
        energy_wh: null,
        recalculable: false,
      });
      expect(receipt.explanation).toMatch(why);
    }
  });

  test.concurrent('99 times the estimate, or a 99th, is believed', async () => {
    for (const wh of [estimateWh * 99, estimateWh / 99]) {
      const receipt = await ask(shape, String(wh * perWh[shape]));
      expect(receipt).toMatchObject({ tier: 'telemetry', energy_wh: expect.closeTo(wh, 9) });
    }
  });
});

describe('energy of a model that is not known at all', () => {
  const askUnknown = async (joules: string, tier = 'auto'): Promise<Receipt> => {
    const request = { model: 'absurd-unknown', messages, gw: { tier } };
    return receiptOf(await openAi().chat.completions.create(request, { headers: headersFor('energy_header', joules) }));
  };

  test.each([
    ['36', 0.01, 'as a model between the'],
    ['360', 0.1, 'so one of them is doubtful'],
  ])('is used while some model could have taken it: %s J', async (joules, energy_wh, words) => {
    const receipt = await askUnknown(joules);
    expect(receipt).toMatchObject({ tier: 'telemetry', energy_wh });
    expect(receipt.tier_reason).toContain(words);
    await provenLineage(receipt);
  });

  test.each(['5.4e300', '3600000'])('is refused when no model could have taken it: %s J', async (joules) => {
    const receipt = await askUnknown(joules);
    expect(receipt).toMatchObject({ tier: 'degraded', degraded_reason: 'model_parameters_unknown', energy_wh: null });
    expect(receipt.explanation).toMatch(/more than 100 times the modelled energy/);
    const explicit = await askUnknown(joules, 'telemetry');
    expect(explicit).toMatchObject({ tier: 'degraded', degraded_reason: 'tier_unavailable', energy_wh: null });
  });
});

test('energy of an unknown model is refused when no model could have taken so little', async () => {
  const request = { model: 'absurd-unknown', messages };
  const headers = headersFor('energy_header', '0.000000001');
  const receipt = receiptOf(await openAi().chat.completions.create(request, { headers }));
  expect(receipt).toMatchObject({ tier: 'degraded', degraded_reason: 'model_parameters_unknown', energy_wh: null });
  expect(receipt.explanation).toMatch(/less than 1\/100 of the modelled energy/);
});

describe('what surrounds the figure', () => {
  const objects = ['neuralwatt', 'greenpt', 'melious'] as const;

  test.each(objects)('%s in a megabyte: what is kept of it has bounds', async (shape) => {
    const big = { 'x-sim-fault': 'big-energy', 'x-sim-bytes': String(1024 * 1024) };
    for (const receipt of [await ask(shape, null, 'auto', big), await askStream(shape, null, 'auto', big)]) {
      const { telemetry } = await provenLineage(receipt);
      expect(JSON.stringify(telemetry).length).toBeLessThan(20_000);
      // A comment of that length is not read.
      expect(receipt.tier).toBe(telemetry?.used ? 'telemetry' : 'parametric');
      if (shape !== 'neuralwatt') expect(receipt.tier).toBe('telemetry');
    }
  });

  test('a NUL in it does not keep the receipt out of the ledger', async () => {
    const receipt = await ask('melious', '{"a\\u0000b":"c\\u0000d"}');
    expect(receipt.tier_reason).toMatch(/not a number/);
    await eventually('the ingestion', async () => {
      const list = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) });
      return list.parse((await get('/v1/gw/receipts?limit=50')).body).data.find(({ id }) => id === receipt.id);
    });
    const { telemetry } = await provenLineage(receipt);
    expect(JSON.stringify(telemetry?.raw)).toContain('a\uFFFDb');
  });
});
