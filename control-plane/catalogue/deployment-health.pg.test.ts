/** Operators read what the calls have found out about deployments. */
import { runAdmin } from '@gw/cli/internals/commands/admin';
import { openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import type { DeploymentTrouble } from '@gw/contract/internal/deployment-trouble';
import { deploymentTroublesKey } from '@gw/contract/internal/redis';
import { as, at, clock, testApp, tokenOf, useTestApp } from '@gw/testing/control-plane/entries';
import { afterEach, expect, test } from 'vitest';

useTestApp();
const path = at('deployment-health');
const trouble: DeploymentTrouble = {
  status: 'degraded',
  failures: 6,
  at: clock.getTime() - 1000,
  until: clock.getTime() + 4000,
};
const found = (name: string, each: object) =>
  testApp().context.redis.hset(deploymentTroublesKey, name, JSON.stringify(each));
afterEach(() => testApp().context.redis.del(deploymentTroublesKey));

async function gw(...args: string[]): Promise<string> {
  let out = '';
  const openApi = () => openOperatorApi({ url: testApp().operatorUrl, token: tokenOf('viewer') });
  const print = (text: string) => {
    out += text;
  };
  expect(await runAdmin(args, { openApi, print, tell: print })).toBe(0);
  return out;
}

test('a viewer sees which deployments take no calls, since when and for how long; nothing of what is over', async () => {
  await found('simulator-se acme/m-1', trouble);
  await found('simulator-us sim-small', { ...trouble, until: clock.getTime() });
  await found('simulator-fr sim-small', { another: 'release' });
  expect((await as('viewer')('GET', path)).json()).toEqual({
    object: 'list',
    known: true,
    data: [
      {
        object: 'deployment_trouble',
        deployment: 'simulator-se',
        model: 'acme/m-1',
        status: 'degraded',
        failures: 6,
        failed_at: '2026-11-21T08:59:59.000Z',
        until: '2026-11-21T09:00:04.000Z',
      },
    ],
  });
  expect(await gw('deployments', 'health')).toContain('simulator-se  acme/m-1  degraded  6');
});

test('a deployment that needs its operator is shown beside what is measured, and counted once', async () => {
  await found('acme-pl m-1', trouble);
  await found('acme-pl m-1 operator', { ...trouble, status: 'auth_failed' });
  await found('acme-pl m-2 operator', { ...trouble, status: 'model_missing' });
  const { data } = (await as('viewer')('GET', path)).json();
  expect(data.map(({ deployment, model, status }: Record<string, string>) => [deployment, model, status])).toEqual([
    ['acme-pl', 'm-1', 'degraded'],
    ['acme-pl', 'm-1', 'auth_failed'],
    ['acme-pl', 'm-2', 'model_missing'],
  ]);
  expect(await gw('deployments', 'health')).toContain('acme-pl     m-1    auth_failed');
  const health = await fetch(`${testApp().operatorUrl}/healthz`);
  expect(await health.json()).toMatchObject({ deployments_needing_operator: 1 });
});

test('where nothing fails it says so', async () => {
  expect((await as('viewer')('GET', path)).json()).toEqual({ object: 'list', known: true, data: [] });
  expect(await gw('deployments', 'health')).toBe('No call has found one that fails.\n');
});

test('what another kind of value makes unreadable is told as not known', async () => {
  await testApp().context.redis.set(deploymentTroublesKey, 'no hash');
  expect((await as('viewer')('GET', path)).json()).toEqual({ object: 'list', known: false, data: [] });
  expect(await gw('deployments', 'health')).toBe('Not known: Valkey is unavailable.\n');
});
