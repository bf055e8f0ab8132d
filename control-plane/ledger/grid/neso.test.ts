import { httpAt, nesoSlot, startStubSource } from '@gw/testing/control-plane/stub-source';
import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';
import { neso, parseNeso } from './neso.ts';
import type { GridReply } from './reading.ts';

const now = new Date('2026-11-21T09:40:00Z');
const stub = forFile(startStubSource);

const read = (body: unknown, place = '', span: 'latest' | 'day' = 'latest'): Promise<GridReply> => {
  stub.answer({ body });
  return neso(
    httpAt(() => now),
    { baseUrl: stub.url },
  ).read({ zone: 'GBR', place }, span);
};

test('the actual of a slot is measured, on direct emissions, and dated by the end of the slot', async () => {
  expect(await read({ data: [nesoSlot(263)] })).toMatchObject([
    {
      source: 'neso',
      zone: 'GBR',
      gPerKwh: 263,
      signal: 'average',
      basis: 'direct',
      periodStart: new Date('2026-11-21T09:00:00Z'),
      periodEnd: new Date('2026-11-21T09:30:00Z'),
      observedAt: new Date('2026-11-21T09:30:00Z'),
      settled: true,
    },
  ]);
});

test('0 g/kWh of combustion is an ordinary value', async () => {
  expect(await read({ data: [nesoSlot(0)] })).toMatchObject([{ gPerKwh: 0, basis: 'direct' }]);
});

test('a slot without an actual is a forecast, even when it is over', async () => {
  const slots = [nesoSlot(null), nesoSlot(null, '2026-11-21T09:30Z', '2026-11-21T10:00Z')];
  expect(await read({ data: slots })).toMatchObject([
    { gPerKwh: 266, signal: 'forecast', kind: 'average', settled: false },
    { gPerKwh: 266, signal: 'forecast', kind: 'average', settled: false },
  ]);
});

test('the actual of a slot under way is dated by its start, and one from the future is a forecast', async () => {
  const slots = [
    nesoSlot(260, '2026-11-21T09:30Z', '2026-11-21T10:00Z'),
    nesoSlot(250, '2026-11-21T10:00Z', '2026-11-21T10:30Z'),
  ];
  expect(await read({ data: slots })).toMatchObject([
    { signal: 'average', observedAt: new Date('2026-11-21T09:30:00Z'), settled: false },
    { signal: 'forecast' },
  ]);
});

test('it asks for the last hours, because the newest slots have no actual, and for a day on demand', async () => {
  await read({ data: [] });
  expect(stub.asked.at(-1)?.path).toBe('/intensity/2026-11-21T06:40Z/2026-11-21T10:10Z');
  await read({ data: [] }, '', 'day');
  expect(stub.asked.at(-1)?.path).toBe('/intensity/2026-11-20T09:40Z/2026-11-21T10:10Z');
});

test('a region has forecasts alone, and another region is refused', async () => {
  const { from, to } = { from: '2026-11-21T09:30Z', to: '2026-11-21T10:00Z' };
  const region = {
    regionid: 13,
    dnoregion: 'UKPN London',
    shortname: 'London',
    data: [{ from, to, intensity: { forecast: 90, index: 'low' }, generationmix: [{ fuel: 'gas', perc: 43.6 }] }],
  };
  expect(await read({ data: [region] }, '13')).toMatchObject([{ gPerKwh: 90, signal: 'forecast' }]);
  expect(stub.asked.at(-1)?.path).toBe('/regional/regionid/13');
  expect(await read({ data: [region] }, '15')).toMatchObject({ refused: 'wrong_zone' });
  expect(await read({ data: [region] })).toMatchObject({ refused: 'wrong_zone' });
});

test('an empty series, nulls and its own error shape are refusals', () => {
  const parse = (value: unknown): GridReply => parseNeso(JSON.stringify(value), { zone: 'GBR', place: '' }, now);
  expect(parse({ data: [] })).toMatchObject({ refused: 'no_data' });
  const empty = { from: '2026-11-21T09:00Z', to: '2026-11-21T09:30Z', intensity: { forecast: null, actual: null } };
  expect(parse({ data: [empty] })).toMatchObject({ refused: 'null_value' });
  expect(parse({ error: { code: '400 Bad Request', message: 'x' } })).toMatchObject({ refused: 'malformed' });
});

test.each([
  ['that lasts for years', '2024-01-01T00:00Z', '2026-11-21T09:30Z'],
  ['of an hour', '2026-11-21T08:30Z', '2026-11-21T09:30Z'],
  ['that ends before it starts', '2026-11-21T09:30Z', '2026-11-21T09:00Z'],
  ['without a length', '2026-11-21T09:00Z', '2026-11-21T09:00Z'],
  ['that nobody asked for', '2024-01-01T00:00Z', '2024-01-01T00:30Z'],
  ['a century ahead', '2124-01-01T00:00Z', '2124-01-01T00:30Z'],
])('one slot %s refuses the reply, even if it has no value', async (_what, from, to) => {
  expect(await read({ data: [nesoSlot(263), nesoSlot(1, from, to)] })).toMatchObject({ refused: 'wrong_period' });
  const empty = { from, to, intensity: { forecast: null, actual: null } };
  expect(await read({ data: [nesoSlot(263), empty] })).toMatchObject({ refused: 'wrong_period' });
});
