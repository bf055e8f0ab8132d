import {
  acknowledgement,
  france,
  generationDocument,
  httpAt,
  type StubAnswer,
  type StubSeries,
  startStubSource,
} from '@gw/testing/control-plane/stub-source';
import { forFile } from '@gw/testing/for-file';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { entsoe, parseEntsoe } from './entsoe.ts';
import type { GridReply } from './reading.ts';

const now = new Date('2026-11-21T09:20:00Z');
const asked = { zone: 'FRA', place: france };
const stub = forFile(startStubSource);

const read = (answer: StubAnswer): Promise<GridReply> => {
  stub.answer(answer);
  return entsoe(
    httpAt(() => now),
    { baseUrl: stub.url, token: 'secret-token' },
  ).read(asked, 'latest');
};
const parse = (...series: StubSeries[]): GridReply => parseEntsoe(generationDocument(series), asked, now);

test('the intensity is the mean of the factors, weighted by the generation', async () => {
  const series = [
    { type: 'B14', megawatts: [900] },
    { type: 'B04', megawatts: [100] },
  ];
  expect(await read({ body: generationDocument(series) })).toMatchObject([
    {
      source: 'entsoe (production, ipcc-ar5-1)',
      zone: 'FRA',
      gPerKwh: (900 * 12 + 100 * 490) / 1000,
      signal: 'average',
      basis: 'lifecycle',
      periodStart: new Date('2026-11-21T08:00:00Z'),
      periodEnd: new Date('2026-11-21T09:00:00Z'),
      observedAt: new Date('2026-11-21T09:00:00Z'),
      settled: true,
    },
  ]);
  const { searchParams } = new URL(stub.asked.at(-1)?.path ?? '', stub.url);
  expect(Object.fromEntries(searchParams)).toEqual({
    securityToken: 'secret-token',
    documentType: 'A75',
    processType: 'A16',
    in_Domain: france,
    periodStart: '202611210500',
    periodEnd: '202611211000',
  });
});

test.each([200, 400])('an acknowledgement with status %d says that there are no data', async (status) => {
  const reply = await read({ status, body: acknowledgement('999') });
  expect(reply).toEqual({ refused: 'no_data', detail: 'acknowledgement with reason 999' });
});

test('what pumps take is subtracted, and never makes generation negative', () => {
  const reply = parse(
    { type: 'B10', megawatts: [300] },
    { type: 'B10', megawatts: [500], direction: 'out' },
    { type: 'B04', megawatts: [100] },
  );
  expect(reply).toMatchObject([{ gPerKwh: 490 }]);
});

test('an hour in which one type has no value yet is left out', () => {
  const end = '2026-11-21T10:00Z';
  const reply = parse({ type: 'B16', megawatts: [10, 20], end }, { type: 'B05', megawatts: [90] });
  expect(reply).toMatchObject([{ periodStart: new Date('2026-11-21T08:00:00Z') }]);
});

test('quarters of an hour are joined where another type is given by the hour', () => {
  const reply = parse(
    { type: 'B16', megawatts: [0, 0, 200, 200], resolution: 'PT15M' },
    { type: 'B05', megawatts: [100] },
  );
  expect(reply).toMatchObject([{ gPerKwh: (100 * 48 + 100 * 820) / 200 }]);
});

test('under curve type A03 a value holds until the next one, under A01 a gap is a gap', () => {
  const gap = { type: 'B14', megawatts: [50], end: '2026-11-21T10:00Z' };
  expect(parse({ ...gap, curve: 'A03' })).toHaveLength(2);
  expect(parse(gap)).toHaveLength(1);
});

test('generation without a factor is left out while it is little, and refused when it is much', () => {
  expect(parse({ type: 'B14', megawatts: [96] }, { type: 'B17', megawatts: [4] })).toMatchObject([{ gPerKwh: 12 }]);
  const much = parse({ type: 'B14', megawatts: [90] }, { type: 'B17', megawatts: [10] });
  expect(much).toMatchObject({ refused: 'uncovered_generation' });
});

test('another bidding zone is refused', () => {
  expect(parse({ type: 'B14', megawatts: [1], domain: '10YBE----------2' })).toMatchObject({ refused: 'wrong_zone' });
});

test.each([
  ['not XML', 'no_xml_at_all'],
  ['cut short', '<GL_MarketDocument><TimeSeries>'],
  ['another document', '<Other_MarketDocument/>'],
  ['an unknown resolution', generationDocument([{ type: 'B14', megawatts: [1], resolution: 'P1Y' }])],
  ['too many points', generationDocument([{ type: 'B14', megawatts: [1, 2] }])],
])('%s is malformed', (_what, raw) => {
  expect(parseEntsoe(raw, asked, now)).toMatchObject({ refused: 'malformed' });
});

test('generation of a time that nobody asked for is refused', () => {
  const old = { type: 'B14', megawatts: [1], start: '2024-01-01T00:00Z', end: '2024-01-01T01:00Z' };
  expect(parse({ type: 'B14', megawatts: [1] }, old)).toMatchObject({ refused: 'wrong_period' });
});

test('a short document that holds values over years is refused before they are spread out', () => {
  // 9,999 hours each, together some 20 MB from 40 kB.
  const years = { type: 'B14', megawatts: [1], curve: 'A03', start: '2026-01-01T00:00Z', end: '2027-02-21T15:00Z' };
  expect(parse(...Array.from({ length: 60 }, () => years))).toEqual({
    refused: 'malformed',
    detail: 'more than a day has',
  });
});

test('more series than there are types are refused', () => {
  const series = Array.from({ length: 501 }, (_, index) => ({ type: `X${index}`, megawatts: [1] }));
  expect(parse(...series)).toEqual({ refused: 'malformed', detail: 'more than a day has' });
  expect(parse(...series.slice(1))).toMatchObject({ refused: 'uncovered_generation' });
});

test('an empty document is no data', () => {
  expect(parse()).toMatchObject({ refused: 'no_data' });
});

test('entities are not expanded', () => {
  const document = generationDocument([{ type: '&nuclear;', megawatts: [1] }]);
  const raw = document.replace('?>', '?><!DOCTYPE GL_MarketDocument [<!ENTITY nuclear "B14">]>');
  expect(parseEntsoe(raw, asked, now)).toMatchObject({ refused: 'uncovered_generation' });
});

test('the intensity lies between the lowest and the highest factor of the mix', () => {
  const factors: Record<string, number> = { B04: 490, B05: 820, B14: 12, B16: 48, B19: 11 };
  const mix = fc.dictionary(fc.constantFrom(...Object.keys(factors)), fc.integer({ min: 1, max: 90_000 }), {
    minKeys: 1,
  });
  fc.assert(
    fc.property(mix, (megawatts) => {
      const types = Object.keys(megawatts);
      const reply = parse(...types.map((type) => ({ type, megawatts: [megawatts[type] ?? 0] })));
      const used = types.map((type) => factors[type] ?? 0);
      const gPerKwh = 'refused' in reply ? Number.NaN : (reply[0]?.gPerKwh ?? Number.NaN);
      expect(gPerKwh).toBeGreaterThanOrEqual(Math.min(...used) - 1e-9);
      expect(gPerKwh).toBeLessThanOrEqual(Math.max(...used) + 1e-9);
    }),
  );
});
