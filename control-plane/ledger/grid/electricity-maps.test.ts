import { electricityMapsReply, httpAt, startStubSource } from '@gw/testing/control-plane/stub-source';
import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';
import { electricityMaps, parseElectricityMaps } from './electricity-maps.ts';
import { type GridReply, isRefusal } from './reading.ts';

const now = new Date('2026-11-21T09:20:00Z');
const asked = { zone: 'DEU', place: 'DE' };
const stub = forFile(startStubSource);

const read = (changes: Record<string, unknown> = {}, span: 'latest' | 'day' = 'latest'): Promise<GridReply> => {
  stub.answer({ body: electricityMapsReply(changes) });
  return electricityMaps(
    httpAt(() => now),
    { baseUrl: stub.url, key: 'k' },
  ).read(asked, span);
};

test('a measured value is a life-cycle average of its hour, with the key in a header alone', async () => {
  expect(await read()).toEqual([
    {
      source: 'electricity-maps',
      zone: 'DEU',
      place: 'DE',
      gPerKwh: 322,
      signal: 'average',
      kind: 'average',
      basis: 'lifecycle',
      periodStart: new Date('2026-11-21T09:00:00Z'),
      periodEnd: new Date('2026-11-21T10:00:00Z'),
      observedAt: new Date('2026-11-21T09:00:00Z'),
      fetchedAt: now,
      isEstimated: false,
      settled: false,
      rawSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  ]);
  const { path, headers } = stub.asked.at(-1) ?? { path: '', headers: {} };
  expect(headers['auth-token']).toBe('k');
  const url = new URL(path, stub.url);
  expect(url.pathname).toBe('/v3/carbon-intensity/latest');
  expect(Object.fromEntries(url.searchParams)).toEqual({
    zone: 'DE',
    emissionFactorType: 'lifecycle',
    shouldUseFallbackCallerLookup: 'false',
  });
});

test('a stale value with a fresh updatedAt is dated by its own hour', async () => {
  const reply = await read({ datetime: '2026-11-19T12:00:00.000Z', updatedAt: '2026-11-21T09:19:59.000Z' });
  expect(reply).toMatchObject([{ observedAt: new Date('2026-11-19T12:00:00Z'), signal: 'average' }]);
});

test('null is a refusal, not minus one', async () => {
  expect(await read({ carbonIntensity: null })).toMatchObject({ refused: 'null_value' });
});

test('the zone that the caller is in, in place of the one asked for, is refused', async () => {
  expect(await read({ zone: 'FR' })).toMatchObject({ refused: 'wrong_zone' });
});

test.each([-1, 0, 2, 3000.1, 322_000])('%d g/kWh over a life cycle is refused', async (carbonIntensity) => {
  expect(await read({ carbonIntensity })).toMatchObject({ refused: 'implausible_value' });
});

test('0 g/kWh is refused in a forecast, and where the source does not repeat what it counts', async () => {
  const zero = { carbonIntensity: 0 };
  const refused = expect.objectContaining({ refused: 'implausible_value' });
  expect(await read({ ...zero, datetime: '2026-11-21T10:00:00.000Z' })).toEqual(refused);
  expect(await read({ ...zero, emissionFactorType: undefined })).toEqual(refused);
  expect(await read({ carbonIntensity: 3 })).toMatchObject([{ gPerKwh: 3 }]);
});

test('a datetime in the future is a forecast, whatever the source says', async () => {
  const reply = await read({ datetime: '2026-11-21T10:00:00.000Z' });
  expect(reply).toMatchObject([{ signal: 'forecast', settled: false }]);
});

test('an estimate is called one, and so is a value without a word about it', async () => {
  const estimated = { isEstimated: true, estimationMethod: 'SOMETHING_NEW' };
  expect(await read(estimated)).toMatchObject([{ isEstimated: true, settled: false }]);
  expect(await read({ isEstimated: undefined })).toMatchObject([{ isEstimated: true }]);
});

test('a value that counts something else than the life cycle, which was asked for, is refused', async () => {
  expect(await read({ emissionFactorType: 'lifecycle' })).toMatchObject([{ basis: 'lifecycle' }]);
  for (const emissionFactorType of ['direct', 'unknown', ''])
    expect(await read({ emissionFactorType })).toMatchObject({ refused: 'wrong_basis' });
  const history = [electricityMapsReply(), electricityMapsReply({ emissionFactorType: 'direct' })];
  const reply = parseElectricityMaps(JSON.stringify({ zone: 'DE', history }), asked, now);
  expect(reply).toMatchObject({ refused: 'wrong_basis' });
});

test('the basis of a value without a word about it is unknown', async () => {
  expect(await read({ emissionFactorType: undefined })).toMatchObject([{ basis: 'unknown' }]);
});

test('the history of a day gives the hours that are over, settled unless estimated, without those that are null', async () => {
  const hour = (datetime: string, carbonIntensity: number | null, isEstimated = false) =>
    electricityMapsReply({ datetime, carbonIntensity, isEstimated });
  stub.answer({
    body: {
      zone: 'DE',
      history: [
        hour('2026-11-21T06:00:00.000Z', 290, true),
        hour('2026-11-21T07:00:00.000Z', 300),
        hour('2026-11-21T08:00:00.000Z', null),
      ],
    },
  });
  const reply = await electricityMaps(
    httpAt(() => now),
    { baseUrl: stub.url, key: 'k' },
  ).read(asked, 'day');
  expect(reply).toMatchObject([
    { gPerKwh: 290, settled: false },
    { gPerKwh: 300, settled: true },
  ]);
  expect(stub.asked.at(-1)?.path).toContain('/v3/carbon-intensity/history?');
});

test.each([
  ['of an unknown granularity', { temporalGranularity: 'daily' }],
  ['named like a property of every object', { temporalGranularity: 'constructor' }],
  ['older than anything that was asked for', { datetime: '2024-01-01T00:00:00.000Z' }],
  ['a century ahead', { datetime: '2124-01-01T00:00:00.000Z' }],
])('a period %s is refused', async (_what, changes) => {
  expect(await read(changes)).toMatchObject({ refused: 'wrong_period' });
});

test('one hour of another zone inside a history refuses all of it', () => {
  const history = [electricityMapsReply(), electricityMapsReply({ zone: 'FR' })];
  const reply = parseElectricityMaps(JSON.stringify({ zone: 'DE', history }), asked, now);
  expect(reply).toMatchObject({ refused: 'wrong_zone' });
});

test('an empty history is no data, and a time that is none is malformed', () => {
  const parse = (value: object): GridReply => parseElectricityMaps(JSON.stringify(value), asked, now);
  expect(parse({ zone: 'DE', history: [] })).toMatchObject({ refused: 'no_data' });
  for (const datetime of ['yesterday', '2026-11-21', '2026-13-41T09:00:00Z', 5])
    expect(isRefusal(parse(electricityMapsReply({ datetime })))).toBe(true);
});
