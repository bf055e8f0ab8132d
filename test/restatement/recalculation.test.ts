/** A degraded receipt is made again by itself, once the catalogue knows what it lacked. */

import { receiptSchema } from '@gw/contract/receipt';
import { usageSchema } from '@gw/contract/usage';
import type { Lineage } from '@gw/methodology/lineage';
import { verify } from '@gw/methodology/recompute';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, get, messages, openAi, quick, receiptOf } from '../sdk/gateway.ts';
import { accountsForFile } from '../sdk/test-account.ts';

const model = 'sim-of-unknown-size';
const deployment = 'sim-eu-north';
const accounts = accountsForFile();
let modelsBefore: object;

beforeAll(async () => {
  const { db } = accounts;
  await db.model.create({ data: { id: model, ownedBy: 'simulator', kind: 'chat', modalities: ['text'] } });
  const { models } = await db.deployment.findUniqueOrThrow({ where: { id: deployment } });
  modelsBefore = models as object;
  await db.deployment.update({
    where: { id: deployment },
    data: { models: { ...modelsBefore, [model]: 'sim-small' } },
  });
});
afterAll(async () => {
  await accounts.db.deployment.update({ where: { id: deployment }, data: { models: modelsBefore } });
  await accounts.db.model.delete({ where: { id: model } });
});

const read = async (id: string, key: string, query = '') =>
  receiptSchema.parse((await get(`/v1/gw/receipts/${id}${query}`, key)).body);

test('a model of unknown size: version 1 is degraded, version 2 comes when its size is known, usage counts it once', async () => {
  const key = await accounts.create({}, { scopes: ['inference:read', 'inference:write', 'gw:read', 'gw:lineage'] });
  const call = () => openAi(key).chat.completions.create({ model, messages }, { headers: quick });
  const reply = await eventually('the model in the catalogue of every part', () => call().catch(() => null));
  const first = receiptOf(reply);
  expect(first).toMatchObject({
    tier: 'degraded',
    degraded_reason: 'model_parameters_unknown',
    recalculable: true,
    energy_wh: null,
  });
  await accounts.db.model.update({
    where: { id: model },
    data: {
      activeParametersMinB: 8,
      activeParametersMaxB: 8,
      totalParametersMinB: 8,
      totalParametersMaxB: 8,
    },
  });
  const second = await eventually('version 2', async () => {
    const receipt = await read(first.id, key);
    return receipt.version === 2 ? receipt : null;
  });
  expect(second).toMatchObject({
    tier: 'parametric',
    supersedes: 1,
    created_at: first.created_at,
    region: first.region,
  });
  expect(second.energy_wh).toBeGreaterThan(0);
  expect(await read(first.id, key, '?version=1')).toEqual(first);
  const answer = (await get(`/v1/gw/lineage/${first.id}`, key)).body as { lineage: Lineage; revision: object };
  expect(verify(answer.lineage, second).ok).toBe(true);
  expect(answer.revision).toMatchObject({
    reason: 'recalculated',
    completed: ['model.activeParametersB', 'model.totalParametersB'],
  });
  const usage = async (version: string) =>
    usageSchema.parse((await get(`/v1/usage?version=${version}`, key)).body).data;
  expect(await usage('restated')).toMatchObject([{ requests: 1, requests_degraded: 0, energy_wh: second.energy_wh }]);
  expect(await usage('issued')).toMatchObject([{ requests: 1, requests_degraded: 1, energy_wh: null }]);
});
