import { ChainCheck } from '@gw/contract/internal/audit-chain';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAudit, readHead } from '../audit/read.ts';
import { noLists } from '../screening/config.ts';
import { ListFault } from '../screening/list-stream.ts';
import {
  applicant,
  contract,
  declaration,
  reason,
  root,
  startTestOnboarding,
  type TestOnboarding,
} from './fixtures-for-tests.ts';
import { operatorActions, type Stage, stages } from './machine.ts';

let running: TestOnboarding;
beforeAll(async () => {
  running = await startTestOnboarding();
}, 120_000);
afterAll(() => running?.stop());

async function create(changes: object = {}): Promise<string> {
  const reply = await running.post(root, applicant(changes), 'support');
  expect(reply.statusCode).toBe(201);
  return reply.json().account_id;
}
const at = (id: string, step: string): string => `${root}/${id}/${step}`;
const read = async (id: string) => (await running.get(`${root}/${id}`)).json();
const accountState = async (id: string) => (await running.stores.db.account.findUniqueOrThrow({ where: { id } })).state;

/** How an application gets to each stage through the public interfaces. */
async function bringTo(stage: Stage): Promise<string> {
  const id = await create(stage === 'sanctions_match' ? { name: 'Borealis Munitions' } : {});
  if (stage === 'account_created') return id;
  const changes =
    stage === 'manual_review'
      ? { industry: 'defence' }
      : stage === 'use_match'
        ? { intended_use: 'Research into ransomware and its authors.' }
        : stage === 'rejected'
          ? { uses: ['weapons'] }
          : {};
  expect((await running.post(at(id, 'declaration'), declaration(changes), 'support')).statusCode).toBe(200);
  if (stage === 'use_screening') return id;
  if (stage === 'sanctions_screening') {
    await expect(running.screen(id, noLists)).rejects.toThrow(ListFault);
    return id;
  }
  await running.screen(id);
  if (stage === 'expired') {
    const before = running.clock.now;
    running.clock.now = new Date(before.getTime() + 31 * 86_400_000);
    await running.onboarding.expireIdle();
    running.clock.now = before;
  }
  if (stage === 'key_pending' || stage === 'complete')
    expect((await running.post(at(id, 'contract'), contract)).statusCode).toBe(200);
  if (stage === 'complete') expect((await running.post(at(id, 'key'), { name: 'first' })).statusCode).toBe(201);
  return id;
}

const requests: Readonly<Record<(typeof operatorActions)[number], readonly [string, () => object, Stage[]]>> = {
  declare: ['declaration', declaration, ['account_created']],
  clear_match: ['clear-match', () => reason, ['use_match', 'sanctions_match']],
  reject_match: ['reject-match', () => reason, ['use_match', 'sanctions_match']],
  approve_review: ['approve-review', () => reason, ['manual_review']],
  reject_review: ['reject-review', () => reason, ['manual_review']],
  sign_contract: ['contract', () => contract, ['contract_pending']],
  issue_key: ['key', () => ({ name: 'x' }), ['key_pending']],
};

test('an application goes through all six steps in order, each with who, when, input and outcome, to a working first key', async () => {
  const id = await create();
  expect(await accountState(id)).toBe('onboarding');
  await running.post(at(id, 'declaration'), declaration(), 'support');
  await running.screen(id);
  const screened = await read(id);
  expect(screened).toMatchObject({
    stage: 'contract_pending',
    high_risk: false,
    use_screening: { outcome: 'clear', policy_version: expect.any(String) },
    sanctions_screening: {
      outcome: 'clear',
      names: {
        threshold: 0.85,
        lists: [{ list: 'synthetic', files: [{ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }] }],
      },
      dual_use: { outcome: 'clear' },
    },
  });
  await running.post(at(id, 'contract'), contract);
  expect(await accountState(id)).toBe('onboarding');
  const issued = await running.post(at(id, 'key'), { name: 'first', scopes: ['inference:read', 'gw:lineage'] });
  expect(issued.statusCode).toBe(201);
  expect(issued.json()).toMatchObject({
    application: { stage: 'complete', contract: { sha256: contract.sha256, reference: contract.reference } },
    key: { name: 'first', scopes: ['inference:read', 'gw:lineage'], key: expect.stringMatching(/^gw_/) },
  });
  expect(await accountState(id)).toBe('active');

  const { steps } = await read(id);
  expect(steps.map((step: { step: number; action: string; to: string }) => [step.step, step.action, step.to])).toEqual([
    [1, 'create', 'account_created'],
    [2, 'declare', 'use_screening'],
    [2, 'pass_use', 'sanctions_screening'],
    [3, 'pass_sanctions', 'contract_pending'],
    [5, 'sign_contract', 'key_pending'],
    [6, 'issue_key', 'complete'],
  ]);
  expect(steps[1]).toMatchObject({ actor: { kind: 'operator', id: 'op_support' }, input: declaration() });
  expect(steps[2]).toMatchObject({ actor: { kind: 'system', id: 'screening' }, outcome: { outcome: 'clear' } });
  for (const step of steps) expect(step.at).toBe(running.clock.now.toISOString());
  const secret = issued.json().key.key;
  expect(JSON.stringify(steps)).not.toContain(secret);
});

