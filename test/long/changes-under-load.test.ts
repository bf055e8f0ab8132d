/** Revocations and restorings one after the other, under full load, on two ext-authz: none is ever late. */
import { issuedKeySchema } from '@gw/contract/keys';
import { forFile } from '@gw/testing/for-file';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changesHold } from '../access/changes-hold.ts';
import { complete, listModels, underLoad } from '../access/changes-under-load.ts';
import { apiOf } from '../operator-api.ts';
import { startOwnGateway } from '../outage/own-gateway.ts';

const rounds = 15;
const gateway = forFile(() => startOwnGateway({ instances: 2 }));
let redis: Redis;
beforeAll(() => {
  redis = new Redis(gateway.stack.redisUrl);
});
afterAll(async () => {
  redis?.disconnect();
});

describe.each([
  ['with messages', '+publish'],
  ['without messages', '-publish'],
])('%s', (_name, rule) => {
  beforeAll(() => redis.call('ACL', 'SETUSER', 'default', rule));
  afterAll(() => redis.call('ACL', 'SETUSER', 'default', '+publish'));

  test.each([
    ['completions', complete],
    ['lists of models', listModels],
  ])(`of ${rounds} revocations and restorings none is late for %s`, async (_call, call) => {
    const api = apiOf(gateway.stack);
    const keys = '/operator/v1/accounts/acct_demo_enterprise/keys';
    const { id, key } = issuedKeySchema.parse(await api.send('POST', keys, { name: 'loaded' }));
    const late: string[] = [];
    let calls = 0;
    for (let round = 0; round < rounds; round += 1)
      for (const [verb, expected] of [
        ['revoke', '401 revoked_api_key'],
        ['restore', '200'],
      ] as const) {
        const change = () => api.send('POST', `${keys}/${id}/${verb}`);
        const seen = await underLoad(gateway.stack, { call, key, change, forMs: 1000 });
        calls += seen.calls;
        late.push(...[...seen.late].filter((outcome) => outcome !== expected).map((each) => `${verb}: ${each}`));
      }
    console.log({ calls });
    expect(late).toEqual([]);
  });
});

describe('each kind of change, once', () => changesHold(() => gateway, { pauseMs: 0 }));
