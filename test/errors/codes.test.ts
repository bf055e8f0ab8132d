/** Each code of the catalogue comes about by a real request, and is what the document says it is. */
import { type CatalogueCode, errorCatalogue } from '@gw/contract/error-catalogue';
import { definitionOf } from '@gw/contract/errors';
import { retriedByStatus } from '@gw/contract/internals/error-definition';
import { beforeAll, describe, expect, test } from 'vitest';
import { stack } from '../sdk/gateway.ts';
import { accountsForFile } from '../sdk/test-account.ts';
import { readDocument } from './document.ts';
import { type Exchange, ways } from './ways.ts';

const accounts = accountsForFile();
const judge = await readDocument(stack.publicUrl);
const codes = Object.keys(errorCatalogue) as CatalogueCode[];

/** In these the gateway waits for ten and for twenty seconds, and so they begin before all others. */
const waiting = ['request_timeout', 'idempotency_in_progress'] as const satisfies readonly CatalogueCode[];
const begun = new Map<CatalogueCode, Promise<Exchange>>();

function made(code: CatalogueCode): Promise<Exchange> {
  const way = ways[code];
  if (typeof way !== 'function') throw new Error('No request makes it.');
  return way(accounts);
}

describe('through Envoy', () => {
  beforeAll(() => {
    for (const code of waiting) {
      const outcome = made(code);
      // Its own test tells of a failure.
      outcome.catch(() => undefined);
      begun.set(code, outcome);
    }
  });

  const inTurn = codes.filter((code) => typeof ways[code] === 'function' && !waiting.some((each) => each === code));
  test.each([...inTurn, ...waiting])('%s', async (code) => {
    const { method, path, reply } = await (begun.get(code) ?? made(code));
    expect(judge.judgeError(method, path, reply), reply.text).toMatchObject({ code, type: errorCatalogue[code].type });
    const { retry, status, headers = [] } = definitionOf(code);
    expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(reply.headers['x-content-type-options']).toBe('nosniff');
    const waitS = Number(reply.headers['retry-after'] ?? 0);
    // The provider of this way says when to come back.
    const isTold = retry === 'after_retry_after' || code === 'upstream_rate_limited';
    expect(waitS >= 1, 'Retry-After').toBe(isTold);
    const futile = retriedByStatus(status) && (retry === 'never' || waitS > 60);
    expect(reply.headers['x-should-retry']).toBe(futile ? 'false' : undefined);
    for (const name of headers) expect(reply.headers[name.toLowerCase()], name).toMatch(/./);
  });
});

test('what no request alone makes are the failures of parts', () => {
  expect(codes.filter((code) => typeof ways[code] === 'string')).toEqual([
    'idempotency_unavailable',
    'upstream_timeout',
    'receipt_generation_failed',
    'receipt_integrity_failed',
    'internal_error',
  ]);
});