test('the audit log of the account tells the stages in order, its chain holds, and it says nothing about what was found', async () => {
  const id = await bringTo('sanctions_match');
  await running.post(at(id, 'clear-match'), reason);
  const entries = await readAudit(running.stores.db, id, { order: 'asc', limit: 100 });
  expect(entries.map((entry) => [entry.action, entry.actor.id, entry.after])).toEqual([
    ['application.created', 'op_support', { stage: 'account_created' }],
    ['application.declared', 'op_support', { stage: 'use_screening' }],
    ['application.use_screened', 'screening', { stage: 'sanctions_screening' }],
    ['application.sanctions_screened', 'screening', { stage: 'sanctions_match' }],
    ['application.match_cleared', 'op_admin', { stage: 'contract_pending' }],
  ]);
  const check = new ChainCheck();
  for (const entry of entries) check.next(entry);
  expect(check.end(await readHead(running.stores.db, id))).toEqual([]);
  expect(JSON.stringify(entries)).not.toMatch(/Munitions|two people/);
  expect(entries.at(-1)?.request_id).toMatch(/^[0-9a-f-]{36}$/);
});

test.each(stages.flatMap((stage) => operatorActions.map((action) => ({ stage, action }))))(
  '$stage: $action happens only where the table says so, and a refusal changes nothing',
  async ({ stage, action }) => {
    const id = await bringTo(stage);
    const before = await read(id);
    expect(before.stage).toBe(stage);
    const [step, body, allowed] = requests[action];
    const reply = await running.post(at(id, step), body());
    if (allowed.includes(stage)) {
      expect([200, 201]).toContain(reply.statusCode);
      expect((await read(id)).stage).not.toBe(stage);
    } else {
      expect(reply.statusCode).toBe(409);
      expect(reply.json().error).toMatchObject({ code: 'invalid_transition', type: 'validation_error' });
      expect(await read(id)).toEqual(before);
    }
  },
);

test('an industry of high risk needs the review, and only its approval leads to the contract', async () => {
  const id = await bringTo('manual_review');
  expect(await read(id)).toMatchObject({ high_risk: true, stage: 'manual_review' });
  await running.post(at(id, 'approve-review'), reason);
  expect(await read(id)).toMatchObject({ stage: 'contract_pending' });
  const other = await bringTo('manual_review');
  await running.post(at(other, 'reject-review'), reason);
  expect(await read(other)).toMatchObject({ stage: 'rejected' });
  expect(await accountState(other)).toBe('closed');
});

test('a match names the entry, the list and the score, and holds until an admin decides', async () => {
  const id = await create({ technical_contact: { name: 'Игорь Петрунов', email: 'i@northwind.example' } });
  await running.post(at(id, 'declaration'), declaration());
  await running.screen(id);
  expect(await read(id)).toMatchObject({
    stage: 'sanctions_match',
    sanctions_screening: {
      outcome: 'match',
      names: { matches: [{ role: 'technical_contact', list: 'synthetic', entry_id: 'synthetic-3', score: 1 }] },
    },
  });
  // Screening it again changes nothing: people decide.
  await running.screen(id);
  for (const role of ['viewer', 'support'] as const) {
    const reply = await running.post(at(id, 'clear-match'), reason, role);
    expect([reply.statusCode, reply.json().error.code]).toEqual([403, 'insufficient_scope']);
  }
  const unexplained = await running.post(at(id, 'clear-match'), { reason: 'ok' });
  expect([unexplained.statusCode, unexplained.json().error.code]).toEqual([400, 'invalid_reason']);
  await running.post(at(id, 'clear-match'), reason);
  const after = await read(id);
  expect(after.stage).toBe('contract_pending');
  expect(after.steps.at(-1)).toMatchObject({ action: 'clear_match', actor: { id: 'op_admin' }, input: reason });
  // What was found stays on record.
  expect(after.sanctions_screening.outcome).toBe('match');
});

