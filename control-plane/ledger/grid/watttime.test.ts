import { minuteMs } from '@gw/contract/internal/durations';
import { httpAt, type StubAnswer, startStubSource, wattTimeReply } from '@gw/testing/control-plane/stub-source';
import { forFile } from '@gw/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
import type { GridReply } from './reading.ts';
import { parseWattTime, wattTime } from './watttime.ts';

const asked = { zone: 'USA', place: 'CAISO_NORTH' };
let now: Date;
const stub = forFile(startStubSource);
beforeEach(() => {
  now = new Date('2026-11-21T09:03:00Z');
  stub.asked.length = 0;
});

const adapter = () =>
  wattTime(
    httpAt(() => now),
    { baseUrl: stub.url, user: 'u', password: 'p:q' },
  );
const serve = (data: StubAnswer, login: StubAnswer = { body: { token: 'abc' } }): void =>
  stub.answer((path) => (path === '/login' ? login : data));
const logins = (): number => stub.asked.filter(({ path }) => path === '/login').length;

test('pounds per megawatt-hour become grams per kilowatt-hour, and the signal is marginal', async () => {
  serve({ body: wattTimeReply() });
  const reply = await adapter().read(asked, 'latest');
  expect(reply).toMatchObject([
    {
      source: 'watttime',
      zone: 'USA',
      signal: 'marginal',
      kind: 'marginal',
      basis: 'direct',
      periodStart: new Date('2026-11-21T09:00:00Z'),
      periodEnd: new Date('2026-11-21T09:05:00Z'),
      observedAt: new Date('2026-11-21T09:00:00Z'),
    },
  ]);
  expect('refused' in reply ? 0 : reply[0]?.gPerKwh).toBeCloseTo(394.625, 3);
  expect(stub.asked[0]?.headers.authorization).toBe(`Basic ${Buffer.from('u:p:q').toString('base64')}`);
  expect(stub.asked[1]?.headers.authorization).toBe('Bearer abc');
});

test('one login serves the calls of 25 minutes', async () => {
  serve({ body: wattTimeReply() });
  const source = adapter();
  await source.read(asked, 'latest');
  await source.read(asked, 'day');
  expect(logins()).toBe(1);
  now = new Date(now.getTime() + 26 * minuteMs);
  await source.read(asked, 'latest');
  expect(logins()).toBe(2);
});

test('a token that is refused is not used again', async () => {
  serve({ status: 401 });
  const source = adapter();
  expect(await source.read(asked, 'latest')).toMatchObject({ refused: 'unauthorized' });
  serve({ body: wattTimeReply() }, { body: { token: 'second' } });
  expect(await source.read(asked, 'latest')).toHaveLength(1);
  expect(stub.asked.at(-1)?.headers.authorization).toBe('Bearer second');
});

test('a refused login, or one without a token, ends there', async () => {
  serve({ body: wattTimeReply() }, { status: 403 });
  expect(await adapter().read(asked, 'latest')).toMatchObject({ refused: 'unauthorized' });
  serve({ body: wattTimeReply() }, { body: { token: 'two\nlines' } });
  expect(await adapter().read(asked, 'latest')).toMatchObject({ refused: 'malformed' });
  expect(stub.asked.every(({ path }) => path === '/login')).toBe(true);
});

const parse = (reply: object): GridReply =>
  parseWattTime(JSON.stringify(reply), asked, new Date('2026-11-21T09:03:00Z'));

test.each([
  [{ units: 'percentile' }, 'wrong_units'],
  [{ units: 'gCO2/kWh' }, 'wrong_units'],
  [{ signal_type: 'health_damage' }, 'wrong_signal'],
  [{ signal_type: 'co2_aoer' }, 'wrong_signal'],
  [{ region: 'ERCOT' }, 'wrong_zone'],
])('a reply with %j is refused as %s', (meta, refused) => {
  expect(parse(wattTimeReply(meta))).toMatchObject({ refused });
});

test('both spellings of the period are read, and without either it is five minutes', () => {
  const periods = [
    { data_point_period_seconds: undefined, data_point_periods_second: 900 },
    { data_point_period_seconds: undefined },
  ].map((meta) => parse(wattTimeReply(meta)));
  expect(periods).toMatchObject([
    [{ periodEnd: new Date('2026-11-21T09:15:00Z') }],
    [{ periodEnd: new Date('2026-11-21T09:05:00Z') }],
  ]);
});

test('null, negative and absurd values, and an empty series, are refusals', () => {
  expect(parse(wattTimeReply({}, null))).toMatchObject({ refused: 'null_value' });
  expect(parse(wattTimeReply({}, -3))).toMatchObject({ refused: 'implausible_value' });
  expect(parse(wattTimeReply({}, 7000))).toMatchObject({ refused: 'implausible_value' });
  expect(parse({ ...wattTimeReply(), data: [] })).toMatchObject({ refused: 'no_data' });
});

test('a point in the future is a forecast, still of the marginal kind', () => {
  const data = [{ point_time: '2026-11-21T09:05:00+00:00', value: 870 }];
  expect(parse({ ...wattTimeReply(), data })).toMatchObject([{ signal: 'forecast', kind: 'marginal' }]);
});

test.each([1e300, 86_400, 3601, 59, 0.0001])('points that hold for %d s are refused', (periodS) => {
  expect(parse(wattTimeReply({ data_point_period_seconds: periodS }))).toMatchObject({ refused: 'wrong_period' });
});

test('a point that nobody asked for is refused', () => {
  const data = [{ point_time: '2024-01-01T00:00:00+00:00', value: 870 }];
  expect(parse({ ...wattTimeReply(), data })).toMatchObject({ refused: 'wrong_period' });
});
