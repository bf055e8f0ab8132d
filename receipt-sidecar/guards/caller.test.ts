import { tierLimits } from '@gw/contract/access';
import { callerAttribute } from '@gw/contract/internal/identity';
import type { ProcessingRequest } from '@gw/grpc/service';
import { describe, expect, test } from 'vitest';
import { readCaller } from './caller.ts';

type Fields = Readonly<Record<string, string>>;
const asAttribute = (text: string) =>
  ({
    attributes: { 'envoy.filters.http.ext_proc': { fields: { [callerAttribute]: { stringValue: text } } } },
  }) as unknown as ProcessingRequest;
const byAttribute = (fields: Fields) => asAttribute(JSON.stringify(fields));

const all = {
  account_id: 'acct',
  key_id: 'key',
  models: '["m"]',
  project: 'p',
  streams: '7:shadow',
  key_streams: '2',
  tolerance: '100:',
  usage_impacts: '1',
  tokens: '600/:shadow',
  key_tokens: '/70',
  budgets: '[["b","project","tokens",5,1,"p"]]',
};

describe('a caller', () => {
  test('is read with all that ext-authz says of it', () => {
    expect(readCaller(byAttribute(all))).toEqual({
      accountId: 'acct',
      keyId: 'key',
      models: ['m'],
      project: 'p',
      streams: { limit: 7, shadow: true },
      keyStreams: 2,
      tolerance: { addedLatencyMs: 100, addedCostPercent: null },
      usageImpacts: true,
      budgets: [{ id: 'b', scope: 'project', project: 'p', unit: 'tokens', amount: 5, isHard: true }],
      tokens: {
        levels: [
          { of: 'account', id: 'acct', limit: { rate: { perS: 10, burst: 600 }, perDay: null, owes: true } },
          { of: 'key', id: 'key', limit: { rate: null, perDay: 70, owes: true } },
        ],
        body: null,
        shadow: ['rate', 'day'],
      },
      leased: null,
    });
  });

  test('can use all models, and has the fewest streams, unless it is said otherwise', () => {
    const caller = readCaller(byAttribute({ account_id: 'acct', key_id: 'key' }));
    expect(caller).toMatchObject({
      models: null,
      project: null,
      keyStreams: null,
      usageImpacts: false,
      budgets: [],
      tokens: null,
      leased: null,
    });
    expect(caller?.streams).toEqual({ limit: tierLimits.audit.streams, shadow: false });
  });

  test('is nobody without an account and a key', () => {
    expect(readCaller(byAttribute({ account_id: 'acct' }))).toBeNull();
    expect(readCaller(byAttribute({ key_id: 'key' }))).toBeNull();
  });
});

test('nobody is told where Envoy has no word of ext-authz', () => {
  expect(readCaller({} as ProcessingRequest)).toBeNull();
});

test('what is not what ext-authz makes is an error, which ends the call', () => {
  expect(() => readCaller(asAttribute('{'))).toThrow();
});

test('callers of thousands of keys are told apart', () => {
  const models = JSON.stringify(Array.from({ length: 100 }, (_, at) => `model-${at}`));
  for (const tolerance of ['1:', '2:', '1:'])
    expect(readCaller(byAttribute({ account_id: 'acct', key_id: 'key', models, tolerance }))?.tolerance).toEqual({
      addedLatencyMs: Number(tolerance[0]),
      addedCostPercent: null,
    });
  for (const round of [1, 2])
    for (let at = 0; at < 2500; at += 1)
      expect(readCaller(byAttribute({ account_id: `acct-${at}`, key_id: `key-${round}` }))).toMatchObject({
        accountId: `acct-${at}`,
        keyId: `key-${round}`,
      });
});
