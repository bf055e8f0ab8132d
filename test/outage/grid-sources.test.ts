/**
 * Live sources of carbon intensity that go away: no call waits for one, and a receipt keeps to the last value that was
 * said, with its age. All the ways in which a source can fail, under load: `test/long/outage-matrix.test.ts`.
 */
import type { Receipt } from '@gw/contract/receipt';
import { forFile } from '@gw/testing/for-file';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { honest, startGridStubs } from './grid-stubs.ts';
import { eventually, type OwnGateway, startOwnGateway } from './own-gateway.ts';

const stubs = forFile(startGridStubs);
let gateway: OwnGateway;

beforeAll(async () => {
  gateway = await startOwnGateway({ env: { 'control-plane': stubs.variables } });
});
afterAll(() => gateway?.stop());

/** One call pinned to each region. */
async function receipts(): Promise<Receipt[]> {
  const { client } = gateway;
  const replies = await Promise.all(['us-east', 'eu-north', 'eu-west'].map((region) => client.chat({ region })));
  for (const reply of replies) expect(reply.status).toBe(200);
  return replies.flatMap(({ receipt }) => receipt ?? []);
}

const said = (all: readonly Receipt[]) =>
  all.map((receipt) => [receipt.grid_intensity_source?.split(' ')[0], receipt.grid_intensity_g_per_kwh]);

test('calls go on with the last values while every source is away, and over a restart of the control plane', async () => {
  const live = [
    ['neso', honest.USA],
    ['electricity-maps', honest.SWE],
    ['entsoe', expect.any(Number)],
  ];
  await eventually('live intensity in receipts', async () => {
    const all = await receipts();
    return all.every(({ grid_temporal_match: match }) => match === 'live_window' || match === 'fresh');
  });
  const before = await receipts();
  expect(said(before)).toEqual(live);
  for (const stub of stubs.all) {
    await stub.fail('killed');
    expect(said(await receipts())).toEqual(live);
  }
  await gateway.killForGood('control-plane');
  expect(said(await receipts())).toEqual(live);
  await gateway.start('control-plane');
  const after = await receipts();
  expect(said(after)).toEqual(live);
  for (const [at, receipt] of after.entries()) {
    expect(receipt.grid_intensity_observed_at).toBe(before[at]?.grid_intensity_observed_at);
    expect(receipt.grid_intensity_age_minutes).toBeGreaterThanOrEqual(before[at]?.grid_intensity_age_minutes ?? 0);
  }
});
