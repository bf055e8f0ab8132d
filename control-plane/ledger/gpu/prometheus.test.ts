import { cases } from '@gw/testing/cases';
import { counters, dcgm, failure, startStubPrometheus, success } from '@gw/testing/control-plane/stub-prometheus';
import { httpAt, type StubAnswer } from '@gw/testing/control-plane/stub-source';
import { forFile } from '@gw/testing/for-file';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Http } from '../grid/http.ts';
import { isRefused, type Prometheus, prometheusAt } from './prometheus.ts';

const now = new Date('2026-11-21T09:30:00Z');
const nowS = now.getTime() / 1000;
const token = 'the-secret-token';
const stub = forFile(() => startStubPrometheus(() => now));

const client = (changes: Partial<Http> = {}, baseUrl = stub.url): Prometheus =>
  prometheusAt(
    httpAt(() => now, changes),
    { baseUrl, headers: { authorization: `Bearer ${token}` } },
  );
const ask = (changes: Partial<Http> = {}) => client(changes).samples(counters.energy, nowS - 60, nowS);
const matrix = (values: unknown, metric: object = dcgm('a', []).metric): StubAnswer =>
  success({ resultType: 'matrix', result: [{ metric, values }] });

test('gives the samples of the interval as they were scraped, both ends included, and shows the token to nobody else', async () => {
  stub.hold([
    dcgm('a', [
      [nowS - 75, '1'],
      [nowS - 60, '100'],
      [nowS - 45.123, '250.5'],
      [nowS, '1e3'],
      [nowS + 15, '2000'],
    ]),
    dcgm('b', [[nowS - 30, '7']], { Hostname: 'gpu-2' }),
  ]);
  expect(await ask()).toEqual([
    {
      labels: dcgm('a', []).metric,
      samples: [
        { atS: nowS - 60, value: 100 },
        { atS: nowS - 45.123, value: 250.5 },
        { atS: nowS, value: 1000 },
      ],
    },
  ]);
  expect(stub.asked.at(-1)?.headers.authorization).toBe(`Bearer ${token}`);
  expect(stub.asked.at(-1)?.path).not.toContain(token);
});

test('a value that is no finite, non-negative number counts as not scraped', async () => {
  const texts = ['NaN', '+Inf', '-Inf', '-5', '', '0x10', '1e300', '9223372036854775794', 'true', ' 1', '5'];
  stub.answer(matrix(texts.map((text, index) => [nowS - 30 + index, text])));
  expect(await ask()).toEqual([{ labels: dcgm('a', []).metric, samples: [{ atS: nowS - 20, value: 5 }] }]);
});

test.each<[string, StubAnswer, string, string]>([
  ['status 500', { status: 500 }, 'source_fault', 'status 500'],
  ['status 401', { status: 401 }, 'unauthorized', 'status 401'],
  ['too many requests', { status: 429 }, 'rate_limited', 'status 429'],
  ['an error of the query', failure('bad_data', 'parse error'), 'unexpected_status', 'status 400'],
  ['an error with status 200', failure('timeout', 'query timed out', 200), 'malformed', 'unexpected shape at status'],
  ['a redirect', { status: 302, headers: { location: '/login' } }, 'unexpected_status', 'status 302'],
  ['no JSON', { body: '<html>' }, 'malformed', 'unexpected shape at the top'],
  ['a vector', success({ resultType: 'vector', result: [] }), 'malformed', 'unexpected shape at data.resultType'],
  [
    'histograms',
    success({ resultType: 'matrix', result: [{ metric: {}, histograms: [] }] }),
    'malformed',
    'unexpected shape at data.result.0.values',
  ],
  ['numbers that are not text', matrix([[nowS, 5]]), 'malformed', 'unexpected shape at data.result.0.values.0.1'],
  ['another metric', matrix([[nowS, '5']], { __name__: 'up' }), 'malformed', 'a series of another metric'],
  ['no name', matrix([[nowS, '5']], {}), 'malformed', 'a series of another metric'],
  [
    'times that do not ascend',
    matrix([
      [nowS, '5'],
      [nowS, '6'],
    ]),
    'malformed',
    'times do not ascend',
  ],
  [
    'a partial reply',
    success({ resultType: 'matrix', result: [] }, { warnings: ['a store is away'] }),
    'malformed',
    'the reply has warnings, so it can be partial',
  ],
])('%s is a refusal', async (_name, answer, refused, detail) => {
  stub.answer(answer);
  expect(await ask()).toMatchObject({ refused, detail });
});

test('a server that is slow, too talkative or away is a refusal that does not show the token', async () => {
  stub.answer({ hangs: true });
  expect(await ask({ timeoutMs: 50 })).toMatchObject({ refused: 'timeout' });
  stub.answer({ body: 'x'.repeat(5000) });
  expect(await ask({ maxBytes: 1000 })).toMatchObject({ refused: 'too_large' });
  const away = await client({}, 'http://127.0.0.1:1').samples(counters.energy, nowS - 60, nowS);
  expect(away).toMatchObject({ refused: 'unreachable' });
  expect(JSON.stringify(away)).not.toContain(token);
});

test('no series is no refusal', async () => {
  stub.hold([]);
  expect(await ask()).toEqual([]);
});

test('the clocks are compared by the time of the server', async () => {
  for (const [skewS, seen] of [
    [0, 0],
    [90, 90],
    [-90, -90],
  ] as const) {
    stub.setSkew(skewS);
    stub.hold([]);
    expect(await client().skewS()).toBeCloseTo(seen, 6);
  }
  stub.setSkew(0);
  stub.answer({ status: 500 });
  expect(await client().skewS()).toMatchObject({ refused: 'source_fault' });
});

test('whatever a server answers is samples or a refusal, never an exception', async () => {
  const values = fc.array(
    fc.tuple(fc.oneof(fc.double(), fc.string()), fc.oneof(fc.string(), fc.double(), fc.constant('1'))),
  );
  const body = fc.oneof(
    fc.json(),
    values.map((list) => JSON.stringify(matrix(list).body)),
    fc.string(),
  );
  await fc.assert(
    fc.asyncProperty(body, async (text) => {
      stub.answer({ body: text });
      const reply = await ask();
      if (isRefused(reply)) return;
      const samples = reply.flatMap((series) => series.samples);
      expect(samples.every(({ value }) => Number.isFinite(value) && value >= 0)).toBe(true);
    }),
    { numRuns: cases(100) },
  );
});
