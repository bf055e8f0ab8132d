import { ChainCheck, operatorChain } from '@gw/contract/internal/audit-chain';
import { stepHash } from '@gw/contract/internal/onboarding-step';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAudit, readHead } from '../audit/read.ts';
import { noLists } from '../screening/config.ts';
import { ListFault } from '../screening/list-stream.ts';
import {
  at,
  bringTo,
  contract,
  create,
  declaration,
  reason,
  requests,
  root,
  startTestOnboarding,
  type TestOnboarding,
} from './fixtures-for-tests.ts';
import { operatorActions, type Stage, stages } from './machine.ts';
import { createOnboarding } from './steps.ts';

let running: TestOnboarding;
beforeAll(async () => {
  running = await startTestOnboarding();
}, 120_000);
afterAll(() => running?.stop());

const read = async (id: string) => (await running.get(`${root}/${id}`)).json();
const accountState = async (id: string) => (await running.stores.db.account.findUniqueOrThrow({ where: { id } })).state;

test('an application goes through all six steps in order, each with who, when, input and outcome, to a working first key', async () => {
  const id = await create(running);
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

const entriesOf = (chain: string) => readAudit(running.stores.db, chain, { order: 'asc', limit: 100_000 });

test("the operators' chain has each step, and the hash of its row", async () => {
  const id = await bringTo(running, 'sanctions_match');
  await running.post(at(id, 'clear-match'), reason);
  const entries = (await entriesOf(operatorChain)).filter(({ target }) => target === `application:${id}`);
  const { steps } = await read(id);
  expect(entries.map(({ action, actor, before, after }) => [action, actor.id, before, after])).toEqual(
    [
      ['application.created', 'op_support', null, 'account_created'],
      ['application.declared', 'op_support', 'account_created', 'use_screening'],
      ['application.use_screened', 'screening', 'use_screening', 'sanctions_screening'],
      ['application.sanctions_screened', 'screening', 'sanctions_screening', 'sanctions_match'],
      ['application.match_cleared', 'op_admin', 'sanctions_match', 'contract_pending'],
    ].map(([action, actor, from, stage], i) => [
      action,
      actor,
      from === null ? null : { stage: from },
      { stage, step_sha256: stepHash(steps[i]) },
    ]),
  );
  expect(JSON.stringify(entries)).not.toMatch(/Munitions|two people/);
  expect(entries.at(-1)?.request_id).toMatch(/^[0-9a-f-]{36}$/);
});

test("the account's chain is the same whether a screening has found something or not, and however an application ends", async () => {
  const told = async (id: string) => {
    const entries = await entriesOf(id);
    const check = new ChainCheck();
    for (const entry of entries) check.next(entry);
    expect(check.end(await readHead(running.stores.db, id))).toEqual([]);
    return entries.map(({ action, actor, before, after }) => [action, actor, before, after]);
  };
  const ends = await Promise.all(
    ['use_match', 'sanctions_match', 'manual_review'].map(async (stage) => {
      const id = await bringTo(running, stage as Stage);
      await running.post(at(id, stage === 'manual_review' ? 'approve-review' : 'clear-match'), reason);
      await running.screen(id);
      await running.post(at(id, 'contract'), contract);
      return told(id);
    }),
  );
  const usual = await told(await bringTo(running, 'key_pending'));
  expect(usual.map(([action]) => action)).toEqual([
    'application.created',
    'application.declared',
    'application.contract_signed',
  ]);
  for (const end of ends) expect(end).toEqual(usual);

  const reviewed = await bringTo(running, 'manual_review');
  await running.post(at(reviewed, 'reject-review'), reason);
  const matched = await bringTo(running, 'sanctions_match');
  await running.post(at(matched, 'reject-match'), reason);
  const prohibited = await told(await bringTo(running, 'rejected'));
  expect(prohibited.at(-1)).toEqual([
    'application.closed',
    { kind: 'system', id: 'onboarding', name: null },
    null,
    null,
  ]);
  for (const id of [reviewed, matched, await bringTo(running, 'expired')]) expect(await told(id)).toEqual(prohibited);
});

test.each(stages.flatMap((stage) => operatorActions.map((action) => ({ stage, action }))))(
  '$stage: $action happens only where the table says so, and a refusal changes nothing',
  async ({ stage, action }) => {
    const id = await bringTo(running, stage);
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
  const id = await bringTo(running, 'manual_review');
  expect(await read(id)).toMatchObject({ high_risk: true, stage: 'manual_review' });
  await running.post(at(id, 'approve-review'), reason);
  expect(await read(id)).toMatchObject({ stage: 'contract_pending' });
  const other = await bringTo(running, 'manual_review');
  await running.post(at(other, 'reject-review'), reason);
  expect(await read(other)).toMatchObject({ stage: 'rejected' });
  expect(await accountState(other)).toBe('closed');
});

test('a match names the entry, the list and the score, and holds until an admin decides', async () => {
  const id = await create(running, { technical_contact: { name: 'Игорь Петрунов', email: 'i@northwind.example' } });
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
  const id = await bringTo(running, 'use_match');
  await running.post(at(id, 'clear-match'), reason);
  expect(await read(id)).toMatchObject({ stage: 'sanctions_screening', use_screening: { outcome: 'match' } });
  await running.screen(id);
  expect(await read(id)).toMatchObject({ stage: 'contract_pending' });
});

test('dual use is a match of its own, also where no name is found', async () => {
  const id = await create(running);
  await running.post(at(id, 'declaration'), declaration({ countries: ['DE', 'KP'] }));
  await running.screen(id);
  expect(await read(id)).toMatchObject({
    stage: 'sanctions_match',
    sanctions_screening: { names: { outcome: 'clear' }, dual_use: { outcome: 'match', countries: ['KP'] } },
  });
});

test('a declared prohibited use ends the application and closes the account', async () => {
  const id = await bringTo(running, 'rejected');
  expect(await accountState(id)).toBe('closed');
  expect((await read(id)).use_screening).toMatchObject({ outcome: 'prohibited', prohibited: ['weapons'] });
});

test('without a whole list an application waits, and says why; later it goes on', async () => {
  const id = await bringTo(running, 'sanctions_screening');
  expect((await read(id)).sanctions_screening).toMatchObject({
    outcome: 'waits',
    reason: expect.stringContaining('GW_SANCTIONS_FILES'),
  });
  const missing = {
    ...noLists,
    lists: [{ path: '/nowhere/sdn.csv', format: 'ofac-csv' as const, leastEntries: 1, leastNames: 1 }],
  };
  await expect(running.screen(id, missing)).rejects.toThrow(ListFault);
  expect((await read(id)).sanctions_screening.reason).toContain('sdn.csv can not be read');
  await running.screen(id);
  expect(await read(id)).toMatchObject({ stage: 'contract_pending', sanctions_screening: { outcome: 'clear' } });
});

test('of two admins who decide at once one wins, and the other is refused', async () => {
  const id = await bringTo(running, 'sanctions_match');
  const replies = await Promise.all(
    ['clear-match', 'reject-match', 'clear-match', 'reject-match'].map((step) => running.post(at(id, step), reason)),
  );
  expect(replies.map((reply) => reply.statusCode).sort()).toEqual([200, 409, 409, 409]);
  const { steps } = await read(id);
  expect(steps.filter((step: { action: string }) => step.action.endsWith('_match'))).toHaveLength(1);
});

test('of two admins who issue the first key at once one gets it, and there is one key', async () => {
  const id = await bringTo(running, 'key_pending');
  const replies = await Promise.all([1, 2].map(() => running.post(at(id, 'key'), { name: 'first' })));
  expect(replies.map((reply) => reply.statusCode).sort()).toEqual([201, 409]);
  expect(await running.stores.db.apiKey.count({ where: { accountId: id } })).toBe(1);
});

test('a key that the tier does not allow leaves everything as it was', async () => {
  const id = await create(running, { tier: 'audit' });
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
  const idle = await bringTo(running, 'contract_pending');
  const busy = await bringTo(running, 'account_created');
  const unscreened = await bringTo(running, 'sanctions_screening');
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
  // It waits for a list of ours.
  expect((await read(unscreened)).stage).toBe('sanctions_screening');
  await running.screen(unscreened);
  expect((await read(unscreened)).stage).toBe('contract_pending');
  running.clock.now = start;
});

test('an application that is carried on at the moment of its expiry lives on', async () => {
  const start = running.clock.now;
  const id = await bringTo(running, 'account_created');
  running.clock.now = new Date(start.getTime() + 30 * 86_400_000);
  let found = 0;
  const slowToAct = new Proxy(running.stores.db, {
    get: (target, name) => {
      const own = Reflect.get(target, name);
      if (name !== '$queryRaw') return own;
      return async (...query: Parameters<typeof target.$queryRaw>) => {
        const rows = await target.$queryRaw(...query);
        found += (rows as readonly { account_id: string }[]).filter((row) => row.account_id === id).length;
        await running.post(at(id, 'declaration'), declaration());
        return rows;
      };
    },
  });
  const now = (): Date => running.clock.now;
  const { keys } = running;
  await createOnboarding({ db: slowToAct, now, keys, idleDays: 30, newAccountId: () => '' }).expireIdle();
  expect(found).toBe(1);
  expect((await read(id)).stage).toBe('use_screening');
  running.clock.now = start;
});
