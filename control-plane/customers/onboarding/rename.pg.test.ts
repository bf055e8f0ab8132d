import { dayMs } from '@gw/contract/internal/durations';
import {
  accountStateOf,
  applicationOf,
  at,
  bringTo,
  policy,
  reason,
  startTestOnboarding,
  synthetic,
} from '@gw/testing/control-plane/onboarding';
import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';
import { readAudit } from '../../people/audit/read.ts';
import { noLists } from '../screening/config.ts';
import { ListError } from '../screening/list-stream.ts';
import { findRenamed, unscreenedCount } from './application.ts';
import { screenApplication } from './screening-run.ts';

const running = forFile(startTestOnboarding);

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

const verb = (id: string, name: 'suspend' | 'reinstate', body: object) =>
  running.post(`/operator/v1/accounts/${id}/${name}`, { reason: 'as agreed', ...body });
const screening = async (id: string) => (await applicationOf(running, id)).sanctions_screening;
const contract = { sha256: 'ab'.repeat(32), reference: 'contracts/1', signed_at: '2026-03-01T10:00:00Z' };

/** An account whose own name is a match that an admin has found to be somebody else. */
async function cleared(): Promise<string> {
  const id = await bringTo(running, 'sanctions_match');
  await running.post(at(id, 'clear-match'), reason);
  await running.post(at(id, 'contract'), contract);
  expect((await running.post(at(id, 'key'), { name: 'first' })).statusCode).toBe(201);
  return id;
}

test('a new name on a list suspends the account, and the customer is not told why', async () => {
  const id = await bringTo(running, 'complete');
  await rename(id, 'Zarya Metall OOO');
  await running.screen(id);
  expect(await accountStateOf(running, id)).toBe('suspended');
  expect(await screening(id)).toMatchObject({
    outcome: 'match',
    needs_decision: true,
    names: { matches: [{ role: 'organisation', entry_id: 'synthetic-2' }] },
  });
  // Who does not know of it does not end it.
  const refused = await verb(id, 'reinstate', {});
  expect([refused.statusCode, refused.json().error.code]).toEqual([409, 'invalid_transition']);
  expect(await accountStateOf(running, id)).toBe('suspended');
  expect((await verb(id, 'reinstate', { accepts_match: true })).statusCode).toBe(200);
  expect(await accountStateOf(running, id)).toBe('active');
  const { steps } = await applicationOf(running, id);
  expect(steps.at(-1)).toMatchObject({
    action: 'accept_match',
    actor: { id: 'op_admin' },
    input: { reason: 'as agreed' },
    outcome: { names: { organisation: 'Zarya Metall OOO' }, unscreened: false },
  });
  const [newest] = await readAudit(running.stores.db, 'operators', { order: 'desc', limit: 1 });
  expect(newest).toMatchObject({ action: 'application.match_accepted', target: `application:${id}` });
  const entries = await readAudit(running.stores.db, id, { order: 'asc', limit: 100 });
  expect(entries.slice(-2)).toMatchObject([
    { action: 'account.suspended', after: { state: 'suspended' } },
    { action: 'account.reinstated', after: { state: 'active', reason: 'as agreed' } },
  ]);
  expect(JSON.stringify(entries)).not.toMatch(/match|list|sanction|screen_again|screened/i);
  // It is not suspended for the same name again, and an end of a suspension for something else needs no second decision.
  expect(await renamed()).toEqual([]);
  await running.screen(id);
  expect(await accountStateOf(running, id)).toBe('active');
  await verb(id, 'suspend', {});
  expect((await verb(id, 'reinstate', {})).statusCode).toBe(200);
});

test('what an admin decided about a name holds for that name, and for no other one that is like the same entry', async () => {
  const id = await cleared();
  const { db } = running.stores;
  await db.account.update({ where: { id }, data: { billingContact: { name: 'Lea Moor', email: 'x@n.example' } } });
  await running.screen(id);
  expect(await accountStateOf(running, id)).toBe('active');
  expect(await screening(id)).toMatchObject({ outcome: 'match', needs_decision: false });
  // The very entry that the decision was about, and now by its own name.
  const [{ listed_name: listed }] = (await screening(id)).names.matches;
  await rename(id, listed);
  await running.screen(id);
  expect(await accountStateOf(running, id)).toBe('suspended');
});

