/** Budgets as the people of an organisation see and set them: those of their own keys and projects, and nobody else's. */
import { Browser, type Method, seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp } from '@gw/testing/control-plane/app';
import { type Organisation, openOrganisations } from '@gw/testing/control-plane/organisation';
import { forFile } from '@gw/testing/for-file';
import { beforeAll, expect, test } from 'vitest';

const running = forFile(startTestApp);
let tokens: Awaited<ReturnType<typeof seedOperators>>;
let newAccount: ReturnType<typeof openOrganisations>;
beforeAll(async () => {
  tokens = await seedOperators(running.context);
  newAccount = openOrganisations(running, tokens.admin);
});

const own = '/organisation/v1/budgets';
const operator = (role: keyof typeof tokens = 'admin') => withToken(running.operator, tokens[role]);
const newOrganisation = () => newAccount('audit');

const ofProject = { scope: 'project', name: 'chatbot', unit: 'tokens', amount: 1000, kind: 'hard' };
const atOperators = ({ accountId }: Organisation): string => `/operator/v1/accounts/${accountId}/budgets`;
const idsIn = (reply: { json(): { data: { id: string }[] } }) => reply.json().data.map(({ id }) => id);

test('an admin sets, reads, changes and removes budgets of their keys and projects, and the log says who', async () => {
  const organisation = await newOrganisation();
  const { admin, keyId } = organisation;
  const made = (await admin.call('POST', own, ofProject)).json();
  expect(made).toMatchObject({ ...ofProject, object: 'gw.budget', set_by: 'organisation', used: 0, reserved: 0 });
  const ofKey = await admin.call('POST', own, { ...ofProject, scope: 'key', name: keyId, kind: 'soft' });
  expect(ofKey.json()).toMatchObject({ scope: 'key', name: keyId, kind: 'soft', set_by: 'organisation' });
  expect(idsIn(await admin.call('GET', own))).toEqual([made.id, ofKey.json().id]);
  expect((await admin.call('PATCH', `${own}/${made.id}`, { amount: 5 })).json()).toMatchObject({ amount: 5 });
  expect((await admin.call('DELETE', `${own}/${made.id}`)).json()).toMatchObject({ id: made.id, deleted: true });
  expect(idsIn(await operator('viewer')('GET', atOperators(organisation)))).toEqual([ofKey.json().id]);
  const log = (await admin.call('GET', '/organisation/v1/audit-log')).json().data.slice(0, 4);
  expect(log.map(({ action, actor }: { action: string; actor: object }) => [action, actor])).toEqual(
    ['budget.removed', 'budget.changed', 'budget.set', 'budget.set'].map((action) => [
      action,
      expect.objectContaining({ kind: 'organisation_admin', id: organisation.adminId }),
    ]),
  );
});

test('a budget of the whole account, or of a key of another account, is not theirs to set', async () => {
  const { admin } = await newOrganisation();
  const other = await newOrganisation();
  const { name: _, ...nameless } = ofProject;
  const whole = await admin.call('POST', own, { ...nameless, scope: 'account' });
  expect([whole.statusCode, whole.json().error.code]).toEqual([400, 'invalid_scope']);
  const foreign = await admin.call('POST', own, { ...ofProject, scope: 'key', name: other.keyId });
  expect([foreign.statusCode, foreign.json().error.code]).toEqual([400, 'invalid_name']);
});

async function expectUnchangeable(admin: Browser, id: string, refusal: readonly [number, string]): Promise<void> {
  for (const [method, body] of [
    ['PATCH', { amount: 1 }],
    ['DELETE', undefined],
  ] as const) {
    const reply = await admin.call(method, `${own}/${id}`, body);
    expect([method, reply.statusCode, reply.json().error.code]).toEqual([method, ...refusal]);
  }
}

test('what an operator has set they see and cannot change, and their own holds beside it', async () => {
  const organisation = await newOrganisation();
  const { admin } = organisation;
  const set = (await operator()('POST', atOperators(organisation), ofProject)).json();
  await expectUnchangeable(admin, set.id, [409, 'invalid_transition']);
  const beside = (await admin.call('POST', own, { ...ofProject, amount: 10 })).json();
  expect(idsIn(await admin.call('GET', own))).toEqual([set.id, beside.id]);
  // An operator changes any.
  expect((await operator()('PATCH', `${atOperators(organisation)}/${beside.id}`, { amount: 2 })).statusCode).toBe(200);
});

test("another organisation's budget is not found, whatever is asked of it", async () => {
  const { admin } = await newOrganisation();
  const other = await newOrganisation();
  const theirs = (await other.admin.call('POST', own, ofProject)).json();
  await expectUnchangeable(admin, theirs.id, [404, 'invalid_budget']);
  expect(idsIn(await admin.call('GET', own))).toEqual([]);
  expect((await other.admin.call('GET', own)).json().data).toMatchObject([{ id: theirs.id, amount: 1000 }]);
  // Nor has an operator it under another account.
  const elsewhere = await operator()('DELETE', `/operator/v1/accounts/acct_demo_audit/budgets/${theirs.id}`);
  expect([elsewhere.statusCode, elsewhere.json().error.code]).toEqual([404, 'invalid_budget']);
});

test('operators below admins read budgets and set none; the routes of either kind refuse the other, and who has not logged in', async () => {
  const organisation = await newOrganisation();
  const { admin } = organisation;
  const { id } = (await admin.call('POST', own, ofProject)).json();
  const ofOperators = atOperators(organisation);
  const changes: readonly (readonly [Method, string, object?])[] = [
    ['POST', '', { ...ofProject, unit: 'carbon_g' }],
    ['PATCH', `/${id}`, { amount: 1 }],
    ['DELETE', `/${id}`],
  ];
  for (const role of ['viewer', 'support'] as const) {
    expect((await operator(role)('GET', ofOperators)).statusCode).toBe(200);
    for (const [method, rest, body] of changes)
      expect((await operator(role)(method, ofOperators + rest, body)).statusCode, `${role} ${method}`).toBe(403);
  }
  for (const [method, rest, body] of [['GET', ''] as const, ...changes]) {
    expect((await operator()(method, own + rest, body)).statusCode, `operator ${method}`).toBe(403);
    expect((await admin.call(method, ofOperators + rest, body)).statusCode, `organisation ${method}`).toBe(403);
    const nobody = await new Browser(running.operator).call(method, own + rest, body);
    expect(nobody.statusCode, `nobody ${method}`).toBe(401);
  }
  expect((await admin.call('GET', own)).json().data).toMatchObject([{ id, amount: 1000 }]);
});

test('an admin who was disabled in the meantime sets nothing any more', async () => {
  const { accountId, admin, adminId } = await newOrganisation();
  await operator()('POST', `/operator/v1/accounts/${accountId}/admins/${adminId}/disable`);
  expect((await admin.call('POST', own, ofProject)).statusCode).toBe(401);
  expect(await running.stores.db.budget.count({ where: { accountId } })).toBe(0);
});
