import { runAdmin } from '@gw/cli/internals/commands/admin';
import { findTarget, openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import { groundAlarmKey, groundKey, ledgerStream } from '@gw/contract/internal/redis';
import { statementCode } from '@gw/contract/internal/witness';
import { seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp, type TestApp, testWitnessKey } from '@gw/testing/control-plane/app';
import { entryOf, eventually, ledgerKeys, type Stores, startStores } from '@gw/testing/control-plane/fixtures';
import { entryNamed } from '@gw/testing/ledger-entry';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signHeads } from '../ledger/log/heads.ts';
import { comparedSecrets } from './facts.ts';
import { secretNames } from './watch.ts';

let stores: Stores;
let tokens: Awaited<ReturnType<typeof seedOperators>>;
let healthy: TestApp;
const another = 'ab'.repeat(32);

/** An instance with other settings, on the same stores. */
const startInstance = (settings: Readonly<Record<string, string>> = {}) =>
  startTestApp(undefined, { ...stores, stop: async () => undefined }, settings);

const verdictsOf = async (instance: TestApp) => {
  const { data } = (await withToken(instance.operator, tokens.admin)('GET', '/operator/v1/secrets')).json();
  return Object.fromEntries((data as { id: string; verdict: string }[]).map(({ id, verdict }) => [id, verdict]));
};
const all = (verdict: string) => Object.fromEntries(secretNames.map((name) => [name, verdict]));

beforeAll(async () => {
  stores = await startStores();
  healthy = await startInstance();
}, 120_000);
afterAll(async () => {
  await healthy?.stop();
  await stores?.stop();
});

/** Data of each kind, made with the secrets that `startTestApp` sets. */
async function makeData(): Promise<void> {
  tokens = await seedOperators(healthy.context);
  const ask = withToken(healthy.operator, tokens.admin);
  const credential = { value: 'a-credential', base_url: 'https://llm.example' };
  expect((await ask('PUT', '/operator/v1/credentials/ACME', credential)).statusCode).toBe(200);
  await healthy.operator.inject({
    method: 'POST',
    url: '/operator/v1/operators',
    headers: { authorization: `Bearer ${tokens.admin}`, 'idempotency-key': 'once' },
    payload: { name: 'Ada', email: 'ada@ops.example', role: 'viewer' },
  });
  await healthy.store(entryOf());
  const { seals } = healthy.services.ledger;
  const key = healthy.services.ledger.evidenceKey;
  await signHeads({ db: stores.databases.ledger, redis: stores.redis, seals, key, now: () => new Date() });
  await stores.redis.xadd(ledgerStream, '*', 'entry', entryNamed('waits'));
  const statement = '{"calls":[],"unsure":[],"isLast":false}';
  const code = statementCode(testWitnessKey, { life: 'a', seq: 1 }, statement);
  await stores.tamper(
    `INSERT INTO witness_statements (life, seq, statement, code) VALUES ('a', 1, '${statement}', '${code}')`,
  );
}

test('before there is data nothing contradicts a secret, and with the right ones everything fits', async () => {
  const before = healthy.services.secrets.verdicts();
  expect(before.every(({ verdict }) => ['fits', 'nothing_to_compare'].includes(verdict))).toBe(true);
  await makeData();
  expect(await verdictsOf(healthy)).toEqual(all('fits'));
});

test.each(secretNames)(
  'an instance with another %s says so by health, metric and command, and of no other',
  async (name) => {
    const instance = await startInstance({ [name]: another });
    try {
      expect(await verdictsOf(instance)).toEqual({ ...all('fits'), [name]: 'does_not_fit' });
      const health = await instance.operator.inject('/healthz');
      const isClosed = name === 'GW_LEDGER_KEY' || name === 'GW_EVIDENCE_KEY';
      expect(health.statusCode).toBe(isClosed ? 503 : 200);
      expect(health.json()).toMatchObject({
        status: isClosed ? 'unavailable' : 'degraded',
        secrets_unfit: [name],
        degraded: { secrets_unfit: expect.stringMatching(`: ${name}\\. Set the secret .*docs/secrets\\.md`) },
      });
      const metrics = (await instance.operator.inject('/metrics')).body;
      expect(metrics).toMatch(new RegExp(`^gw_secret_fits\\{secret="${name}",[^}]*\\} 0$`, 'm'));
      expect(metrics).toMatch(/^gw_degraded\{cause="secrets_unfit",[^}]*\} 1$/m);
      expect(metrics.match(/^gw_secret_fits\{[^}]*\} 1$/gm)).toHaveLength(secretNames.length - 1);
      let text = '';
      const api = openOperatorApi(
        findTarget({ GW_CONTROL_URL: instance.operatorUrl, GW_OPERATOR_TOKEN: tokens.admin }, null),
      );
      const code = await runAdmin(['secrets'], {
        openApi: () => api,
        print: (part) => {
          text += part;
        },
        tell: () => {},
      });
      expect(code).toBe(1);
      expect(text).toContain(`${name}: not the secret of the stored data.`);
      expect(text).toContain(comparedSecrets[name].loss);
      expect(text).not.toContain(another);
    } finally {
      await instance.stop();
    }
  },
);

