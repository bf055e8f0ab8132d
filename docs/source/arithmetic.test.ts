/**
 * The numbers of every example, computed again: sums in exact decimals, the rest from the published formulas, by code
 * that shares nothing with the methodology package.
 */

import { execFileSync } from 'node:child_process';
import { chatChunkSchema } from '@gw/contract/chat';
import { lineageSchema } from '@gw/contract/lineage';
import { type Receipt, receiptSchema } from '@gw/contract/receipt';
import { samples } from '@gw/methodology/internals/testdata/lineages';
import { addsUp, significantDigits } from '@gw/test/sdk/decimal-text';
import { expectedNumbers, gridYearsOf } from '@gw/test/sdk/published-formulas';
import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MadeCall } from './calls.ts';
import { examples } from './examples.ts';
import { blocks } from './pages.ts';
import { chatEvents } from './replies.ts';
import { workedFacts, workedImpact } from './worked-example.ts';

const jsonOf = (text: string): unknown => JSON.parse(/^```json\n([\s\S]*)\n```$/.exec(text)?.[1] ?? 'null');
const jsonBlocks = Object.entries(blocks)
  .map(([name, block]) => ({ name, ...block() }))
  .filter(({ text }) => text.startsWith('```json'));

/** Every object in it that has the energy of a receipt, whole or in part. */
function receiptsIn(value: unknown): Partial<Receipt>[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(receiptsIn);
  return 'energy_wh' in value && 'tier' in value ? [value as Partial<Receipt>, ...inner] : inner;
}

const known = (...values: (number | null | undefined)[]): number[] =>
  values.filter((value) => typeof value === 'number');
/** Twelve digits were kept of each number; a product of two of them is off by no more than that. */
const near = (actual: number | null | undefined, expected: number, what: string, relative = 1e-11): void => {
  expect(Math.abs(Number(actual) - expected), `${what}: ${actual}, not ${expected}`).toBeLessThanOrEqual(
    Math.abs(expected) * relative,
  );
};

/** These relations hold between the numbers of any receipt. `null` and absent numbers are skipped. */
function expectToHold(receipt: Partial<Receipt>): void {
  for (const [field, value] of Object.entries(receipt)) {
    if (typeof value === 'number') expect(significantDigits(value), field).toBeLessThanOrEqual(12);
  }
  const { carbon_g: carbon, energy_wh: energy, grid_intensity_g_per_kwh: intensity } = receipt;
  if (typeof energy !== 'number' || typeof carbon !== 'number') return;
  const parts = known(
    receipt.energy_accelerator_wh,
    receipt.energy_host_wh,
    receipt.energy_idle_wh,
    receipt.energy_overhead_wh,
  );
  if (parts.length > 0) expect(addsUp(parts, energy), 'energy adds up').toBe(true);
  const carbonParts = known(receipt.carbon_operation_g, receipt.carbon_embodied_g);
  if (carbonParts.length > 0) expect(addsUp(carbonParts, carbon), 'carbon adds up').toBe(true);
  if (typeof receipt.carbon_operation_g === 'number')
    near(receipt.carbon_operation_g, (energy * Number(intensity)) / 1000, 'operation');
  if (typeof receipt.sci_g_per_request === 'number') expect(receipt.sci_g_per_request).toBe(carbon);
  for (const [low, value, high] of [
    [receipt.energy_low_wh, energy, receipt.energy_high_wh],
    [receipt.carbon_low_g, carbon, receipt.carbon_high_g],
  ] as const) {
    if (typeof low === 'number') expect(low).toBeLessThanOrEqual(value);
    if (typeof high === 'number') expect(high).toBeGreaterThanOrEqual(value);
  }
  expectAge(receipt);
}

/** If a past interval's end is not stated, the age is the time since the observation. */
function expectAge(receipt: Partial<Receipt>): void {
  const { grid_intensity_age_minutes: age, grid_intensity_observed_at: observed } = receipt;
  const requested = receipt.grid_intensity_requested_at;
  if (typeof age !== 'number' || age === 0 || !observed || !requested) return;
  const minutes = (Date.parse(requested) - Date.parse(observed)) / 60_000;
  near(age, Math.round(minutes * 10) / 10, 'age', 1e-12);
}

