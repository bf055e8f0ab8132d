/** From an estimate of a live source to its settled value, through a gateway of its own. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { minuteMs } from '@gw/contract/internal/durations';
import { type Receipt, receiptSchema } from '@gw/contract/receipt';
import { usageSchema } from '@gw/contract/usage';
import type { Lineage } from '@gw/methodology/lineage';
import { verify } from '@gw/methodology/recompute';
import { inCheckout } from '@gw/stack/checkout';
import { type Stack, startStack } from '@gw/stack/stack';
import { electricityMapsReply, type StubSource, startStubSource } from '@gw/testing/control-plane/stub-source';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, clientOf } from '../outage/client.ts';
import { eventually } from '../outage/own-gateway.ts';

/** An hour that is just over, whatever the time is: its value serves calls for another hour, as an estimate. */
const lastHour = new Date(Date.now() - 65 * minuteMs).toISOString();
const refreshS = 30;

let dir: string;
let source: StubSource;
let stack: Stack;
let client: Client;

const says = (gPerKwh: number, isEstimated: boolean): void => {
  const value = { carbonIntensity: gPerKwh, datetime: lastHour, isEstimated, zone: 'SE' };
  source.answer((path) => {
    const reply = electricityMapsReply(value);
    return { body: path.includes('latest') ? reply : { zone: 'SE', history: [reply] } };
  });
};

beforeAll(async () => {
  source = await startStubSource();
  says(40, true);
  const parent = process.env.GW_TEST_DIR ?? inCheckout('.gw');
  mkdirSync(parent, { recursive: true });
  dir = mkdtempSync(join(parent, 'test-restatement-'));
  const env = {
    GW_GRID_SOURCES: 'SWE=electricity-maps:SE',
    GW_GRID_ELECTRICITY_MAPS_URL: source.url,
    GW_GRID_ELECTRICITY_MAPS_KEY: 'key-of-the-stub',
    GW_GRID_REFRESH_S: String(refreshS),
  };
  stack = await startStack({ dir, durable: false, env: { 'control-plane': env }, log: () => {} });
  client = clientOf(stack);
}, 120_000);
afterAll(async () => {
  await stack?.stop();
  await source?.stop();
  if (dir) rmSync(dir, { recursive: true, force: true });
});

const read = async (id: string, query = ''): Promise<Receipt> =>
  receiptSchema.parse((await client.get(`/v1/gw/receipts/${id}${query}`)).json);
const carbon = async (version: string): Promise<number | null | undefined> => {
  const { data } = usageSchema.parse((await client.get(`/v1/usage?version=${version}`)).json);
  return data.find(({ model }) => model === 'sim-large')?.carbon_g;
};

test('when the source settles its estimate, the receipt gets a version with it, and both totals can be read', async () => {
  await eventually('a call with the estimate', async () => {
    // Others of this account wait for the source as sim-small.
    const { grid_intensity_source: from } = (await client.chat({ region: 'eu-north' })).receipt ?? {};
    return from === 'electricity-maps';
  });
  const first = (await client.chat({ region: 'eu-north', model: 'sim-large' })).receipt;
  if (first === null) throw new Error('there is no receipt');
  expect(first).toMatchObject({ version: 1, grid_intensity_g_per_kwh: 40, grid_temporal_match: 'forecast' });
  says(52, false);
  const { id } = first;
  await eventually('version 2', async () => (await read(id)).version === 2, 3 * refreshS * 1000);
  const second = await read(id);
  expect(second).toMatchObject({
    supersedes: 1,
    grid_intensity_g_per_kwh: 52,
    grid_intensity_source: 'electricity-maps',
    grid_intensity_requested_at: first.grid_intensity_requested_at,
    energy_wh: first.energy_wh,
    tier: first.tier,
  });
  expect(second.carbon_operation_g).toBeCloseTo((Number(first.carbon_operation_g) / 40) * 52, 10);
  expect(await read(id, '?version=1')).toEqual(first);
  const explained = (await client.get(`/v1/gw/lineage/${id}`)).json as { lineage: Lineage; revision: object };
  expect(verify(explained.lineage, second).ok).toBe(true);
  expect(explained.revision).toMatchObject({ reason: 'restated', grid: { replaced_g_per_kwh: 40 } });
  // The start of the gateway made calls of its own, elsewhere; they count the same in both.
  const restated = Number(await carbon('restated')) - Number(await carbon('issued'));
  expect(restated).toBeCloseTo(Number(second.carbon_g) - Number(first.carbon_g), 12);
}, 180_000);
