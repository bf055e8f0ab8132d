import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAudit } from '../audit/read.ts';
import { noLists } from '../screening/config.ts';
import { ListFault } from '../screening/list-stream.ts';
import { findRenamed } from './application.ts';
import {
  accountStateOf,
  applicationOf,
  at,
  bringTo,
  policy,
  reason,
  startTestOnboarding,
  synthetic,
  type TestOnboarding,
} from './fixtures-for-tests.ts';
import { screenApplication } from './screening-run.ts';

let running: TestOnboarding;
beforeAll(async () => {
  running = await startTestOnboarding();
}, 120_000);
afterAll(() => running?.stop());

const rename = (id: string, name: string) => running.stores.db.account.update({ where: { id }, data: { name } });
const renamed = () => findRenamed(running.stores.db, 100);

test('an account that is renamed is screened again, once, and goes on if nothing is found', async () => {
  const id = await bringTo(running, 'complete');
  expect(await renamed()).toEqual([]);
  await rename(id, 'Southwind Analytics GmbH');
  expect(await renamed()).toEqual([id]);
  await Promise.all([running.screen(id), running.screen(id)]);
  expect(await renamed()).toEqual([]);
  const application = await applicationOf(running, id);
  expect(application).toMatchObject({
    stage: 'complete',
    sanctions_screening: { outcome: 'clear', screened: { organisation: 'Southwind Analytics GmbH' }, dual_use: {} },
  });
  const again = application.steps.filter(({ action }: { action: string }) => action === 'screen_again');
  expect(again).toMatchObject([{ step: 3, from: 'complete', to: 'complete', outcome: { suspends: false } }]);
  expect(await accountStateOf(running, id)).toBe('active');
});

test('a new name on a list suspends the account, and the customer is not told why', async () => {
  const id = await bringTo(running, 'complete');
  await rename(id, 'Zarya Metall OOO');
  await running.screen(id);
  expect(await accountStateOf(running, id)).toBe('suspended');
  expect((await applicationOf(running, id)).sanctions_screening).toMatchObject({
    outcome: 'match',
    names: { matches: [{ role: 'organisation', entry_id: 'synthetic-2' }] },
  });
  const entries = await readAudit(running.stores.db, id, { order: 'asc', limit: 100 });
  expect(entries.at(-1)).toMatchObject({ action: 'account.suspended', after: { state: 'suspended' } });
  expect(JSON.stringify(entries)).not.toMatch(/match|list|sanction|screen_again|screened/i);
  // Once an operator has reinstated it, it is not suspended for the same name again.
  await running.stores.db.account.update({ where: { id }, data: { state: 'active' } });
  expect(await renamed()).toEqual([]);
  await running.screen(id);
  expect(await accountStateOf(running, id)).toBe('active');
});

test('an entry that an admin has found to be somebody else does not suspend the account a second time', async () => {
  const id = await bringTo(running, 'sanctions_match');
  await running.post(at(id, 'clear-match'), reason);
  const contract = { sha256: 'ab'.repeat(32), reference: 'contracts/1', signed_at: '2026-03-01T10:00:00Z' };
  await running.post(at(id, 'contract'), contract);
  expect((await running.post(at(id, 'key'), { name: 'first' })).statusCode).toBe(201);
  await rename(id, 'Borealis Munitions Group');
  await running.screen(id);
  expect(await accountStateOf(running, id)).toBe('active');
  expect((await applicationOf(running, id)).sanctions_screening.outcome).toBe('match');
});

test('without a whole list the account stays to be screened', async () => {
  const id = await bringTo(running, 'complete');
  await rename(id, 'Westwind Analytics GmbH');
  await expect(running.screen(id, noLists)).rejects.toThrow(ListFault);
  expect(await renamed()).toContain(id);
});

test.each([
  ['sanctions_screening', 'recordSanctions'],
  ['complete', 'recordRename'],
] as const)('a name that is changed while it is screened (%s) is not cleared by that result', async (stage, record) => {
  const id = await bringTo(running, stage);
  if (stage === 'complete') await rename(id, 'Westwind Analytics GmbH');
  const before = await applicationOf(running, id);
  const onboarding = {
    ...running.onboarding,
    [record]: async (...given: [never, never, never]) => {
      await rename(id, 'Zarya Metall OOO');
      return running.onboarding[record](...given);
    },
  };
  const options = { db: running.stores.db, now: () => running.clock.now, onboarding };
  await expect(screenApplication(id, { ...options, policy, settings: synthetic })).rejects.toThrow(/was changed while/);
  expect((await applicationOf(running, id)).steps).toEqual(before.steps);
  await running.screen(id);
  if (stage === 'complete') expect(await accountStateOf(running, id)).toBe('suspended');
  else expect((await applicationOf(running, id)).stage).toBe('sanctions_match');
});
