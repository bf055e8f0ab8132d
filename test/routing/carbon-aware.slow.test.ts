/**
 * Three regions whose grids are told by one live source: free calls follow the lowest carbon intensity within one refresh,
 * the trace says why, and what is missing, old or barred falls back and says so.
 */

import { hourMs } from '@gw/contract/internal/durations';
import { type RoutingTrace, routingTraceSchema } from '@gw/contract/routing-trace';
import { electricityMapsReply, startStubSource } from '@gw/testing/control-plane/stub-source';
import { forFile } from '@gw/testing/for-file';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiOf } from '../operator-api.ts';
import { eventually, type OwnGateway, startOwnGateway } from '../outage/own-gateway.ts';

/** g/kWh at the place of the source, and how many hours ago; null: the source has nothing. */
type Said = { readonly g: number; readonly hoursAgo?: number } | null;
const places = { US: 'us-east', SE: 'eu-north', FR: 'eu-west' } as const;
let said: Readonly<Record<keyof typeof places, Said>> = { US: { g: 300 }, SE: { g: 20, hoursAgo: 3 }, FR: null };

const source = forFile(startStubSource);
let gateway: OwnGateway;

beforeAll(async () => {
  source.answer((path) => {
    const place = new URL(path, source.url).searchParams.get('zone') as keyof typeof places;
    const value = said[place];
    if (value === null) return { status: 404 };
    const hour = Math.floor(Date.now() / hourMs) - (value.hoursAgo ?? 0);
    const datetime = new Date(hour * hourMs).toISOString();
    const reading = electricityMapsReply({ zone: place, carbonIntensity: value.g, datetime });
    return { body: path.includes('/history') ? { zone: place, history: [reading] } : reading };
  });
  gateway = await startOwnGateway({
    env: {
      'control-plane': {
        GW_GRID_SOURCES: 'USA=electricity-maps:US,SWE=electricity-maps:SE,FRA=electricity-maps:FR',
        GW_GRID_REFRESH_S: '30',
        GW_GRID_ELECTRICITY_MAPS_URL: source.url,
        GW_GRID_ELECTRICITY_MAPS_KEY: 'stub',
      },
    },
  });
});
afterAll(() => gateway?.stop());

async function call(options: object = {}) {
  const { json, receipt, status } = await gateway.client.chat({ options });
  expect(status).toBe(200);
  const trace = routingTraceSchema.parse((json as { routing_trace: unknown }).routing_trace);
  expect(trace.region).toBe(receipt?.region);
  return { trace, receipt };
}
const becomes = (what: string, is: (trace: RoutingTrace) => boolean) =>
  eventually(what, async () => is((await call()).trace), 60_000);
const candidatesOf = ({ candidates }: RoutingTrace) =>
  Object.fromEntries(
    candidates.map(({ region, g_per_kwh, excluded_reason }) => [region, [g_per_kwh, excluded_reason]]),
  );

const patch = (path: string, body: object) => apiOf(gateway.stack).send('PATCH', path, body);

test('with one value that is live enough the provider preference decides', async () => {
  await becomes('the live value to be known', ({ fallback_reason: reason }) => reason === 'too_few_live_signals');
  const { trace } = await call();
  expect(trace).toMatchObject({
    policy: 'provider_preference',
    fallback: true,
    region: 'us-east',
    estimated_saving_g: 0,
  });
  expect(candidatesOf(trace)).toEqual({
    'us-east': [300, 'not_comparable'],
    'eu-north': [expect.any(Number), 'no_live_signal'],
    'eu-west': [expect.any(Number), 'no_live_signal'],
  });
});

test('traffic follows the lowest value within a refresh, and the trace says why', async () => {
  said = { US: { g: 300 }, SE: { g: 20 }, FR: { g: 50 } };
  await becomes('calls to go to the lowest', ({ region }) => region === 'eu-north');
  const { trace } = await call();
  expect(trace).toMatchObject({
    policy: 'carbon_aware',
    fallback: false,
    fallback_reason: null,
    decision: expect.stringMatching(
      /^eu-north was chosen for the lowest estimated carbon of this call: eu-north \S+ g at 20 gCO2e\/kWh, eu-west .* at 50 .*, us-east .* at 300 gCO2e\/kWh \(average, life cycle\)\.$/,
    ),
    counterfactual: { region: 'us-east', g_per_kwh: 300 },
  });
  expect(candidatesOf(trace)).toEqual({ 'us-east': [300, null], 'eu-north': [20, null], 'eu-west': [50, null] });
});

test('a tolerance of the request, or of the account, keeps a call where it is', async () => {
  const { trace } = await call({ max_added_latency_ms: 20 });
  expect(trace).toMatchObject({ region: 'us-east', fallback_reason: 'none_within_tolerance' });
  expect(candidatesOf(trace)['eu-north']).toEqual([20, 'latency_above_tolerance']);
  const account = '/operator/v1/accounts/acct_demo_enterprise';
  await patch(account, { tolerance: { added_cost_percent: 0 } });
  await becomes('the account to be heeded', ({ region }) => region === 'us-east');
  expect(candidatesOf((await call()).trace)['eu-north']).toEqual([20, 'cost_above_tolerance']);
  await patch(account, { tolerance: { added_cost_percent: null } });
  await becomes('calls to come back', ({ region }) => region === 'eu-north');
});

test('a pinned call stays, and a region that is saturated spills over to the next lowest', async () => {
  expect((await call({ region: 'us-east' })).trace).toMatchObject({
    policy: 'pinned',
    region: 'us-east',
    estimated_saving_g: null,
  });
  await patch('/operator/v1/regions/eu-north', { status: 'saturated' });
  await becomes('calls to go to the next', ({ region }) => region === 'eu-west');
  const { trace } = await call();
  expect(trace.policy).toBe('carbon_aware');
  expect(candidatesOf(trace)['eu-north']).toEqual([20, 'region_saturated']);
  await patch('/operator/v1/regions/eu-north', { status: 'active' });
  await becomes('calls to come back', ({ region }) => region === 'eu-north');
});

test('it follows when the values cross, and the savings of 1,000 calls add up', async () => {
  said = { US: { g: 300 }, SE: { g: 400 }, FR: { g: 50 } };
  await becomes('calls to follow', ({ region }) => region === 'eu-west');
  let [saved, expected] = [0, 0];
  for (let done = 0; done < 1000; done += 50) {
    for (const { receipt, trace } of await Promise.all(Array.from({ length: 50 }, () => call()))) {
      expect(trace.region).toBe('eu-west');
      saved += trace.estimated_saving_g ?? Number.NaN;
      const { carbon_g: there, served_carbon_g: here } = trace.counterfactual ?? {};
      expect(here).toBeCloseTo(receipt?.carbon_g ?? Number.NaN, 10);
      expected += (there ?? Number.NaN) - (here ?? Number.NaN);
    }
  }
  expect(saved).toBeGreaterThan(0);
  expect(saved).toBeCloseTo(expected, 8);
});