test('a name that cannot be compared needs a decision of its own, even after another such name', async () => {
  const id = await bringTo(running, 'complete');
  for (const name of ['北风分析有限公司', '曙光金属有限公司']) {
    await rename(id, name);
    await running.screen(id);
    expect(await accountStateOf(running, id)).toBe('suspended');
    expect((await verb(id, 'reinstate', {})).statusCode).toBe(409);
    expect((await verb(id, 'reinstate', { accepts_match: true })).statusCode).toBe(200);
  }
});

test('a match of an account that is suspended for something else is not overlooked with the end of that', async () => {
  const id = await bringTo(running, 'complete');
  await verb(id, 'suspend', { reason: 'unpaid' });
  await rename(id, 'Zarya Metall OOO');
  await running.screen(id);
  expect((await applicationOf(running, id)).steps.at(-1)).toMatchObject({ outcome: { suspends: false } });
  expect((await verb(id, 'reinstate', { reason: 'paid' })).statusCode).toBe(409);
  // With a name that nobody looks for there is nothing to be decided any more.
  await rename(id, 'Southwind Analytics GmbH');
  await running.screen(id);
  expect((await verb(id, 'reinstate', { reason: 'paid' })).statusCode).toBe(200);
});

test('a match that another role has undecided still stands after a further name', async () => {
  const id = await bringTo(running, 'complete');
  await rename(id, 'Zarya Metall OOO');
  await running.screen(id);
  const { db } = running.stores;
  await db.account.update({ where: { id }, data: { billingContact: { name: 'Lea Moor', email: 'x@n.example' } } });
  await running.screen(id);
  expect((await verb(id, 'reinstate', {})).statusCode).toBe(409);
});

test('without a whole list the account goes on for a day, is suspended then, and stays to be screened', async () => {
  const id = await bringTo(running, 'complete');
  const begun = running.clock.now;
  const later = (ms: number) => {
    running.clock.now = new Date(begun.getTime() + ms);
  };
  const tryWithout = () => expect(running.screen(id, noLists)).rejects.toThrow(ListError);
  try {
    await rename(id, 'Westwind Analytics GmbH');
    await tryWithout();
    expect(await screening(id)).toMatchObject({ outcome: 'clear', unscreened: { since: begun.toISOString() } });
    expect(await unscreenedCount(running.stores.db).get()).toMatchObject({
      values: [{ labels: { what: 'applications' } }, { labels: { what: 'accounts' }, value: 1 }],
    });
    later(dayMs / 2);
    await rename(id, 'Eastwind Analytics GmbH');
    await tryWithout();
    later(dayMs - 1);
    await tryWithout();
    expect(await accountStateOf(running, id)).toBe('active');
    later(dayMs);
    await tryWithout();
    expect(await accountStateOf(running, id)).toBe('suspended');
    expect(await renamed()).toContain(id);
    const entries = await readAudit(running.stores.db, id, { order: 'desc', limit: 1 });
    expect(entries).toMatchObject([{ action: 'account.suspended', actor: { id: 'screening' } }]);
    expect((await verb(id, 'reinstate', {})).statusCode).toBe(409);
    // Whoever accepts that nothing was compared does so for a day.
    expect((await verb(id, 'reinstate', { accepts_match: true })).statusCode).toBe(200);
    await tryWithout();
    expect(await accountStateOf(running, id)).toBe('active');
    later(2 * dayMs);
    await tryWithout();
    expect(await accountStateOf(running, id)).toBe('suspended');
    // A whole list, and nothing in it: the suspension is ended by people, without having to accept anything.
    await running.screen(id);
    expect(await screening(id)).toMatchObject({ outcome: 'clear', needs_decision: false });
    expect(await screening(id)).not.toHaveProperty('unscreened');
    expect((await verb(id, 'reinstate', {})).statusCode).toBe(200);
  } finally {
    running.clock.now = begun;
  }
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
