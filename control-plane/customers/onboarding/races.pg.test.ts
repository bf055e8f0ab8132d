import { dayMs } from '@gw/contract/internal/durations';
import { eventually } from '@gw/testing/control-plane/fixtures';
import {
  accountStateOf,
  applicationOf,
  at,
  bringTo,
  contract,
  declaration,
  reason,
  startTestOnboarding,
  type TestOnboarding,
} from '@gw/testing/control-plane/onboarding';
import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';
import { appendAudit } from '../../people/audit/append.ts';
import { findIdle } from './application.ts';
import { createOnboarding } from './steps.ts';

const running = forFile(startTestOnboarding);

test('of two admins who decide at once one wins, and the other is refused', async () => {
  const id = await bringTo(running, 'sanctions_match');
  const replies = await Promise.all(
    ['clear-match', 'reject-match', 'clear-match', 'reject-match'].map((step) => running.post(at(id, step), reason)),
  );
  expect(replies.map((reply) => reply.statusCode).sort()).toEqual([200, 409, 409, 409]);
  const { steps } = await applicationOf(running, id);
  expect(steps.filter((step: { action: string }) => step.action.endsWith('_match'))).toHaveLength(1);
});

test('of two admins who issue the first key at once one gets it, and there is one key', async () => {
  const id = await bringTo(running, 'key_pending');
  const replies = await Promise.all([1, 2].map(() => running.post(at(id, 'key'), { name: 'first' })));
  expect(replies.map((reply) => reply.statusCode).sort()).toEqual([201, 409]);
  expect(await running.stores.db.apiKey.count({ where: { accountId: id } })).toBe(1);
});

test('an idle application expires to the millisecond, is closed and stays so; one that is carried on lives on', async () => {
  const start = running.clock.now;
  const idle = await bringTo(running, 'contract_pending');
  const busy = await bringTo(running, 'account_created');
  const unscreened = await bringTo(running, 'sanctions_screening');
  running.clock.now = new Date(start.getTime() + 20 * dayMs);
  await running.post(at(busy, 'declaration'), declaration());
  running.clock.now = new Date(start.getTime() + 30 * dayMs - 1);
  await running.onboarding.expireIdle();
  expect((await applicationOf(running, idle)).stage).toBe('contract_pending');
  running.clock.now = new Date(start.getTime() + 30 * dayMs);
  await Promise.all([running.onboarding.expireIdle(), running.onboarding.expireIdle()]);
  const expired = await applicationOf(running, idle);
  expect(expired).toMatchObject({ stage: 'expired' });
  expect(expired.steps.filter((step: { action: string }) => step.action === 'expire')).toHaveLength(1);
  expect(await accountStateOf(running, idle)).toBe('closed');
  expect((await applicationOf(running, busy)).stage).toBe('use_screening');
  expect((await running.post(at(idle, 'contract'), contract)).statusCode).toBe(409);
  // It waits for a list of ours, and is in the way of nobody else's expiry.
  expect(await findIdle(running.stores.db, running.clock.now, 100)).not.toContain(unscreened);
  expect((await applicationOf(running, unscreened)).stage).toBe('sanctions_screening');
  await running.screen(unscreened);
  expect((await applicationOf(running, unscreened)).stage).toBe('contract_pending');
  running.clock.now = start;
});

test('an application that is carried on at the moment of its expiry lives on', async () => {
  const start = running.clock.now;
  const id = await bringTo(running, 'account_created');
  running.clock.now = new Date(start.getTime() + 30 * dayMs);
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
  expect((await applicationOf(running, id)).stage).toBe('use_screening');
  running.clock.now = start;
});

test('a step waits for a change of the account and goes by what it has become, and neither stops the other', async () => {
  const { db } = running.stores;
  const id = await bringTo(running, 'key_pending');
  const actor = { kind: 'operator', id: 'op_1', name: 'Ada' } as const;
  let issuing: ReturnType<TestOnboarding['post']> | undefined;
  await db.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT 1 FROM accounts WHERE id = ${id} FOR NO KEY UPDATE`;
    await tx.account.update({ where: { id }, data: { tier: 'audit' } });
    issuing = running.post(at(id, 'key'), { name: 'first', scopes: ['gw:export'] });
    void issuing.then(() => {});
    await eventually(async () => {
      const waiting = await db.$queryRaw<unknown[]>`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return waiting.length > 0;
    });
    const fact = { accountId: id, actor, action: 'account.changed', target: `account:${id}`, requestId: null };
    await appendAudit(tx, running.clock.now, fact);
  });
  const reply = await issuing;
  expect([reply?.statusCode, reply?.json().error.code]).toEqual([400, 'invalid_scopes']);
});
