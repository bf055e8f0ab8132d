import { type Method, seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp } from '@gw/testing/control-plane/app';
import { forFile } from '@gw/testing/for-file';
import { beforeAll, expect, test } from 'vitest';

const running = forFile(startTestApp);
let token: string;
let call: ReturnType<typeof withToken>;

beforeAll(async () => {
  token = (await seedOperators(running.context)).admin;
  call = withToken(running.operator, token);
});

/** `%` stands where an id does. */
const routes: [Method, string][] = [
  ['GET', '/operator/v1/operators/%/tokens'],
  ['DELETE', '/operator/v1/operators/op_admin/tokens/%'],
  ['PATCH', '/operator/v1/operators/%'],
  ['POST', '/operator/v1/operators/%/disable'],
  ['GET', '/operator/v1/accounts/%'],
  ['PATCH', '/operator/v1/accounts/%'],
  ['POST', '/operator/v1/accounts/%/suspend'],
  ['GET', '/operator/v1/accounts/%/admins'],
  ['POST', '/operator/v1/accounts/acct_demo_audit/admins/%/disable'],
  ['GET', '/operator/v1/accounts/%/keys'],
  ['GET', '/operator/v1/accounts/acct_demo_audit/keys/%'],
  ['POST', '/operator/v1/accounts/acct_demo_audit/keys/%/revoke'],
  ['GET', '/operator/v1/applications/%'],
  ['POST', '/operator/v1/applications/%/declaration'],
  ['GET', '/operator/v1/models/%'],
  ['PATCH', '/operator/v1/regions/%'],
  ['DELETE', '/operator/v1/deployments/%'],
  ['PATCH', '/operator/v1/aliases/%'],
  ['DELETE', '/operator/v1/prices/%'],
  ['PATCH', '/operator/v1/energy-contracts/%'],
  ['GET', '/operator/v1/policy/versions/%'],
  ['GET', '/operator/v1/policy/versions?after=%'],
  ['PATCH', '/operator/v1/policy/rules/%'],
  ['GET', '/operator/v1/policy/exemptions?account_id=%'],
  ['GET', '/operator/v1/policy/exemptions?after=%'],
  ['DELETE', '/operator/v1/policy/exemptions/%/rule'],
  ['DELETE', '/operator/v1/policy/exemptions/acct_demo_audit/%'],
  ['GET', '/operator/v1/audit?chain=%'],
  ['GET', '/operator/v1/audit?chain=operators&actor=%'],
  ['GET', '/operator/v1/accounts?search=%'],
  ['GET', '/operator/v1/accounts?after=%'],
  ['GET', '/operator/v1/applications?after=%'],
];

test.each(routes)('%s %s takes no id that is none for a fault of its own', async (method, path) => {
  for (const id of ['%00', 'a%00b', '%ff', '%ED%A0%80', '..%2f..', '%27', 'x'.repeat(1000)]) {
    const url = path.replace('%', id);
    const body = method === 'GET' || method === 'DELETE' ? undefined : {};
    expect([url, (await call(method, url, body)).statusCode >= 500]).toEqual([url, false]);
  }
  const nul = await call(method, path.replace('%', '%00'), method === 'GET' || method === 'DELETE' ? undefined : {});
  expect([400, 404]).toContain(nul.statusCode);
});

const bodies: [Method, string, string][] = [
  ['POST', '/session', '{"email":"%","credential":"x"}'],
  ['POST', '/session', '{"email":"a@ops.example","credential":"%"}'],
  ['PUT', '/session/credential', '{"current":"%","next":"a credential of the tests"}'],
  ['POST', '/operator/v1/operators', '{"name":"%","email":"a@ops.example","role":"viewer"}'],
  ['POST', '/operator/v1/operators', '{"name":"a","email":"%@ops.example","role":"viewer"}'],
  ['POST', '/operator/v1/operators/op_admin/tokens', '{"name":"%"}'],
  ['POST', '/operator/v1/accounts/acct_demo_audit/suspend', '{"reason":"%"}'],
  ['PATCH', '/operator/v1/accounts/acct_demo_audit', '{"models":["%"]}'],
  ['POST', '/operator/v1/accounts/acct_demo_audit/keys', '{"name":"%"}'],
  ['POST', '/operator/v1/policy/versions', '{"based_on":1,"note":"%","rules":[]}'],
  ['POST', '/operator/v1/policy/dry-run', '{"samples":[{"text":"%"}]}'],
  ['POST', '/operator/v1/policy/exemptions', '{"account_id":"acct_demo_audit","rule_id":"x","reason":"%"}'],
  ['POST', '/operator/v1/models', '{"%":1}'],
  ['POST', '/operator/v1/operators/op_viewer/disable', '{"%":1}'],
];

test.each(bodies)('%s %s with NUL or half a character in %s is 400, and nothing is done', async (method, url, text) => {
  const entries = () => running.context.db.$queryRaw`SELECT count(*)::int FROM audit`;
  const before = await entries();
  for (const part of ['\\u0000', 'a\\u0000b', '\\ud800', '\\udc00x']) {
    const reply = await running.operator.inject({
      method,
      url,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      payload: text.replace('%', part),
    });
    expect([part, reply.statusCode, reply.json().error.type]).toEqual([part, 400, 'validation_error']);
  }
  expect(await entries()).toEqual(before);
});

test('calls that say everything in their path take no body that says more', async () => {
  const disable = '/operator/v1/operators/op_viewer/disable';
  expect((await call('POST', disable, { until: 'tomorrow' })).statusCode).toBe(400);
  expect((await call('POST', disable, {})).statusCode).toBe(200);
});

test('a page whose name was made to lead here reads nothing, not even health and metrics, and no browser guesses a type', async () => {
  for (const url of ['/metrics', '/healthz', '/session', '/dashboard/', '/operator/v1/accounts', '/else', '/%']) {
    const headers = { authorization: `Bearer ${token}` };
    const other = await running.operator.inject({ url, headers: { ...headers, host: 'evil.example:8081' } });
    expect([url, other.statusCode, other.json().error.code]).toEqual([url, 400, 'invalid_request']);
    const own = await running.operator.inject({ url, headers: { ...headers, host: 'localhost:8081' } });
    expect([url, own.headers['x-content-type-options']]).toEqual([url, 'nosniff']);
    expect(other.headers['x-content-type-options']).toBe('nosniff');
  }
});
