import { type PolicyRule, rulesSha256 } from '@gw/contract/internal/policy-rules';
import { usePolicySchema } from '@gw/contract/use-policy';
import { defaultRules } from '@gw/policy/default-rules';
import type { Method } from '@gw/testing/control-plane/access';
import { silentLog } from '@gw/testing/control-plane/fixtures';
import {
  account,
  as,
  at,
  clock,
  inForce,
  newestEntry,
  pattern,
  phrases,
  publish,
  testApp,
  useTestApp,
} from '@gw/testing/control-plane/policy';
import type { LightMyRequestResponse } from 'fastify';
import { beforeEach, expect, test } from 'vitest';
import { openFirstVersion } from './first-version.ts';

useTestApp();
const rules = [phrases('one', 'the first phrase'), pattern('two', 'second (?:pattern|wording)', 'second')];
beforeEach(async () => {
  await testApp().context.db.policyExemption.deleteMany();
  expect((await publish(rules)).statusCode).toBe(200);
});
const errorOf = (reply: LightMyRequestResponse) => {
  const { code, param } = reply.json().error;
  return [reply.statusCode, code, param];
};
const versionCount = () => testApp().context.db.policyVersion.count();

test('the first version is what the software came with, written once by many who start at once', async () => {
  const { context } = testApp();
  const all = (await as('support')('GET', at('/versions'))).json();
  const first = (await as('support')('GET', at('/versions/1'))).json();
  expect(first).toMatchObject({ version: 1, created_by: 'system', rules: defaultRules });
  expect(first.sha256).toBe(rulesSha256(defaultRules));
  await Promise.all(Array.from({ length: 4 }, () => openFirstVersion({ ...context, log: silentLog })()));
  expect((await as('support')('GET', at('/versions'))).json()).toEqual(all);
  expect((await as('support')('GET', at('/defaults'))).json()).toMatchObject({
    sha256: first.sha256,
    rules: defaultRules,
  });
});

test('a set is published whole, is in force and listed, and the audit log names what has changed', async () => {
  const before = await inForce();
  const next = [phrases('one', 'another phrase'), phrases('three', 'third phrase')];
  const reply = await publish(next, { note: 'better' });
  expect(reply.json()).toEqual({
    object: 'policy_version',
    version: before.version + 1,
    sha256: rulesSha256(next),
    note: 'better',
    created_at: clock.toISOString(),
    created_by: 'op_admin',
    rules: next,
  });
  expect(await inForce()).toEqual(reply.json());
  const { data } = (await as('support')('GET', at('/versions?limit=1'))).json();
  const { rules: _, ...head } = reply.json();
  expect(data).toEqual([{ ...head, rule_count: 2 }]);
  expect(await newestEntry()).toMatchObject({
    action: 'policy.published',
    target: `policy:${before.version + 1}`,
    actor: { id: 'op_admin' },
    before: { version: before.version, sha256: before.sha256 },
    after: {
      version: before.version + 1,
      sha256: rulesSha256(next),
      note: 'better',
      rules: { added: ['three'], removed: ['two'], changed: ['one'] },
    },
  });
});

test('versions are listed page by page, newest first', async () => {
  for (const phrase of ['a phrase', 'b phrase', 'c phrase']) await publish([phrases('one', phrase)]);
  const seen: number[] = [];
  for (let after: string | undefined, more = true; more; ) {
    const page = (await as('support')('GET', at(`/versions?limit=2${after ? `&after=${after}` : ''}`))).json();
    seen.push(...page.data.map(({ version }: { version: number }) => version));
    [after, more] = [page.last_id, page.has_more];
  }
  expect(seen).toEqual(Array.from({ length: await versionCount() }, (_, i) => seen.length - i));
});

test('who knew an older version is refused with 409, and of many at once one is heard', async () => {
  const { version } = await inForce();
  const replies = await Promise.all(
    Array.from({ length: 6 }, (_, i) =>
      as('admin')('POST', at('/versions'), { based_on: version, note: 'race', rules: [phrases('one', `phrase ${i}`)] }),
    ),
  );
  expect(replies.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409, 409, 409, 409, 409]);
  expect((await inForce()).version).toBe(version + 1);
  const late = replies.find(({ statusCode }) => statusCode === 409);
  expect(late?.json().error).toMatchObject({
    code: 'invalid_transition',
    message: expect.stringContaining(`${version + 1}`),
  });
});

