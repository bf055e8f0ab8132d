import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { queryRefusal } from './query-refusal.ts';

const taken = ['model', 'limit'];
const refusal = (query: string) => {
  const { code, message, param, status } = queryRefusal(`/v1/gw/receipts${query}`, taken) ?? {};
  return status === undefined ? null : [status, code, param, message];
};

test('what an endpoint takes passes, however it is written', () => {
  for (const query of [
    '',
    '?',
    '?&',
    '?model=a',
    '?model=',
    '?model',
    '?model=a&limit=1',
    '?mod%65l=%f0%9f%98%80+a%2Fb',
  ])
    expect(refusal(query), query).toBeNull();
});

test('a parameter that an endpoint does not take is named, with those that it takes', () => {
  expect(refusal('?limit=1&group_by=model')).toEqual([
    400,
    'invalid_group_by',
    'group_by',
    'group_by: unknown parameter. This endpoint takes model, limit.',
  ]);
  expect(queryRefusal('/v1/models?owned_by=x', [])?.message).toBe(
    'owned_by: unknown parameter. This endpoint takes none.',
  );
  // The code is stable, so it holds no words of the client beyond what a name of ours could be.
  for (const [query, name] of [
    ['?Model=a', 'Model'],
    ['?model[]=a', 'model[]'],
    ['?__proto__=a', '__proto__'],
    ['?=a', null],
    [`?${'x'.repeat(99)}`, 'x'.repeat(64)],
  ] as const)
    expect(refusal(query)?.slice(0, 3), query).toEqual([400, 'invalid_request', name]);
});

test('what is no UTF-8 is refused, also half of a surrogate pair', () => {
  for (const text of ['%ed%a0%80', '%ff', '%', '%4', '%zz', '%c0%80', 'a%e2%82'])
    expect(refusal(`?model=${text}`), text).toEqual([400, 'invalid_model', 'model', expect.stringContaining('UTF-8')]);
  expect(refusal('?%ff=1')?.slice(0, 3)).toEqual([400, 'invalid_request', null]);
});

test('no query is a fault, and what passes holds no other name', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('model', 'limit', '%', '=', '&', '?', '#', '%00'),
  );
  fc.assert(
    fc.property(fc.array(text), (parts) => {
      const query = parts.join('');
      if (queryRefusal(`/x?${query}`, taken) !== null) return;
      for (const name of new URLSearchParams(query.split('#', 1)[0]).keys()) expect([...taken, '']).toContain(name);
    }),
    { numRuns: cases(2000) },
  );
});