test('with another key of the ledger nothing is sealed, nothing is called forged for good, and no receipt is served', async () => {
  const entry = entryOf();
  const instance = await startInstance();
  await instance.store(entry);
  await instance.stop();
  const wrong = await startInstance({ GW_LEDGER_KEY: another });
  const ask = withToken(wrong.operator, tokens.admin);
  expect(
    (await ask('POST', '/operator/v1/operators', { name: 'Eve', email: 'eve@ops.example', role: 'viewer' })).statusCode,
  ).toBe(500);
  const read = await wrong.get(`/v1/gw/receipts/${entry.receipt.id}`, { 'x-gw-account-id': entry.accountId });
  expect(read.json().error.code).toBe('receipt_integrity_failed');
  expect(wrong.services.secrets.mayWriteLedger()).toBe(false);
  await wrong.stop();
  const [faults] = await stores.db.$queryRaw<{ count: number }[]>`SELECT count(*)::int AS count FROM integrity_faults`;
  expect(faults?.count).toBe(0);
});

test('an instance whose keys do not fit looks all the same whether Postgres has gone back', async () => {
  const { redis } = stores;
  const wrong = await startTestApp(
    undefined,
    { ...stores, stop: async () => undefined },
    { GW_LEDGER_KEY: another },
    true,
  );
  try {
    expect(wrong.services.secrets.mayWriteLedger()).toBe(false);
    await eventually(async () => Number(await redis.hget(groundKey, 'heartbeat')) > 0);
    await redis.hset(groundKey, { heartbeat: 1_000_000 });
    await eventually(async () => (await redis.exists(groundAlarmKey)) === 1);
  } finally {
    await wrong.stop();
    await redis.del(groundKey, groundAlarmKey);
  }
});

test('no key is issued with a pepper that ext-authz does not have; the right one is known as a previous one too', async () => {
  const wrong = await startInstance({ GW_KEY_PEPPER: another });
  const keys = '/operator/v1/accounts/acct_demo_audit/keys';
  expect((await withToken(wrong.operator, tokens.admin)('POST', keys, { name: 'robot' })).statusCode).toBe(500);
  await wrong.stop();
  const rotated = await startInstance({
    GW_KEY_PEPPER: another,
    GW_KEY_PEPPER_VERSION: '2',
    GW_KEY_PEPPER_PREVIOUS: '07'.repeat(32),
    GW_LEDGER_KEY: another,
    GW_LEDGER_KEY_ID: '2',
    GW_LEDGER_KEYS_PREVIOUS: `1:${ledgerKeys.current.secret.toString('hex')}`,
  });
  expect(await verdictsOf(rotated)).toEqual(all('fits'));
  expect((await withToken(rotated.operator, tokens.admin)('POST', keys, { name: 'robot' })).statusCode).toBe(200);
  await rotated.stop();
});

test('the key of credentials is compared with what account issuers and second factors have, each by itself', async () => {
  const { db } = stores;
  const verdict = async () => {
    const instance = await startInstance({ GW_CREDENTIALS_KEY: another });
    const { GW_CREDENTIALS_KEY } = await verdictsOf(instance);
    await instance.stop();
    return GW_CREDENTIALS_KEY;
  };
  await stores.empty('provider_credentials');
  expect(await verdict()).toBe('nothing_to_compare');
  const issuer = { issuer: 'https://login.example', client_id: 'gw', client_secret: 'secret', domain: 'a.example' };
  const ask = withToken(healthy.operator, tokens.admin);
  expect((await ask('PUT', '/operator/v1/accounts/acct_demo_audit/issuer', issuer)).statusCode).toBe(200);
  expect(await verdict()).toBe('does_not_fit');
  await stores.empty('account_issuers');
  const { secondFactors } = healthy.services.people.access;
  await db.$transaction((tx) => secondFactors.make(tx, { kind: 'operator', id: 'op_admin' }, 'a', new Date()));
  expect(await verdict()).toBe('nothing_to_compare');
  await db.secondFactor.updateMany({ data: { setAt: new Date() } });
  expect(await verdict()).toBe('does_not_fit');
  // The credential is set again, which helps no second factor.
  const wrong = await startInstance({ GW_CREDENTIALS_KEY: another });
  const credential = { value: 'a-credential', base_url: 'https://llm.example' };
  await withToken(wrong.operator, tokens.admin)('PUT', '/operator/v1/credentials/ACME', credential);
  await wrong.services.secrets.refresh();
  expect((await verdictsOf(wrong)).GW_CREDENTIALS_KEY).toBe('does_not_fit');
  await wrong.stop();
});
