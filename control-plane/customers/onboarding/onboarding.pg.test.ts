import {
  accountStateOf,
  applicationOf,
  at,
  bringTo,
  contract,
  create,
  declaration,
  reason,
  requests,
  startTestOnboarding,
  type TestOnboarding,
} from '@gw/testing/control-plane/onboarding';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { noLists } from '../screening/config.ts';
import { ListError } from '../screening/list-stream.ts';
import { operatorActions, type Stage, stages } from './machine.ts';

let running: TestOnboarding;
beforeAll(async () => {
  running = await startTestOnboarding();
}, 120_000);
afterAll(() => running?.stop());

test('an application goes through all six steps in order, each with who, when, input and outcome, to a working first key', async () => {
  const id = await create(running);
  expect(await accountStateOf(running, id)).toBe('onboarding');
  await running.post(at(id, 'declaration'), declaration(), 'support');
  await running.screen(id);
  const screened = await applicationOf(running, id);
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
  expect(await accountStateOf(running, id)).toBe('onboarding');
  const issued = await running.post(at(id, 'key'), { name: 'first', scopes: ['inference:read', 'gw:lineage'] });
  expect(issued.statusCode).toBe(201);
  expect(issued.json()).toMatchObject({
    application: { stage: 'complete', contract: { sha256: contract.sha256, reference: contract.reference } },
    key: { name: 'first', scopes: ['inference:read', 'gw:lineage'], key: expect.stringMatching(/^gw_/) },
  });
  expect(await accountStateOf(running, id)).toBe('active');

  const { steps } = await applicationOf(running, id);
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

const isAllowed = (stage: Stage, action: (typeof operatorActions)[number]): boolean =>
  requests[action][2].includes(stage);

test.each(stages)('%s: all actions that the table does not have are refused, and change nothing', async (stage) => {
  const id = await bringTo(running, stage);
  const before = await applicationOf(running, id);
  expect(before.stage).toBe(stage);
  for (const action of operatorActions.filter((each) => !isAllowed(stage, each))) {
    const [step, body] = requests[action];
    const reply = await running.post(at(id, step), body());
    expect(reply.statusCode, action).toBe(409);
    expect(reply.json().error).toMatchObject({ code: 'invalid_transition', type: 'validation_error' });
    expect(await applicationOf(running, id), action).toEqual(before);
  }
});

const allowed = stages.flatMap((stage) =>
  operatorActions.filter((action) => isAllowed(stage, action)).map((action) => ({ stage, action })),
);
test.each(allowed)('$stage: $action happens', async ({ stage, action }) => {
  const id = await bringTo(running, stage);
  const [step, body] = requests[action];
  expect([200, 201]).toContain((await running.post(at(id, step), body())).statusCode);
  expect((await applicationOf(running, id)).stage).not.toBe(stage);
});

test('an industry of high risk needs the review, and only its approval leads to the contract', async () => {
  const id = await bringTo(running, 'manual_review');
  expect(await applicationOf(running, id)).toMatchObject({ high_risk: true, stage: 'manual_review' });
  await running.post(at(id, 'approve-review'), reason);
  expect(await applicationOf(running, id)).toMatchObject({ stage: 'contract_pending' });
  const other = await bringTo(running, 'manual_review');
  await running.post(at(other, 'reject-review'), reason);
  expect(await applicationOf(running, other)).toMatchObject({ stage: 'rejected' });
  expect(await accountStateOf(running, other)).toBe('closed');
});

test('a match names the entry, the list and the score, and holds until an admin decides', async () => {
  const id = await create(running, { technical_contact: { name: 'Игорь Петрунов', email: 'i@northwind.example' } });
  await running.post(at(id, 'declaration'), declaration());
  await running.screen(id);
  expect(await applicationOf(running, id)).toMatchObject({
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
  const after = await applicationOf(running, id);
  expect(after.stage).toBe('contract_pending');
  expect(after.steps.at(-1)).toMatchObject({ action: 'clear_match', actor: { id: 'op_admin' }, input: reason });
  // The match stays on record.
  expect(after.sanctions_screening.outcome).toBe('match');
});

test('a match of a use that is cleared goes on to the names, and stays on record', async () => {
  const id = await bringTo(running, 'use_match');
  await running.post(at(id, 'clear-match'), reason);
  expect(await applicationOf(running, id)).toMatchObject({
    stage: 'sanctions_screening',
    use_screening: { outcome: 'match' },
  });
  await running.screen(id);
  expect(await applicationOf(running, id)).toMatchObject({ stage: 'contract_pending' });
});

test('dual use is a match of its own, even where no name is found', async () => {
  const id = await create(running);
  await running.post(at(id, 'declaration'), declaration({ countries: ['DE', 'KP'] }));
  await running.screen(id);
  expect(await applicationOf(running, id)).toMatchObject({
    stage: 'sanctions_match',
    sanctions_screening: { names: { outcome: 'clear' }, dual_use: { outcome: 'match', countries: ['KP'] } },
  });
});

test('a declared prohibited use ends the application and closes the account', async () => {
  const id = await bringTo(running, 'rejected');
  expect(await accountStateOf(running, id)).toBe('closed');
  expect((await applicationOf(running, id)).use_screening).toMatchObject({
    outcome: 'prohibited',
    prohibited: ['weapons'],
  });
});

test('without a whole list an application waits, and says why; later it goes on', async () => {
  const id = await bringTo(running, 'sanctions_screening');
  expect((await applicationOf(running, id)).sanctions_screening).toMatchObject({
    outcome: 'waits',
    reason: expect.stringContaining('GW_SANCTIONS_FILES'),
  });
  const missing = {
    ...noLists,
    lists: [{ path: '/nowhere/sdn.csv', format: 'ofac-csv' as const, leastEntries: 1, leastNames: 1 }],
  };
  await expect(running.screen(id, missing)).rejects.toThrow(ListError);
  expect((await applicationOf(running, id)).sanctions_screening.reason).toContain('sdn.csv cannot be read');
  await running.screen(id);
  expect(await applicationOf(running, id)).toMatchObject({
    stage: 'contract_pending',
    sanctions_screening: { outcome: 'clear' },
  });
});

test('a key that the tier does not allow leaves everything as it was', async () => {
  const id = await create(running, { tier: 'audit' });
  await running.post(at(id, 'declaration'), declaration());
  await running.screen(id);
  await running.post(at(id, 'contract'), contract);
  const before = await applicationOf(running, id);
  const reply = await running.post(at(id, 'key'), { name: 'first', scopes: ['gw:export'] });
  expect([reply.statusCode, reply.json().error.code]).toEqual([400, 'invalid_scopes']);
  expect(await applicationOf(running, id)).toEqual(before);
  expect(await accountStateOf(running, id)).toBe('onboarding');
  expect(await running.stores.db.apiKey.count({ where: { accountId: id } })).toBe(0);
});
