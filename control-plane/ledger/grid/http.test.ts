/** Every source is read in this way, so these traps are shown once, through the adapter of one of them. */

import { type AddressGuard, openAddressGuard } from '@gw/service/address-guard';
import { cases } from '@gw/testing/cases';
import { electricityMapsReply, httpAt, type StubAnswer, startStubSource } from '@gw/testing/control-plane/stub-source';
import { forFile } from '@gw/testing/for-file';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { prometheusAt } from '../gpu/prometheus.ts';
import { electricityMaps } from './electricity-maps.ts';
import type { Http } from './http.ts';
import { type GridReply, isRefusal } from './reading.ts';

const now = new Date('2026-11-21T09:20:00Z');
const key = 'the-secret-key';
const stub = forFile(startStubSource);

const read = (answer: StubAnswer, changes: Partial<Http> = {}): Promise<GridReply> => {
  stub.answer(answer);
  const adapter = electricityMaps(
    httpAt(() => now, changes),
    { baseUrl: stub.url, key },
  );
  return adapter.read({ zone: 'DEU', place: 'DE' }, 'latest');
};

test.each([
  [{ status: 401 }, { refused: 'unauthorized', detail: 'status 401' }],
  [{ status: 403 }, { refused: 'unauthorized', detail: 'status 403' }],
  [{ status: 429 }, { refused: 'rate_limited', detail: 'status 429' }],
  [
    { status: 429, headers: { 'retry-after': '90' } },
    { refused: 'rate_limited', detail: 'status 429', retryAfterMs: 90_000 },
  ],
  [
    { status: 500, body: { error: 'x' } },
    { refused: 'source_fault', detail: 'status 500' },
  ],
  [
    { status: 503, headers: { 'retry-after': 'Sat, 21 Nov 2026 09:21:00 GMT' } },
    { refused: 'source_fault', detail: 'status 503', retryAfterMs: 60_000 },
  ],
  [{ status: 404 }, { refused: 'unexpected_status', detail: 'status 404' }],
  [{ body: '{"zone":' }, { refused: 'malformed', detail: 'not JSON' }],
  [{ body: '' }, { refused: 'malformed', detail: 'not JSON' }],
  [{ body: { message: 'no' } }, { refused: 'malformed', detail: 'unexpected shape at the top' }],
])('a reply %j is the refusal %j', async (answer, refusal) => {
  expect(await read(answer)).toEqual(refusal);
});

test('a reply that never ends is given up after the time-out', async () => {
  expect(await read({ hangs: true }, { timeoutMs: 50 })).toMatchObject({ refused: 'timeout' });
});

test('a reply that is too long is not read to its end', async () => {
  const answer = { body: { ...electricityMapsReply(), more: 'x'.repeat(5000) } };
  expect(await read(answer, { maxBytes: 1000 })).toMatchObject({ refused: 'too_large' });
});

test('a redirect is not followed, so that the key goes nowhere else', async () => {
  const before = stub.asked.length;
  const answer = { status: 302, headers: { location: `${stub.url}/elsewhere` } };
  expect(await read(answer)).toMatchObject({ refused: 'unexpected_status' });
  expect(stub.asked.length).toBe(before + 1);
});

test('a source that cannot be reached is a refusal, which does not show the key', async () => {
  const adapter = electricityMaps(
    httpAt(() => now),
    { baseUrl: 'http://127.0.0.1:1', key },
  );
  const reply = await adapter.read({ zone: 'DEU', place: 'DE' }, 'latest');
  expect(reply).toMatchObject({ refused: 'unreachable' });
  expect(JSON.stringify(reply)).not.toContain(key);
});

const inside = [{ address: '169.254.169.254', family: 4 }];
const refusing = (stubbed: URL): readonly [string, AddressGuard][] => [
  ['http://169.254.169.254', openAddressGuard()],
  [`http://rebound.example:${stubbed.port}`, openAddressGuard([], async () => inside)],
  [stubbed.origin, openAddressGuard([{ what: 'port', host: '127.0.0.1', port: Number(stubbed.port) }])],
];
test('an address that is never asked gets neither the question nor the key, and the refusal says why', async () => {
  const before = stub.asked.length;
  for (const [baseUrl, guard] of refusing(new URL(stub.url))) {
    const http = httpAt(() => now, { guard });
    const headers = { authorization: `Bearer ${key}` };
    for (const reply of [
      await electricityMaps(http, { baseUrl, key }).read({ zone: 'DEU', place: 'DE' }, 'latest'),
      await prometheusAt(http, { baseUrl, headers }).skewS(),
    ])
      expect(reply, baseUrl).toEqual({ refused: 'unreachable', detail: expect.stringContaining('not allowed') });
  }
  expect(stub.asked.length).toBe(before);
});

test('a source that leads elsewhere after a good answer is asked once', async () => {
  const port = new URL(stub.url).port;
  stub.answer({ body: electricityMapsReply(), headers: { connection: 'close' } });
  const answers = [[{ address: '127.0.0.1', family: 4 }], inside];
  const guard = openAddressGuard([], async () => answers.shift() ?? []);
  const before = stub.asked.length;
  const source = electricityMaps(
    httpAt(() => now, { guard }),
    { baseUrl: `http://rebound.example:${port}`, key },
  );
  expect(isRefusal(await source.read({ zone: 'DEU', place: 'DE' }, 'latest'))).toBe(false);
  expect(await source.read({ zone: 'DEU', place: 'DE' }, 'latest')).toMatchObject({ refused: 'unreachable' });
  expect(stub.asked.length).toBe(before + 1);
});

test('whatever a source answers is a reading or a refusal, never an exception', async () => {
  const body = fc.oneof(
    fc.string(),
    fc.json(),
    fc.jsonValue().map((value) => JSON.stringify({ zone: 'DE', history: [value] })),
  );
  await fc.assert(
    fc.asyncProperty(body, async (text) => {
      const reply = await read({ body: text });
      if (isRefusal(reply)) return;
      expect(reply.every((reading) => reading.gPerKwh >= 0)).toBe(true);
    }),
    { numRuns: cases(50) },
  );
});