describe('every JSON example', () => {
  it.each(jsonBlocks)('$name has the form that the API promises', ({ schema, text }) => {
    expect(schema?.safeParse(jsonOf(text))).toMatchObject({ success: true });
  });

  it.each(jsonBlocks)('$name has numbers that follow from each other', ({ text }) => {
    for (const receipt of receiptsIn(jsonOf(text))) expectToHold(receipt);
  });
});

it('the numbers of every receipt that a table or a chart is made from follow from each other', () => {
  for (const { receipt } of Object.values(examples) as MadeCall[]) expectToHold(receiptSchema.parse(receipt));
});

const dense70b = { active: 70, total: 70 };
const virginia = { pue: 1.15, gPerKwh: 384.4, wue: 0.4, gridWue: 3.1321 };
const tokens = { promptTokens: 1000, completionTokens: 400 };
const gridYears = gridYearsOf(examples.parametric.receipt);
// With 200 that came from the cache.
const allTokens = 1200;
const asked = { ...tokens, ...virginia, model: dense70b, gridYears, allTokens };
const paris = { pue: 1.2, gPerKwh: 41.44, wue: 0.2, gridWue: 3.6737 };
const embedded = {
  promptTokens: 1500,
  completionTokens: 0,
  model: { active: 0.3, total: 0.3 },
  gridYears,
};
const germany = { ...asked, pue: 1.2, gPerKwh: 329.65, wue: 0.3, gridWue: 1.947 };

/** A call's receipt, and its numbers by the published formulas. The tokens from the cache are not read again. */
const modelled = [
  ['parametric', examples.parametric.receipt, expectedNumbers(asked, 'comprehensive', 'parametric')],
  ['narrow', examples.narrow.receipt, expectedNumbers(asked, 'narrow', 'parametric')],
  ['refused telemetry', examples.refused.receipt, expectedNumbers(asked, 'comprehensive', 'parametric')],
  ['proxy', examples.proxy.receipt, expectedNumbers(asked, 'comprehensive', 'proxy')],
  ['proxy, narrow', examples.proxyNarrow.receipt, expectedNumbers(asked, 'narrow', 'proxy')],
  [
    'live',
    examples.live.receipt,
    expectedNumbers({ ...asked, gPerKwh: 352, gridYears: null, isLifecycle: false }, 'comprehensive', 'parametric'),
  ],
  [
    'forecast',
    examples.asIssued.receipt,
    expectedNumbers({ ...asked, gPerKwh: 340, gridYears: 0, isLifecycle: false }, 'comprehensive', 'parametric'),
  ],
  [
    'restated',
    examples.restated.receipt,
    expectedNumbers({ ...asked, gPerKwh: 361, gridYears: null }, 'comprehensive', 'parametric'),
  ],
  ['embedding', examples.embedding.receipt, expectedNumbers({ ...embedded, ...paris }, 'comprehensive', 'parametric')],
  ['the worked example', workedImpact(), expectedNumbers(germany, 'comprehensive', 'parametric')],
] as const;