test('what changes no rule makes no version and no entry, even when its fields stand in another order', async () => {
  const before = [await inForce(), await newestEntry()];
  const same = rules.map((rule) => Object.fromEntries(Object.entries(rule).reverse())) as typeof rules;
  expect((await publish(same, { note: 'again' })).json()).toEqual(before[0]);
  expect([await inForce(), await newestEntry()]).toEqual(before);
});

const refused: [string, object, (string | number | null)[], string][] = [
  [
    'not an RE2',
    [phrases('one', 'a phrase'), pattern('bad', '(?=look) ahead', 'ahead')],
    [400, 'invalid_rules', 'rules[1]'],
    'rule bad',
  ],
  ['matches nothing', [pattern('bad', '(?:word)?', 'word')], [400, 'invalid_rules', 'rules[0]'], 'rule bad'],
  ['an empty phrase', [phrases('bad', '...')], [400, 'invalid_rules', 'rules[0]'], 'rule bad'],
  [
    'the same id twice',
    [phrases('one', 'a phrase'), phrases('one', 'a phrase')],
    [400, 'invalid_rules', 'rules'],
    'same id',
  ],
  ['an unknown kind', [{ ...phrases('one', 'a phrase'), kind: 'magic' }], [400, 'invalid_kind', 'rules[0].kind'], ''],
  ['an unknown field', [{ ...phrases('one', 'a phrase'), magic: 1 }], [400, 'invalid_magic', 'rules[0].magic'], ''],
  ['no list', { one: 1 }, [400, 'invalid_rules', 'rules'], ''],
];

test.each(refused)('a set with %s is refused by name, and nothing is published', async (_, set, error, words) => {
  const before = await versionCount();
  for (const path of ['/versions', '/dry-run']) {
    const basis = path === '/versions' ? { based_on: (await inForce()).version, note: 'x' } : {};
    const reply = await as('admin')('POST', at(path), { ...basis, rules: set });
    expect(errorOf(reply)).toEqual(error);
    expect(reply.json().error.message).toContain(words);
  }
  expect(await versionCount()).toBe(before);
});

test('a rule that is switched off is held to the same, so that it can be switched on', async () => {
  const off = { ...pattern('bad', '(?=look) ahead', 'ahead'), enabled: false };
  expect(errorOf(await publish([off]))).toEqual([400, 'invalid_rules', 'rules[0]']);
});

test('one rule is switched off or made to flag by itself, and the set is a new version', async () => {
  const { version } = await inForce();
  const patch = (id: string, body: object) => as('admin')('PATCH', at(`/rules/${id}`), body);
  const reply = await patch('one', { enabled: false, action: 'flag', note: 'too many false alarms' });
  expect(reply.json()).toMatchObject({
    version: version + 1,
    note: 'too many false alarms',
    rules: [{ ...rules[0], enabled: false, action: 'flag' }, rules[1]],
  });
  expect(await newestEntry()).toMatchObject({ after: { rules: { added: [], removed: [], changed: ['one'] } } });
  expect(errorOf(await patch('nothing', { enabled: false, note: 'x' }))).toEqual([404, 'invalid_policy_rule', null]);
  expect(errorOf(await patch('one', { note: 'x' }))[0]).toBe(400);
  expect((await patch('one', { enabled: false, note: 'x' })).json().version).toBe(version + 1);
});

test('an older version is published again as a new one', async () => {
  const { version } = await inForce();
  await publish([phrases('other', 'other phrase')]);
  const back = (body: object) => as('admin')('POST', at('/versions'), { note: 'back', ...body });
  expect((await back({ based_on: version + 1, version })).json()).toMatchObject({ version: version + 2, rules });
  expect(errorOf(await back({ based_on: version + 2, version: 999 }))).toEqual([400, 'invalid_version', 'version']);
  expect((await back({ based_on: version + 2 })).statusCode).toBe(400);
  expect((await back({ based_on: version + 2, version, rules })).statusCode).toBe(400);
});