test('a match of a use that is cleared goes on to the names, and stays on record', async () => {
  const id = await bringTo('use_match');
  await running.post(at(id, 'clear-match'), reason);
  expect(await read(id)).toMatchObject({ stage: 'sanctions_screening', use_screening: { outcome: 'match' } });
  await running.screen(id);
  expect(await read(id)).toMatchObject({ stage: 'contract_pending' });
});

test('dual use is a match of its own, also where no name is found', async () => {
  const id = await create();
  await running.post(at(id, 'declaration'), declaration({ countries: ['DE', 'KP'] }));
  await running.screen(id);
  expect(await read(id)).toMatchObject({
    stage: 'sanctions_match',
    sanctions_screening: { names: { outcome: 'clear' }, dual_use: { outcome: 'match', countries: ['KP'] } },
  });
});

test('a declared prohibited use ends the application and closes the account', async () => {
  const id = await bringTo('rejected');
  expect(await accountState(id)).toBe('closed');
  expect((await read(id)).use_screening).toMatchObject({ outcome: 'prohibited', prohibited: ['weapons'] });
});

test('without a whole list an application waits, and says why; later it goes on', async () => {
  const id = await bringTo('sanctions_screening');
  expect((await read(id)).sanctions_screening).toMatchObject({
    outcome: 'waits',
    reason: expect.stringContaining('GW_SANCTIONS_FILES'),
  });
  const missing = { ...noLists, lists: [{ path: '/nowhere/sdn.csv', format: 'ofac-csv' as const, leastEntries: 1 }] };
  await expect(running.screen(id, missing)).rejects.toThrow(ListFault);
  expect((await read(id)).sanctions_screening.reason).toContain('sdn.csv can not be read');
  await running.screen(id);
  expect(await read(id)).toMatchObject({ stage: 'contract_pending', sanctions_screening: { outcome: 'clear' } });
});

test('of two admins who decide at once one wins, and the other is refused', async () => {
  const id = await bringTo('sanctions_match');
  const replies = await Promise.all(
    ['clear-match', 'reject-match', 'clear-match', 'reject-match'].map((step) => running.post(at(id, step), reason)),
  );
  expect(replies.map((reply) => reply.statusCode).sort()).toEqual([200, 409, 409, 409]);
  const { steps } = await read(id);
  expect(steps.filter((step: { action: string }) => step.action.endsWith('_match'))).toHaveLength(1);
});

test('of two admins who issue the first key at once one gets it, and there is one key', async () => {
  const id = await bringTo('key_pending');
  const replies = await Promise.all([1, 2].map(() => running.post(at(id, 'key'), { name: 'first' })));
  expect(replies.map((reply) => reply.statusCode).sort()).toEqual([201, 409]);
  expect(await running.stores.db.apiKey.count({ where: { accountId: id } })).toBe(1);
});

test('a key that the tier does not allow leaves everything as it was', async () => {
  const id = await create({ tier: 'audit' });
  await running.post(at(id, 'declaration'), declaration());
  await running.screen(id);
  await running.post(at(id, 'contract'), contract);
  const before = await read(id);
  const reply = await running.post(at(id, 'key'), { name: 'first', scopes: ['gw:export'] });
  expect([reply.statusCode, reply.json().error.code]).toEqual([400, 'invalid_scopes']);
  expect(await read(id)).toEqual(before);
  expect(await accountState(id)).toBe('onboarding');
  expect(await running.stores.db.apiKey.count({ where: { accountId: id } })).toBe(0);
});

