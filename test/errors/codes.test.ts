/** Each code of the catalogue comes about by a real request, and is what the document says it is. */
import { type CatalogueCode, errorCatalogue } from '@gw/contract/error-catalogue';
import { definitionOf } from '@gw/contract/errors';
import { retriedByStatus } from '@gw/contract/internals/error-definition';
import { describe, expect, test } from 'vitest';
import { stack } from '../sdk/gateway.ts';
import { accountsForFile } from '../sdk/test-account.ts';
import { readDocument } from './document.ts';
import { ways } from './ways.ts';

const accounts = accountsForFile();
const judge = await readDocument(stack.publicUrl);
const codes = Object.keys(errorCatalogue) as CatalogueCode[];

describe('through Envoy', () => {
  test.each(codes.filter((code) => typeof ways[code] === 'function'))('%s', async (code) => {
    const way = ways[code];
    if (typeof way !== 'function') throw new Error('No request makes it.');
    const { method, path, reply } = await way(accounts);
    expect(judge.judgeError(method, path, reply), reply.text).toMatchObject({ code, type: errorCatalogue[code].type });
    const { retry, status, headers = [] } = definitionOf(code);
    expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
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