test('an account is exempt from a rule until it is no more, and its own log says so, reason included', async () => {
  const body = { account_id: account, rule_id: 'one', reason: 'a licensed laboratory' };
  const added = await as('admin')('POST', at('/exemptions'), body);
  const view = { object: 'policy_exemption', ...body, created_at: clock.toISOString(), created_by: 'op_admin' };
  expect(added.json()).toEqual(view);
  expect(await newestEntry(account)).toMatchObject({
    action: 'policy.exempted',
    target: `account:${account}`,
    actor: { id: 'op_admin' },
    before: null,
    after: { rule_id: 'one', reason: 'a licensed laboratory' },
  });
  const entry = await newestEntry(account);
  expect((await as('admin')('POST', at('/exemptions'), { ...body, reason: 'another' })).json()).toEqual(view);
  expect(await newestEntry(account)).toEqual(entry);
  await as('admin')('POST', at('/exemptions'), { ...body, rule_id: 'two' });
  await as('admin')('POST', at('/exemptions'), { ...body, account_id: 'acct_demo_enterprise' });
  const list = async (query: string) => (await as('support')('GET', at(`/exemptions?${query}`))).json();
  const pairs = (page: { data: { account_id: string; rule_id: string }[] }) =>
    page.data.map(({ account_id, rule_id }) => `${account_id} ${rule_id}`);
  const first = await list('limit=2');
  expect([pairs(first), first.has_more]).toEqual([[`${account} one`, `${account} two`], true]);
  expect(pairs(await list(`after=${encodeURIComponent(first.last_id)}`))).toEqual(['acct_demo_enterprise one']);
  expect(pairs(await list(`account_id=${account}`))).toHaveLength(2);
  const gone = await as('admin')('DELETE', at(`/exemptions/${account}/one`));
  expect(gone.json()).toEqual({ object: 'policy_exemption', account_id: account, rule_id: 'one', deleted: true });
  expect(await newestEntry(account)).toMatchObject({
    action: 'policy.exemption_removed',
    before: { rule_id: 'one', reason: 'a licensed laboratory' },
    after: null,
  });
  expect(errorOf(await as('admin')('DELETE', at(`/exemptions/${account}/one`)))[0]).toBe(404);
});

test('there is no exemption for an account or from a rule that is not there', async () => {
  const add = (body: object) => as('admin')('POST', at('/exemptions'), { reason: 'x', ...body });
  expect(errorOf(await add({ account_id: 'nobody', rule_id: 'one' }))).toEqual([404, 'invalid_account', null]);
  expect(errorOf(await add({ account_id: account, rule_id: 'none' }))).toEqual([400, 'invalid_rule_id', 'rule_id']);
  expect(errorOf(await add({ account_id: account }))).toEqual([400, 'missing_required_parameter', 'rule_id']);
});

test('viewers see no rules, support reads and tries them, and only admins change them', async () => {
  const reads: [Method, string, object?][] = [
    ['GET', ''],
    ['GET', '/defaults'],
    ['GET', '/versions'],
    ['GET', '/versions/1'],
    ['GET', '/exemptions'],
    ['POST', '/dry-run', { samples: [{ text: 'a' }] }],
  ];
  const changes: [Method, string, object?][] = [
    ['POST', '/versions', { based_on: 1, note: 'x', rules: [] }],
    ['PATCH', '/rules/one', { enabled: false, note: 'x' }],
    ['POST', '/exemptions', { account_id: account, rule_id: 'one', reason: 'x' }],
    ['DELETE', `/exemptions/${account}/one`],
  ];
  const before = await versionCount();
  for (const [method, path, body] of [...reads, ...changes]) {
    const anybody = await testApp().operator.inject({ method, url: at(path), ...(body ? { payload: body } : {}) });
    expect([path, anybody.statusCode]).toEqual([path, 401]);
    expect([path, (await as('viewer')(method, at(path), body)).statusCode]).toEqual([path, 403]);
  }
  for (const [method, path, body] of changes)
    expect([path, (await as('support')(method, at(path), body)).statusCode]).toEqual([path, 403]);
  for (const [method, path, body] of reads)
    expect([path, (await as('support')(method, at(path), body)).statusCode]).toEqual([path, 200]);
  expect([await versionCount(), await testApp().context.db.policyExemption.count()]).toEqual([before, 0]);
});

