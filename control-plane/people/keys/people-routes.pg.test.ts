import { scopes } from '@gw/contract/access';
import { hourMs } from '@gw/contract/internal/durations';
import { issuedKeySchema } from '@gw/contract/keys';
import { seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp } from '@gw/testing/control-plane/app';
import { forFile } from '@gw/testing/for-file';
import { beforeAll, expect, test } from 'vitest';
import { hashToken } from '../access/token-hash.ts';
import { readAudit } from '../audit/read.ts';

const running = forFile(startTestApp);
let tokens: Awaited<ReturnType<typeof seedOperators>>;
beforeAll(async () => {
  tokens = await seedOperators(running.stores);
});

let count = 0;
async function newAccount(
  state: 'active' | 'suspended' | 'onboarding' = 'active',
  tier: 'audit' | 'audit_plus' = 'audit',
) {
  const id = `acct_people_${++count}`;
  const keyId = `People${String(count).padStart(6, '0')}`;
  const { db } = running.stores;
  await db.account.create({ data: { id, name: 'Test', tier, state } });
  const data = { publicId: keyId, accountId: id, name: 'k', hash: new Uint8Array(32), scopes: ['gw:read'] };
  await db.apiKey.create({ data });
  return { id, keyId, keys: `/operator/v1/accounts/${id}/keys` };
}

const as = (role: 'viewer' | 'support' | 'admin') => withToken(running.operator, tokens[role]);

test('viewers read, support revokes, admins do everything, and the log has their names', async () => {
  const { id, keyId, keys } = await newAccount();
  const key = `${keys}/${keyId}`;
  const tries: [string, 'GET' | 'POST' | 'PATCH', string, object | undefined][] = [
    ['list', 'GET', keys, undefined],
    ['read', 'GET', key, undefined],
    ['create', 'POST', keys, { name: 'new' }],
    ['rotate', 'POST', `${key}/rotate`, {}],
    ['change', 'PATCH', key, { limits: null }],
    ['revoke', 'POST', `${key}/revoke`, undefined],
    ['restore', 'POST', `${key}/restore`, undefined],
  ];
  // The admin's last step restores what support revokes afterwards.
  for (const role of ['viewer', 'admin', 'support'] as const) {
    const let_in: string[] = [];
    for (const [name, method, url, body] of tries)
      if ((await as(role)(method, url, body)).statusCode === 200) let_in.push(name);
    const allowed = { viewer: 2, support: 3, admin: 7 }[role];
    const names = tries.map(([name]) => name);
    expect(let_in, role).toEqual(role === 'support' ? ['list', 'read', 'revoke'] : names.slice(0, allowed));
  }
  const entries = await readAudit(running.stores.db, id, { order: 'asc', limit: 10 });
  expect(entries.map(({ action, actor }) => `${action} ${actor.kind} ${actor.name}`)).toContainEqual(
    expect.stringMatching(/^key\.revoked operator The support\b/),
  );
});

test('an operator grants admin:keys where the tier has it; a state that forbids it is 409', async () => {
  const plus = await newAccount('active', 'audit_plus');
  const made = await as('admin')('POST', plus.keys, { name: 'root', scopes: ['admin:keys'] });
  expect(issuedKeySchema.parse(made.json()).scopes).toEqual(['admin:keys']);
  const audit = await newAccount();
  const refused = await as('admin')('POST', audit.keys, { name: 'root', scopes: ['admin:keys'] });
  expect([refused.statusCode, refused.json().error.code]).toEqual([400, 'invalid_scopes']);
  for (const state of ['suspended', 'onboarding'] as const) {
    const { keys, keyId } = await newAccount(state);
    for (const url of [keys, `${keys}/${keyId}/rotate`]) {
      const reply = await as('admin')('POST', url, { name: 'k' });
      expect([reply.statusCode, reply.json().error.code], state).toEqual([409, 'invalid_transition']);
    }
    expect((await as('support')('POST', `${keys}/${keyId}/revoke`)).statusCode).toBe(200);
    const restore = await as('admin')('POST', `${keys}/${keyId}/restore`);
    expect([restore.statusCode, restore.json().error.code]).toEqual([409, 'invalid_transition']);
  }
  expect((await as('admin')('POST', '/operator/v1/accounts/acct_none/keys', { name: 'k' })).statusCode).toBe(404);
});

