/** The lineage alone tells where every number of a receipt comes from, through the whole gateway. */
import type { Lineage } from '@gw/methodology/lineage';
import { recompute, verify } from '@gw/methodology/recompute';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { eventually, get, messages, openAi, receiptOf, stack } from './gateway.ts';

const reply = z.strictObject({
  object: z.literal('gw.receipt_lineage'),
  receipt_id: z.string(),
  receipt_version: z.literal(1),
  lineage: z.custom<Lineage>().nullable(),
  explanation: z.string().nullable(),
  revision: z.null(),
});

async function lineageOf(id: string) {
  const answer = await get(`/v1/gw/lineage/${id}`);
  expect(answer.status, answer.text).toBe(200);
  return reply.parse(answer.body);
}

function chat(gw: object, headers: Record<string, string> = {}) {
  const request = { model: 'sim-large', messages, max_tokens: 30, gw };
  return openAi().chat.completions.create(request, { headers });
}

describe('the lineage of a receipt', () => {
  it.each([{}, { boundary: 'narrow' }, { tier: 'proxy' }, { region: 'eu-north' }])(
    'gives its numbers again without anything else: %o',
    async (options) => {
      const receipt = receiptOf(await chat(options));
      const { lineage } = await lineageOf(receipt.id);
      if (lineage === null) throw new Error('there is no lineage');
      const again = recompute(lineage);
      expect(again.ok && again.impact.energy_wh).toBe(receipt.energy_wh);
      expect(again.ok && again.impact.carbon_g).toBe(receipt.carbon_g);
      expect(verify(lineage, receipt).ok).toBe(true);
      expect(verify(lineage, { ...receipt, carbon_g: Number(receipt.carbon_g) * 1.01 }).ok).toBe(false);
    },
  );

  it('is the same from Redis and, after ingestion, from Postgres', async () => {
    const { id } = receiptOf(await chat({}));
    const first = await lineageOf(id);
    await eventually('the ingestion', async () => {
      const list = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) });
      return list.parse((await get('/v1/gw/receipts?limit=50')).body).data.find((each) => each.id === id);
    });
    expect(await lineageOf(id)).toEqual(first);
  });

  it('says why there is none for a degraded receipt', async () => {
    const { id } = receiptOf(await chat({}, { 'x-sim-usage': '{"prompt_tokens":1e15,"completion_tokens":1}' }));
    const { lineage, explanation } = await lineageOf(id);
    expect(lineage).toBeNull();
    expect(explanation).toMatch(/\w+/);
  });

  it('needs its scope, and is one of the account of the key', async () => {
    const { id } = receiptOf(await chat({}));
    expect(await get(`/v1/gw/lineage/${id}`, stack.keys.audit)).toMatchObject({
      status: 403,
      body: { error: { code: 'insufficient_scope' } },
    });
    expect(await get(`/v1/gw/lineage/${id}`, stack.keys.enterprise)).toMatchObject({
      status: 404,
      body: { error: { code: 'receipt_not_found', param: 'receipt_id' } },
    });
  });
});
