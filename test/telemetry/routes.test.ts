/** Where a call for measured energy may go, and what the list of models says of it. */
import type { Receipt } from '@gw/contract/receipt';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { additionsOf, get, messages, openAi, receiptOf, stack } from '../sdk/gateway.ts';
import { addModels, type MeteredModels, provenLineage, simulatedWh } from './metered.ts';

const everywhere = 'routes-everywhere';
const second = 'routes-second';
const nowhere = 'routes-nowhere';

let models: MeteredModels;
beforeAll(async () => {
  models = await addModels('routes', [
    {
      model: everywhere,
      deployments: [
        { telemetry: 'greenpt', site: 'paris' },
        { telemetry: 'melious', site: 'oslo' },
      ],
    },
    {
      model: second,
      deployments: [
        { telemetry: null, site: 'paris' },
        { telemetry: 'melious', site: 'oslo' },
      ],
    },
    {
      model: nowhere,
      deployments: [
        { telemetry: null, site: 'paris' },
        { telemetry: 'a shape of tomorrow', site: 'oslo' },
      ],
    },
  ]);
});
afterAll(() => models.remove());

function ask(model: string, gw: object, headers: Record<string, string> = {}) {
  const request = { model, messages, gw };
  return openAi().chat.completions.create(request, { headers: { 'x-sim-energy': 'greenpt,melious', ...headers } });
}

async function served(model: string, gw: object, headers: Record<string, string> = {}) {
  const reply = await ask(model, gw, headers);
  return { receipt: receiptOf(reply), trace: additionsOf(reply).routing_trace };
}

async function refusal(model: string, gw: object, headers?: Record<string, string>) {
  const failed = await ask(model, gw, headers).then(
    () => null,
    (error: unknown) => error,
  );
  if (!(failed instanceof OpenAI.APIError)) throw new Error('The call was not refused.');
  return failed;
}

/** The field in which a shape states its energy. */
const statedIn = { greenpt: 'impact.energy.total', melious: 'environment_impact.energy_kwh' };

const expectEnergyOf = async (receipt: Receipt, shape: keyof typeof statedIn): Promise<void> => {
  expect(receipt.tier).toBe('telemetry');
  const { telemetry } = await provenLineage(receipt);
  expect(telemetry).toMatchObject({ used: true, source: 'simulator', stated: { field: statedIn[shape] } });
  expect(Number(receipt.energy_wh)).toBeCloseTo(simulatedWh(receipt), 12);
};

const simulatorCount = async (marker: string): Promise<number> => {
  const url = new URL(`/sim/count?marker=${marker}`, stack.simulatorUrl);
  return z.object({ count: z.number() }).parse(await (await fetch(url)).json()).count;
};

describe('an explicit telemetry tier', () => {
  test('is served where the model has it, pinned or not', async () => {
    for (const [gw, region, source] of [
      [{}, 'us-east', 'greenpt'],
      [{ region: 'eu-north' }, 'eu-north', 'melious'],
    ] as const) {
      const { receipt } = await served(everywhere, { tier: 'telemetry', ...gw });
      expect(receipt.region).toBe(region);
      await expectEnergyOf(receipt, source);
    }
  });

  test('passes over deployments that do not report energy', async () => {
    const { receipt, trace } = await served(second, { tier: 'telemetry' });
    expect(trace).toMatchObject({ region: 'eu-north', attempts: { count: 1 } });
    await expectEnergyOf(receipt, 'melious');
    expect((await served(second, {})).receipt).toMatchObject({ region: 'us-east', tier: 'parametric' });
  });

  test.each([
    ['a model without it', nowhere, {}],
    ['a region without it', second, { region: 'us-east' }],
    ['the narrow boundary, which a total does not tell', everywhere, { boundary: 'narrow' }],
    ['the narrow boundary of a region', everywhere, { boundary: 'narrow', region: 'eu-north' }],
  ])('is refused before the provider is asked: %s', async (_, model, gw) => {
    const marker = `refused-${Math.random()}`;
    const error = await refusal(model, { tier: 'telemetry', ...gw }, { 'x-sim-marker': marker });
    expect(error).toMatchObject({ status: 400, type: 'validation_error', code: 'invalid_tier', param: 'gw.tier' });
    expect(error.message).toContain('Offered: auto, proxy, parametric.');
    expect(error.headers?.get('x-gw-receipt-id')).toBeNull();
    expect(await simulatorCount(marker)).toBe(0);
  });

  test('is about a region that exists and serves the model', async () => {
    const { region: _region, ...gw } = { region: '', tier: 'telemetry' };
    expect(await refusal(everywhere, { ...gw, region: 'mars' })).toMatchObject({ code: 'invalid_region' });
    expect(await refusal(everywhere, { ...gw, region: 'eu-west' })).toMatchObject({ code: 'invalid_model' });
  });
});

describe('a fail-over', () => {
  const failing = { 'x-sim-fault': 'paris:status-500' };

  test('is read by the shape of the deployment that answered', async () => {
    for (const tier of ['telemetry', 'auto']) {
      const { receipt, trace } = await served(everywhere, { tier }, failing);
      expect(trace).toMatchObject({ region: 'eu-north', attempts: { count: 2 } });
      await expectEnergyOf(receipt, 'melious');
    }
  });

  test('never leads an explicit tier to a deployment without it', async () => {
    const error = await refusal(second, { tier: 'telemetry' }, { 'x-sim-fault': 'oslo:status-500' });
    expect(error).toMatchObject({ status: 502, code: 'upstream_error' });
  });
});

test('the narrow boundary falls back under auto, and says why', async () => {
  const { receipt } = await served(everywhere, { boundary: 'narrow' });
  expect(receipt).toMatchObject({ tier: 'parametric', boundary: 'narrow' });
  expect(receipt.tier_reason).toContain('a total does not tell the accelerator');
  expect((await provenLineage(receipt)).telemetry).toMatchObject({ used: false, stated: { field: statedIn.greenpt } });
});

test('other tiers are as they were: measured energy is not part of them', async () => {
  for (const tier of ['parametric', 'proxy']) {
    expect((await served(everywhere, { tier })).receipt).toMatchObject({ tier, energy_split: 'modelled' });
  }
});

test('the list of models says where measured energy can be asked for', async () => {
  const tiers = async (model: string) =>
    z.looseObject({ tiers: z.array(z.string()) }).parse((await get(`/v1/models/${model}`)).body).tiers;
  expect(await tiers(everywhere)).toEqual(['proxy', 'parametric', 'telemetry']);
  expect(await tiers(second)).toEqual(['proxy', 'parametric', 'telemetry']);
  expect(await tiers(nowhere)).toEqual(['proxy', 'parametric']);
});