async function organisationAdmin(accountId: string) {
  const id = `orgadm_${accountId}`;
  const { db } = running.stores;
  const token = `session-of-${accountId}`.padEnd(43, 'x');
  await db.organisationAdmin.create({
    data: { id, accountId, name: 'Grace', email: `${id}@customer.example` },
  });
  const at = new Date();
  const expiresAt = new Date(at.getTime() + hourMs);
  await db.session.create({
    data: {
      tokenHash: hashToken(token),
      subjectKind: 'organisation_admin',
      subjectId: id,
      createdAt: at,
      lastSeenAt: at,
      expiresAt,
    },
  });
  return (method: 'GET' | 'POST' | 'PATCH', url: string, payload?: object) =>
    running.operator.inject({
      method,
      url,
      headers: { cookie: `gw_session=${token}`, 'x-gw-csrf': '1' },
      ...(payload ? { payload } : {}),
    });
}

test('an admin of an Audit organisation rotates and revokes its own keys, and sees no others', async () => {
  const own = await newAccount();
  const other = await newAccount();
  const call = await organisationAdmin(own.id);
  const listed = await call('GET', '/organisation/v1/keys');
  expect(listed.json().data.map(({ id }: { id: string }) => id)).toEqual([own.keyId]);
  const heir = await call('POST', `/organisation/v1/keys/${own.keyId}/rotate`, {});
  expect(issuedKeySchema.parse(heir.json())).toMatchObject({ predecessor: own.keyId, scopes: ['gw:read'] });
  const revoked = await call('POST', `/organisation/v1/keys/${own.keyId}/revoke`);
  expect(revoked.json()).toMatchObject({ state: 'revoked' });
  for (const action of ['rotate', 'revoke', 'restore'])
    expect((await call('POST', `/organisation/v1/keys/${other.keyId}/${action}`, {})).statusCode, action).toBe(404);
  expect((await call('GET', `/organisation/v1/keys/${other.keyId}`)).statusCode).toBe(404);
  expect((await call('GET', other.keys)).statusCode).toBe(403);
  const log = (await call('GET', '/organisation/v1/audit-log')).json();
  expect(log.data.map(({ action, actor }: { action: string; actor: object }) => [action, actor])).toEqual(
    ['key.revoked', 'key.rotated'].map((action) => [
      action,
      { kind: 'organisation_admin', id: `orgadm_${own.id}`, name: expect.stringMatching(/^Grace \(session /) },
    ]),
  );
});

test('the admin of an Enterprise organisation limits its own keys, and no others', async () => {
  const own = await newAccount();
  const other = await newAccount();
  const call = await organisationAdmin(own.id);
  const limits = {
    per_s: null,
    burst: null,
    per_day: 5,
    streams: null,
    tokens_per_minute: null,
    tokens_per_day: null,
  };
  const patch = (keyId: string) => call('PATCH', `/organisation/v1/keys/${keyId}`, { limits });
  expect((await patch(own.keyId)).json().error.code).toBe('invalid_limits');
  const data = { tier: 'enterprise', limitPerS: 1, limitBurst: 1, limitPerDay: 10 } as const;
  for (const { id } of [own, other]) await running.stores.db.account.update({ where: { id }, data });
  expect((await patch(own.keyId)).json()).toMatchObject({ id: own.keyId, limits });
  expect((await patch(other.keyId)).statusCode).toBe(404);
});

test('the admin of an organisation grants every scope of the tier, also admin:keys', async () => {
  const plus = await newAccount('active', 'audit_plus');
  const call = await organisationAdmin(plus.id);
  const made = await call('POST', '/organisation/v1/keys', { name: 'root', scopes: [...scopes] });
  expect(issuedKeySchema.parse(made.json()).scopes).toEqual(scopes);
});
