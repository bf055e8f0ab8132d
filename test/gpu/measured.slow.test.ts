/** Energy of self-hosted GPUs through the whole gateway, with a Prometheus server that answers as its API documents. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Receipt, receiptSchema } from '@gw/contract/receipt';
import type { Lineage } from '@gw/methodology/lineage';
import { verify } from '@gw/methodology/recompute';
import { counters, dcgm, startStubPrometheus, vllm } from '@gw/testing/control-plane/stub-prometheus';
import { forFile } from '@gw/testing/for-file';
import { receiptInReply } from '@gw/testing/receipt-in-reply';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { eventually, type OwnGateway, startOwnGateway } from '../outage/own-gateway.ts';

const token = 'a-token-that-nobody-may-see';
const model = 'own-model';
let gateway: OwnGateway;
const prometheus = forFile(() => startStubPrometheus(() => new Date()));

beforeAll(async () => {
  prometheus.hold([]);
  gateway = await startOwnGateway({
    env: {
      'control-plane': {
        GW_GPU_COUNTERS: JSON.stringify({ 'own-h100': counters }),
        GW_GPU_PROMETHEUS_URL: prometheus.url,
        GW_GPU_PROMETHEUS_TOKEN: token,
        GW_GPU_REFRESH_S: '1',
        GW_GPU_GIVE_UP_S: '10',
      },
    },
  });
  await addOwnServer();
});
afterAll(() => gateway?.stop());

async function addOwnServer(): Promise<void> {
  const { db } = gateway;
  const parameters = {
    activeParametersMinB: 8,
    activeParametersMaxB: 8,
    totalParametersMinB: 8,
    totalParametersMaxB: 8,
  };
  await db.model.create({ data: { id: model, ownedBy: 'us', kind: 'chat', modalities: ['text'], ...parameters } });
  await db.deployment.create({
    data: {
      id: 'own-h100',
      providerId: 'simulator',
      regionCode: 'us-east',
      models: { [model]: 'sim-small' },
      pue: 1.2,
      telemetry: 'gpu_counters',
      accelerators: { model: 'H100-SXM5-80GB', count: 2 },
    },
  });
  await eventually('the model in every part', async () => (await gateway.client.chat({ model })).status === 200);
}

/** The receipt that the client is shown. */
async function ask(gw: object, stream = false): Promise<Receipt> {
  const reply = await fetch(`${gateway.stack.publicUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.stack.keys.enterprise}`,
      'content-type': 'application/json',
      'x-sim-tokens-per-second': '0',
      'x-sim-tokens': '200',
      'x-sim-delay-ms': '400',
    },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'What does it take?' }], gw, stream }),
  });
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  const parts = stream ? text.split('\n\n').filter((event) => event.startsWith('data: {')) : [text];
  const found = parts.map((part) => JSON.parse(part.replace(/^data: /, ''))).find((part) => 'gw' in part);
  return receiptInReply.parse(found?.gw);
}

const json = async (path: string): Promise<unknown> => (await gateway.client.get(path)).json;

/** Reads of receipts have a small rate of their own: what it refuses is asked for again. */
async function newest({ id }: Receipt): Promise<Receipt> {
  let found: Receipt | null = null;
  await eventually(
    `a second version of ${id}`,
    async () => {
      found = receiptSchema.parse(await json(`/v1/gw/receipts/${id}`));
      return found.version > 1;
    },
    60_000,
  );
  if (found === null) throw new Error(`There is no second version of ${id}.`);
  return found;
}

const tokensOf = ({ prompt_tokens, completion_tokens }: Receipt) => Number(prompt_tokens) + Number(completion_tokens);

/** Samples of two GPUs and their server, before and after everything that these receipts are about. */
function count(
  receipts: readonly Receipt[],
  from: number,
  used: { readonly wh: number; readonly tokens: number },
): void {
  const to = Date.now() / 1000 + 1.5;
  const [before, after] = [from - 1.5, to];
  const mj = (used.wh * 3_600_000) / 2;
  const prompt = receipts.reduce((sum, { prompt_tokens }) => sum + Number(prompt_tokens), 0);
  prometheus.hold([
    ...['GPU-a', 'GPU-b'].map((uuid) =>
      dcgm(uuid, [
        [before, '7000000'],
        [after, String(7_000_000 + mj)],
      ]),
    ),
    vllm('prompt', [
      [before, '1000'],
      [after, String(1000 + prompt)],
    ]),
    vllm('generation', [
      [before, '1000'],
      [after, String(1000 + used.tokens - prompt)],
    ]),
  ]);
}

