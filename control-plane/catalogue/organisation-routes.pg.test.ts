/** The people of a customer see their part of the catalogue. */
import { seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { openOrganisations } from '@gw/testing/control-plane/organisation';
import { afterAll, beforeAll, expect, test } from 'vitest';

let running: TestApp;
beforeAll(async () => {
  running = await startTestApp();
}, 120_000);
afterAll(() => running?.stop());

test('people see the models that the keys of their account can call, and no others', async () => {
  const { admin: token } = await seedOperators(running.context);
  const { accountId, admin } = await openOrganisations(running, token)('audit');
  const names = async () => {
    const reply = await admin.call('GET', '/organisation/v1/models');
    return reply.json().data.map(({ id }: { id: string }) => id);
  };
  expect(await names()).toEqual(expect.arrayContaining(['sim-large', 'sim-small']));
  await withToken(running.operator, token)('PATCH', `/operator/v1/accounts/${accountId}`, { models: ['sim-small'] });
  expect(await names()).toEqual(['sim-small']);
});
