import { callerHeader, callerText } from '@gw/contract/internal/identity';
import type { ProcessingRequest } from '@gw/grpc/service';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readCaller } from './caller.ts';

const none = {} as ProcessingRequest;
const byHeader = (fields: Readonly<Record<string, string>>) =>
  readCaller(none, new Map([[callerHeader, callerText(fields)]]));
const byMetadata = (fields: Readonly<Record<string, string>>) => {
  const values = Object.fromEntries(Object.entries(fields).map(([name, stringValue]) => [name, { stringValue }]));
  const filterMetadata = { 'envoy.filters.http.ext_authz': { fields: values } };
  return readCaller({ metadataContext: { filterMetadata } } as unknown as ProcessingRequest, new Map());
};
const whole = {
  ...{ account_id: 'acct_a', key_id: 'key_a', streams: '7:shadow', key_streams: '2', project: 'one' },
  ...{ models: '["a","b"]', tolerance: '50:' },
};

test('a caller is the same from the header and from the metadata of an older ext-authz', () => {
  expect(byHeader(whole)).toEqual({
    ...{ accountId: 'acct_a', keyId: 'key_a', models: ['a', 'b'], project: 'one', keyStreams: 2, budgets: [] },
    ...{ streams: { limit: 7, shadow: true }, tolerance: { addedLatencyMs: 50, addedCostPercent: null } },
  });
  for (const fields of [whole, { account_id: 'acct_b', key_id: 'key_b' }])
    expect(byHeader(fields)).toEqual(byMetadata(fields));
});

test('the second call of a key has the caller of the first, and another key has another', () => {
  const first = byHeader(whole);
  expect(byHeader({ ...whole })).toBe(first);
  expect(byHeader({ ...whole, key_id: 'key_b' })).toMatchObject({ keyId: 'key_b' });
});

test('whoever is not named is nobody', () => {
  for (const fields of [{}, { account_id: 'a' }, { key_id: 'k' }, { account_id: '', key_id: 'k' }])
    expect([byHeader(fields as Record<string, string>), byMetadata(fields as Record<string, string>)]).toEqual([
      null,
      null,
    ]);
});

test('any text goes through the header, which is ASCII', () => {
  const text = fc.string({ unit: 'binary', minLength: 1 });
  fc.assert(
    fc.property(text, (project) => {
      expect(callerText({ project })).toMatch(/^[ -~]+$/);
      expect(byHeader({ account_id: 'a', key_id: 'k', project })?.project).toBe(project);
    }),
  );
});
