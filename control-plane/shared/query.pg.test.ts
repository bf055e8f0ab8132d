/** Queries of every read that needs a login or a key: what an endpoint does not take it says. */
import { routes } from '@gw/contract/routes';
import { seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp } from '@gw/testing/control-plane/app';
import { forFile } from '@gw/testing/for-file';
import { beforeAll, expect, test } from 'vitest';

const running = forFile(startTestApp);
let operator: ReturnType<typeof withToken>;
beforeAll(async () => {
  operator = withToken(running.operator, (await seedOperators(running.stores)).admin);
});

const shown = (reply: { statusCode: number; json: () => ReturnType<typeof JSON.parse> }) => {
  const { code, param } = reply.json().error ?? {};
  return [reply.statusCode, code, param];
};

const behindEnvoy = routes
  .filter(({ handler, method, scope }) => handler === 'control' && method === 'GET' && scope !== null)
  .map(({ path }) => path.replaceAll(/\{\w+\}/g, 'some-id'));

test.each(behindEnvoy)('GET %s names a parameter that it does not take', async (path) => {
  expect(shown(await running.get(`${path}?sort_by=model`))).toEqual([400, 'invalid_sort_by', 'sort_by']);
  expect(shown(await running.get(`${path}?account_id=acct_demo_enterprise`))).toEqual([
    400,
    'invalid_account_id',
    'account_id',
  ]);
});

test('half of a surrogate pair is refused in a filter as NUL is', async () => {
  for (const [path, name] of [
    ['/v1/gw/receipts', 'model'],
    ['/v1/gw/receipts', 'region'],
    ['/v1/audit-log', 'actor'],
    ['/v1/audit-log', 'action'],
  ])
    for (const text of ['%ed%a0%80', '%ed%b0%80', '%00'])
      expect(shown(await running.get(`${path}?${name}=${text}`)), `${name}=${text}`).toEqual([
        400,
        `invalid_${name}`,
        name,
      ]);
});

const ofOperators = [
  ...['accounts', 'accounts/acct_demo_audit', 'accounts/acct_demo_audit/admins', 'accounts/acct_demo_audit/keys'],
  ...['accounts/acct_demo_audit/keys/xxxxxxxxxxxx', 'applications', 'applications/acct_demo_audit', 'use-policy'],
  ...['audit', 'audit/heads', 'models', 'models/sim-small', 'regions', 'regions/us-east', 'providers', 'deployments'],
  ...['operators', 'policy/versions', 'policy/defaults', 'policy/exemptions'],
];

test.each(ofOperators)('GET /operator/v1/%s names a parameter that it does not take', async (path) => {
  expect(shown(await operator('GET', `/operator/v1/${path}?created_after=2026`))).toEqual([
    400,
    'invalid_created_after',
    'created_after',
  ]);
});

test('so do changes, and nothing is changed', async () => {
  const url = '/operator/v1/regions/us-east';
  expect(shown(await operator('PATCH', `${url}?dry_run=true`, { status: 'degraded' }))).toEqual([
    400,
    'invalid_dry_run',
    'dry_run',
  ]);
  expect((await operator('GET', url)).json().status).toBe('active');
});

test('strangers are told nothing of it, and a probe may say what it likes', async () => {
  const asked = (url: string) => running.operator.inject({ url });
  expect(shown(await asked('/operator/v1/accounts?sort_by=x'))).toEqual([401, 'invalid_session', null]);
  expect(shown(await asked('/nowhere?sort_by=x'))[0]).toBe(404);
  expect((await asked('/healthz?t=1')).statusCode).toBe(200);
  expect((await running.get('/healthz?t=1')).statusCode).toBe(200);
});