test('calls on counted GPUs get the energy that was counted, by their share of the tokens, in both boundaries', async () => {
  const from = Date.now() / 1000;
  const issued = await Promise.all([
    ask({}),
    ask({}, true),
    ask({ boundary: 'narrow' }),
    ask({ tier: 'telemetry' }),
    ask({ tier: 'telemetry', boundary: 'narrow' }, true),
  ]);
  const modelled = issued.filter(({ requested_tier }) => requested_tier === 'auto');
  expect(modelled.map(({ tier }) => tier)).toEqual(['parametric', 'parametric', 'parametric']);
  for (const { tier_reason } of modelled) expect(tier_reason).toContain('a later version may have it');
  const pending = { tier: 'degraded', degraded_reason: 'telemetry_pending', recalculable: true, energy_wh: null };
  for (const receipt of issued.slice(3)) expect(receipt).toMatchObject(pending);

  const tokens = issued.reduce((sum, receipt) => sum + tokensOf(receipt), 0);
  // As much as was modelled and half of it again, of which others had the larger part.
  const wh = Number((Number(modelled[0]?.energy_accelerator_wh) * 4.5).toPrecision(3));
  count(issued, from, { wh, tokens: tokens * 3 });
  const measured = await Promise.all(issued.map(newest));
  for (const [index, receipt] of measured.entries()) {
    const { created_at, id, model: name, provider, region, requested_tier } = issued[index] ?? receipt;
    expect(receipt).toMatchObject({ created_at, id, model: name, provider, region, requested_tier });
    expect(receipt).toMatchObject({ version: 2, supersedes: 1, tier: 'telemetry', energy_split: 'measured' });
    const share = (wh * tokensOf(receipt)) / (tokens * 3);
    expect(Math.abs(Number(receipt.energy_accelerator_wh) - share)).toBeLessThanOrEqual(1e-9 * share);
  }
  const sum = measured.reduce((total, receipt) => total + Number(receipt.energy_accelerator_wh), 0);
  expect(Math.abs(sum - wh / 3)).toBeLessThanOrEqual(1e-9 * wh);
  const [wide, , narrow] = measured;
  expect(narrow).toMatchObject({ energy_host_wh: null, energy_idle_wh: null, carbon_embodied_g: null, water_ml: null });
  expect(narrow?.energy_wh).toBe(narrow?.energy_accelerator_wh);
  // The same figure, rounded to the last place of another total.
  expect(wide?.energy_host_wh).toBeCloseTo(Number(issued[0]?.energy_host_wh), 12);
  expect(Number(wide?.energy_idle_wh) * Number(wide?.energy_overhead_wh)).toBeGreaterThan(0);
});

test('the lineage shows the samples as they were scraped, and the interval; the first version stays as it was shown', async () => {
  const from = Date.now() / 1000;
  const shown = await ask({});
  count([shown], from, { wh: Number(shown.energy_accelerator_wh) * 4, tokens: tokensOf(shown) * 2 });
  const receipt = await newest(shown);
  const answer = z
    .looseObject({ lineage: z.custom<Lineage>(), revision: z.unknown() })
    .parse(await json(`/v1/gw/lineage/${receipt.id}`));
  const { lineage, revision } = answer;
  expect(verify(lineage, receipt)).toMatchObject({ ok: true });
  expect(revision).toMatchObject({ reason: 'measured' });
  expect(lineage.accelerators).toEqual({ model: 'H100-SXM5-80GB', count: 2 });
  const { raw, ...telemetry } = z.looseObject({ interval_s: z.number(), raw: z.unknown() }).parse(lineage.telemetry);
  expect(telemetry).toMatchObject({
    used: true,
    source: 'simulator',
    energy_source: 'simulated',
    scope: 'accelerator',
  });
  const { seen, ...tokens } = z
    .object({
      callTokens: z.number(),
      allTokens: z.number(),
      seen: z.array(
        z.object({ series: z.string(), unit: z.string(), before: z.array(z.number()), after: z.array(z.number()) }),
      ),
    })
    .parse(raw);
  expect(tokens).toEqual({ callTokens: tokensOf(shown), allTokens: tokensOf(shown) * 2 });
  expect(seen.map(({ series, unit }) => `${series} ${unit}`)).toEqual([
    'GPU-a mJ',
    'GPU-b mJ',
    expect.stringContaining('vllm:prompt_tokens_total{instance="gpu-1:8000"'),
    expect.stringContaining('vllm:generation_tokens_total{instance="gpu-1:8000"'),
  ]);
  const [gpu] = seen;
  expect(telemetry.interval_s).toBe(Number(gpu?.after[0]) - Number(gpu?.before[0]));
  expect(gpu?.before[0]).toBeLessThan(Date.parse(receipt.created_at) / 1000);
  expect(receiptSchema.parse(await json(`/v1/gw/receipts/${receipt.id}?version=1`))).toEqual(shown);
});

test('without samples auto keeps its modelled version, and an explicit tier ends unavailable, with the reason', async () => {
  prometheus.hold([]);
  const [auto, explicit] = await Promise.all([ask({}), ask({ tier: 'telemetry' })]);
  const ended = await newest(explicit);
  expect(ended).toMatchObject({ tier: 'degraded', degraded_reason: 'tier_unavailable', recalculable: false });
  expect(ended.explanation).toContain('no samples of every counter cover the call');
  expect(receiptSchema.parse(await json(`/v1/gw/receipts/${auto.id}`))).toEqual(auto);
});

test('the token of Prometheus is in no log', () => {
  expect(prometheus.asked.at(-1)?.headers.authorization).toBe(`Bearer ${token}`);
  expect(readFileSync(join(gateway.stack.logs, 'control-plane.log'), 'utf8')).not.toContain(token);
});