test('an idle application expires to the millisecond, is closed and stays so; one that is carried on lives on', async () => {
  const start = running.clock.now;
  const idle = await bringTo('contract_pending');
  const busy = await bringTo('account_created');
  running.clock.now = new Date(start.getTime() + 20 * 86_400_000);
  await running.post(at(busy, 'declaration'), declaration());
  running.clock.now = new Date(start.getTime() + 30 * 86_400_000 - 1);
  await running.onboarding.expireIdle();
  expect((await read(idle)).stage).toBe('contract_pending');
  running.clock.now = new Date(start.getTime() + 30 * 86_400_000);
  await Promise.all([running.onboarding.expireIdle(), running.onboarding.expireIdle()]);
  const expired = await read(idle);
  expect(expired).toMatchObject({ stage: 'expired' });
  expect(expired.steps.filter((step: { action: string }) => step.action === 'expire')).toHaveLength(1);
  expect(await accountState(idle)).toBe('closed');
  expect((await read(busy)).stage).toBe('use_screening');
  expect((await running.post(at(idle, 'contract'), contract)).statusCode).toBe(409);
  running.clock.now = start;
});

test('each route needs its role', async () => {
  const id = await bringTo('account_created');
  for (const url of [root, `${root}/${id}`, '/operator/v1/use-policy'])
    expect((await running.get(url, 'viewer')).statusCode).toBe(200);
  expect((await running.app.inject({ url: root })).statusCode).toBe(401);
  expect((await running.post(root, applicant(), 'viewer')).statusCode).toBe(403);
  expect((await running.post(at(id, 'declaration'), declaration(), 'viewer')).statusCode).toBe(403);
  for (const [step, body] of Object.values(requests).slice(1))
    expect((await running.post(at(id, step), body(), 'support')).statusCode, step).toBe(403);
});

test.each([
  ['an unknown field', { extra: 1 }],
  ['a name that is too long', { name: 'x'.repeat(201) }],
  ['a name with a NUL', { name: 'x\u0000y' }],
  ['an e-mail that is none', { billing_contact: { name: 'x', email: 'no' } }],
  ['another tier', { tier: 'gold' }],
  ['Enterprise without its limits', { tier: 'enterprise' }],
])('an application with %s is refused', async (_, changes) => {
  const reply = await running.post(root, applicant(changes));
  expect(reply.statusCode).toBe(400);
  expect(reply.json().error.type).toBe('validation_error');
});

test.each([
  ['a text that is too long', { intended_use: 'x'.repeat(4001) }, 'invalid_intended_use'],
  ['an unknown industry', { industry: 'witchcraft' }, 'invalid_industry'],
  ['a country that is no code', { countries: ['Germany'] }, 'invalid_countries'],
])('a declaration with %s is refused', async (_, changes, code) => {
  const reply = await running.post(at(await bringTo('account_created'), 'declaration'), declaration(changes));
  expect(reply.statusCode).toBe(400);
  expect(reply.json().error.code).toBe(code);
});

test('an Enterprise account gets the limits that were negotiated', async () => {
  const id = await create({ tier: 'enterprise', limits: { per_s: 10, burst: 20, per_day: 30 } });
  const account = await running.stores.db.account.findUniqueOrThrow({ where: { id } });
  expect(account).toMatchObject({ limitPerS: 10, limitBurst: 20, limitPerDay: 30 });
});

test('an unknown application is 404 on every route', async () => {
  expect((await running.get(`${root}/acct_none`)).statusCode).toBe(404);
  for (const [step, body] of Object.values(requests))
    expect((await running.post(at('acct_none', step), body())).json().error.code).toBe('invalid_application');
});

test('applications are listed by stage, the newest first, page by page', async () => {
  const all: string[] = [];
  for (let after: string | null = null, more = true; more; ) {
    const reply = await running.get(`${root}?limit=7${after === null ? '' : `&after=${after}`}`);
    const page: { data: { account_id: string }[]; last_id: string; has_more: boolean } = reply.json();
    all.push(...page.data.map((each) => each.account_id));
    after = page.last_id;
    more = page.has_more;
  }
  expect(new Set(all).size).toBe(all.length);
  expect(all).toHaveLength(await running.stores.db.onboarding.count());
  for (const stage of stages) {
    running.clock.now = new Date(running.clock.now.getTime() + 1000);
    const id = await bringTo(stage);
    const { data } = (await running.get(`${root}?stage=${stage}&limit=100`)).json();
    expect(data[0]?.account_id).toBe(id);
    expect(data.every((each: { stage: string }) => each.stage === stage)).toBe(true);
  }
  expect((await running.get(`${root}?after=none`)).json().error.code).toBe('invalid_after');
});