test('an admin who is disabled while a change waits does not make it', async () => {
  const { db } = testApp().context;
  const changes: [Method, string, object?][] = [
    ['POST', '/versions', { based_on: (await inForce()).version, note: 'x', rules: [] }],
    ['PATCH', '/rules/one', { enabled: false, note: 'x' }],
    ['POST', '/exemptions', { account_id: account, rule_id: 'one', reason: 'x' }],
  ];
  const before = await versionCount();
  for (const [method, path, body] of changes) {
    const { reply } = await db.$transaction(async (tx) => {
      await tx.operator.update({ where: { id: 'op_admin' }, data: { disabledAt: clock } });
      const reply = as('admin')(method, at(path), body);
      const waiting = () => db.$queryRaw<unknown[]>`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await expect.poll(waiting).toHaveLength(1);
      return { reply };
    });
    expect([path, (await reply).statusCode]).toEqual([path, 401]);
    await db.operator.update({ where: { id: 'op_admin' }, data: { disabledAt: null } });
  }
  expect([await versionCount(), await db.policyExemption.count()]).toEqual([before, 0]);
});

test('clients read the rules that are published: without those that are off, or that their account is exempt from', async () => {
  const asks: PolicyRule = {
    id: 'asks',
    title: 'What a classifier finds',
    screen: 'acceptable_use',
    action: 'block',
    enabled: true,
    kind: 'classifier',
    categories: ['violence'],
    on_failure: 'block',
  };
  const next: PolicyRule[] = [...rules, asks, { ...phrases('off', 'an unused phrase'), enabled: false }];
  const { sha256, version } = (await publish(next)).json();
  await as('admin')('POST', at('/exemptions'), { account_id: account, rule_id: 'one', reason: 'x' });
  await testApp().refresh();
  const read = async (accountId: string) => {
    const reply = await testApp().get('/v1/use-policy', { 'x-gw-account-id': accountId });
    expect(reply.body).not.toMatch(/first phrase|unused|wording|violence|on_failure/);
    return usePolicySchema.parse(reply.json());
  };
  const everybody = await read('acct_demo_enterprise');
  expect(everybody).toMatchObject({ version, sha256, has_more: false, first_id: 'one', last_id: 'asks' });
  const object = 'use_policy.rule';
  const [block, flag] = [
    { action: 'block', screen: 'acceptable_use' } as const,
    { action: 'flag', screen: 'dual_use' } as const,
  ];
  expect(everybody.data).toEqual([
    { ...block, id: 'one', object, title: 'The rule one', kind: 'phrases' },
    { ...flag, id: 'two', object, title: 'The rule two', kind: 'pattern' },
    { ...block, id: 'asks', object, title: 'What a classifier finds', kind: 'classifier' },
  ]);
  expect(await read(account)).toMatchObject({ version, sha256, data: everybody.data.slice(1) });
  await as('admin')('DELETE', at(`/exemptions/${account}/one`));
  await testApp().refresh();
  expect(await read(account)).toEqual(everybody);
});

test('a set of many phrases is taken, and a body beyond the bound says how long it may be', async () => {
  const many = [0, 1].map((at) =>
    phrases(
      `rule-${at}`,
      ...Array.from({ length: 900 }, (_, i) => `a phrase of ${'some '.repeat(6)} length ${at}x${i}`),
    ),
  );
  expect(JSON.stringify(many).length).toBeGreaterThan(65_536);
  expect((await publish(many)).statusCode).toBe(200);
  const huge = await as('admin')('POST', at('/dry-run'), { samples: [{ text: 'x'.repeat(9_000_000) }] });
  expect(huge.json().error).toMatchObject({ code: 'request_too_large', message: expect.stringContaining('8192 KiB') });
});