describe('by the published formulas', () => {
  it.each(modelled)('the numbers of "%s" are what they give', (_, receipt, expected) => {
    const actual: Readonly<Record<string, unknown>> = { ...receipt };
    for (const [field, value] of Object.entries(expected)) {
      if (value === null) expect(actual[field], field).toBeNull();
      else near(actual[field] as number, value, field, 1e-9);
    }
  });

  it('the measured examples are what the meters said', () => {
    expect(examples.total.receipt).toMatchObject({ tier: 'telemetry', energy_wh: 1080 / 3600, energy_host_wh: null });
    // 7.2 kJ and 7.3 kJ on two GPUs in the interval, of which 400 of 8,000 tokens are this call's.
    const accelerator = ((7200 + 7300) / 3600) * (400 / 8000);
    const host = expectedNumbers(asked, 'comprehensive', 'parametric').energy_host_wh ?? Number.NaN;
    near(examples.counters.receipt.energy_accelerator_wh, accelerator, 'accelerator');
    near(examples.counters.receipt.energy_idle_wh, 0.1 * (accelerator + host), 'idle', 1e-9);
    near(examples.counters.receipt.energy_wh, 1.15 * 1.1 * (accelerator + host), 'energy', 1e-9);
    near(examples.countersNarrow.receipt.energy_wh, accelerator, 'narrow');
  });

  it('a range of parameter counts gives the mean of both ends', () => {
    const at = (active: number) => {
      const model = { active, total: 440 };
      return expectedNumbers({ ...asked, model }, 'comprehensive', 'parametric').energy_wh;
    };
    near(examples.range.receipt.energy_wh, (at(44) + at(132)) / 2, 'energy', 1e-9);
  });

  it('the facts of the worked example are those that were computed with', () => {
    expect(workedFacts).toMatchObject({
      usage: { promptTokens: 1200, cachedPromptTokens: 200, completionTokens: 400 },
      site: { pue: germany.pue, wueOnsiteLPerKwh: germany.wue },
      grid: { gPerKwh: germany.gPerKwh, waterLPerKwh: germany.gridWue },
    });
  });
});

describe.each(['by-hand', 'worked-by-hand'])('the pocket calculator of "%s"', (name) => {
  const rows = (blocks[name]?.().text ?? '')
    .split('\n')
    .slice(2)
    .map((row) => row.split('|').map((cell) => cell.trim()))
    .map(([, what = '', text = '', result = '']) => ({ what, text, result: Number(result.split(' ')[0]) }));
  const resultOf = (what: string): number => rows.find((row) => row.what.startsWith(what))?.result ?? Number.NaN;

  it('shows in each line what its formula gives', () => {
    const expressions = rows.map(({ text }) => text.replaceAll('×', '*').replaceAll('−', '-').replaceAll('^', '**'));
    const script = 'import json, sys\nprint(json.dumps([eval(e) for e in json.load(sys.stdin)]))';
    const output = execFileSync('python3', ['-c', script], { input: JSON.stringify(expressions), encoding: 'utf8' });
    const values = JSON.parse(output) as number[];
    expect(values.length).toBeGreaterThan(15);
    for (const [index, row] of rows.entries()) near(row.result, Number(values[index]), row.what, 6e-6);
  });

  it('arrives at the receipt', () => {
    const receipt = name === 'by-hand' ? examples.parametric.receipt : workedImpact();
    near(resultOf('**accelerators**'), Number(receipt.energy_accelerator_wh), 'accelerator', 1e-5);
    near(resultOf('**host**'), Number(receipt.energy_host_wh), 'host', 1e-5);
    near(resultOf('**energy**'), Number(receipt.energy_wh), 'energy', 1e-5);
    near(resultOf('**carbon**'), Number(receipt.carbon_g), 'carbon', 1e-5);
    near(resultOf('**water**'), Number(receipt.water_ml), 'water', 1e-5);
  });
});

describe('what the API promises', () => {
  it('is the form of any lineage, field by field', () => {
    const envelope = examples.parametric.lineageReply;
    fc.assert(
      fc.property(samples, ({ lineage }) => {
        expect(lineageSchema.safeParse({ ...envelope, lineage })).toMatchObject({ success: true });
      }),
      { numRuns: cases(300) },
    );
  });

  it('is the form of every chunk of a stream, one of which carries the receipt', () => {
    const data = [...chatEvents().matchAll(/^data: (.*)$/gm)].map(([, text = '']) => text);
    expect(data.pop()).toBe('[DONE]');
    const chunks = data.map((text) => chatChunkSchema.parse(JSON.parse(text)));
    expect(chunks.filter(({ gw, routing_trace }) => gw && routing_trace)).toHaveLength(1);
  });
});
