import { snapshotKey } from '@gw/contract/internal/redis';
import { snapshotSchema } from '@gw/contract/internal/snapshot';
import { as, at, clock, inForce, phrases, publish, testApp, useTestApp } from '@gw/testing/control-plane/policy';
import { beforeEach, expect, test } from 'vitest';

useTestApp();
/** Rules that a later release may store, or that this one has since learnt to refuse. */
const rulesOfTomorrow = [
  { id: 'by-meaning', title: 'Tomorrow', screen: 'dual_use', action: 'block', enabled: true, kind: 'meaning', of: 'x' },
];
const published = async () =>
  snapshotSchema.parse(JSON.parse((await testApp().context.redis.get(snapshotKey)) ?? 'null'));

beforeEach(async () => {
  const { version } = await inForce();
  const head = { sha256: '0'.repeat(64), note: 'tomorrow', createdAt: clock, createdBy: 'system' };
  await testApp().context.db.policyVersion.create({ data: { ...head, version: version + 1, rules: rulesOfTomorrow } });
});

test('rules that this release cannot read are shown and handed on as they are, and hold up no other change', async () => {
  expect((await inForce()).rules).toEqual(rulesOfTomorrow);
  const { context, refresh } = testApp();
  await refresh();
  expect((await published()).policy).toMatchObject({ rules: rulesOfTomorrow });
  const { code } = await context.db.region.findFirstOrThrow();
  await context.db.region.update({ where: { code }, data: { name: 'Elsewhere' } });
  await refresh();
  expect((await published()).regions.find((region) => region.code === code)?.name).toBe('Elsewhere');
});

test('they can be tried, and it is said why they cannot be used', async () => {
  const tried = await as('support')('POST', at('/dry-run'), { samples: [{ text: 'x' }] });
  expect(tried.statusCode).toBe(400);
  expect(tried.json().error).toMatchObject({ code: 'invalid_rules', param: 'rules[0]' });
  expect(tried.json().error.message).toMatch(/rule by-meaning cannot be read by this release: /);
  const others = await as('support')('POST', at('/dry-run'), { rules: [phrases('mine', 'my words')], samples: [] });
  expect(others.json().rules.changes).toEqual({ added: ['mine'], removed: ['by-meaning'], changed: [] });
});

test('others can be published in their place, and older ones again; one rule of them cannot be changed', async () => {
  const patched = await as('admin')('PATCH', at('/rules/by-meaning'), { enabled: false, note: 'off' });
  expect(patched.statusCode).toBe(400);
  const { version } = await inForce();
  const again = await as('admin')('POST', at('/versions'), { based_on: version, note: 'back', version: 1 });
  expect(again.statusCode, again.body).toBe(200);
  expect((await inForce()).version).toBe(version + 1);
  const back = await as('admin')('POST', at('/versions'), { based_on: version + 1, note: 'no', version });
  expect(back.statusCode).toBe(400);
  expect((await publish([phrases('mine', 'my words')])).statusCode).toBe(200);
});
