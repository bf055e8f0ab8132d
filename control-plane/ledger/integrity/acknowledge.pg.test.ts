/** An alarm can be acknowledged, and a new one of the same row is an alarm again. */
import { seedOperators } from '@gw/testing/control-plane/access';
import { runAs } from '@gw/testing/control-plane/admin';
import { startTestApp } from '@gw/testing/control-plane/app';
import { silentLog } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { readAudit } from '../../people/audit/read.ts';
import { faultKinds } from './acknowledge.ts';
import { forgetFaults, noteFaults } from './faults.ts';

const running = forFile(startTestApp);
let tokens: Awaited<ReturnType<typeof seedOperators>>;
beforeAll(async () => {
  tokens = await seedOperators(running.context);
});
beforeEach(() => running.stores.empty('integrity_faults'));

const gw = (...args: string[]) => runAs(running, tokens.admin, args);

const note = (fault: string, number = 3) =>
  noteFaults({ db: running.stores.db, log: silentLog }, 'audit', [{ name: 'acct_c', number, fault }]);
const counted = async () => {
  const health = (await running.operator.inject('/healthz')).json();
  const gauge = /^gw_audit_chain_faults\{.*\} (\d+)$/m.exec((await running.operator.inject('/metrics')).body);
  return [health.status, health.audit_chain_faults, Number(gauge?.[1])];
};
const id = 'audit:3:acct_c';
const post = (token: string, body: object) =>
  running.operator.inject({
    method: 'POST',
    url: '/operator/v1/integrity/faults/acknowledge',
    headers: { authorization: `Bearer ${token}` },
    payload: body,
  });

test('what an admin acknowledges counts no more, and stays in the history with who, when and why', async () => {
  await note('forged');
  expect(await counted()).toEqual(['degraded', 1, 1]);
  expect((await gw('integrity', 'faults')).out).toMatch(/audit:3:acct_c +forged /);
  expect((await gw('integrity', 'acknowledge', id, '--reason', 'Planted by us in an exam.')).code).toBe(0);
  expect(await counted()).toEqual(['ok', 0, 0]);
  // Each round finds it again.
  await note('forged');
  expect(await counted()).toEqual(['ok', 0, 0]);
  expect((await gw('integrity', 'faults')).out).toMatch(/forged .* Planted by us in an exam\./);
  const [entry] = await readAudit(running.stores.db, 'operators', { order: 'desc', limit: 1 });
  expect(entry).toMatchObject({
    action: 'integrity_fault.acknowledged',
    target: `integrity_fault:${id}`,
    after: { fault: 'forged', reason: 'Planted by us in an exam.' },
  });
  expect((await post(tokens.admin, { id, fault: 'forged', reason: 'again' })).statusCode).toBe(409);
});

test.each(faultKinds)('a fault of the kind %s is acknowledged by the id under which it is listed', async (kind) => {
  await noteFaults({ db: running.stores.db, log: silentLog }, kind, [{ name: 'acct_c', number: 3, fault: 'found' }]);
  const listed = await running.operator.inject({
    url: '/operator/v1/integrity/faults',
    headers: { authorization: `Bearer ${tokens.admin}` },
  });
  const [{ fault, id: name }] = listed.json().data;
  expect((await post(tokens.admin, { id: name, fault, reason: 'known' })).statusCode).toBe(200);
  expect((await running.operator.inject('/healthz')).json().status).toBe('ok');
});

test('another fault of the same row is an alarm, and so is the same one once it was mended', async () => {
  const acknowledge = (fault: string) => post(tokens.admin, { id, fault, reason: 'known' });
  await note('forged');
  expect((await acknowledge('forged')).statusCode).toBe(200);
  await note('altered');
  expect(await counted()).toEqual(['degraded', 1, 1]);
  // Nobody acknowledges a fault that they have not seen.
  expect((await acknowledge('forged')).json().error.code).toBe('invalid_integrity_fault');
  expect((await acknowledge('altered')).statusCode).toBe(200);
  expect(await counted()).toEqual(['ok', 0, 0]);
  await note('forged', 4);
  expect(await counted()).toEqual(['degraded', 1, 1]);
  await forgetFaults(running.stores.db, 'audit', new Date(Date.now() + 60_000));
  expect(await counted()).toEqual(['ok', 0, 0]);
  await note('altered');
  expect(await counted()).toEqual(['degraded', 1, 1]);
});

test('a page goes on behind a fault of any kind, whatever its number', async () => {
  const { db } = running.stores;
  const headers = { authorization: `Bearer ${tokens.viewer}` };
  for (const kind of faultKinds)
    for (const number of [3, 9_007_199_254_740_992])
      await noteFaults({ db, log: silentLog }, kind, [{ name: 'acct_c', number, fault: 'found' }]);
  await running.stores.tamper(`UPDATE integrity_faults SET number = 9223372036854775807 WHERE number > 3`);
  const url = '/operator/v1/integrity/faults?limit=1';
  const listed: string[] = [];
  for (let after = ''; ; ) {
    const page = (await running.operator.inject({ url: `${url}${after}`, headers })).json();
    listed.push(...page.data.map(({ id: own }: { id: string }) => own));
    if (!page.has_more) break;
    after = `&after=${encodeURIComponent(page.last_id)}`;
  }
  expect(listed).toEqual(faultKinds.flatMap((kind) => [`${kind}:3:acct_c`, `${kind}:9223372036854775807:acct_c`]));
});

test('whoever has the database alone acknowledges nothing, and whoever is no admin neither', async () => {
  await note('forged');
  await post(tokens.admin, { id, fault: 'forged', reason: 'known' });
  await note('forged', 4);
  await running.stores.db.$executeRaw`UPDATE integrity_faults SET acknowledgement = (
    SELECT acknowledgement FROM integrity_faults WHERE number = 3) WHERE number = 4`;
  expect(await counted()).toEqual(['degraded', 1, 1]);
  for (const text of ['5', '{}', '"x"', '{"at":"x","by":"x","name":null,"reason":"x","seal":"x","key":1}']) {
    await running.stores.db.$executeRawUnsafe(
      `UPDATE integrity_faults SET acknowledgement = '${text}' WHERE number = 4`,
    );
    expect(await counted()).toEqual(['degraded', 1, 1]);
  }
  const body = { id: 'audit:4:acct_c', fault: 'forged', reason: 'known' };
  expect((await post(tokens.support, body)).statusCode).toBe(403);
  for (const change of [{ id: 'x' }, { reason: ' ' }, { id: 'audit:99999999999999999999:x' }])
    expect((await post(tokens.admin, { ...body, ...change })).statusCode).toBe(400);
  expect((await post(tokens.admin, { ...body, id: 'audit:9:acct_c' })).statusCode).toBe(404);
  expect((await post(tokens.admin, body)).statusCode).toBe(200);
});
