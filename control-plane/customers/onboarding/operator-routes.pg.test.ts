import { hourMs } from '@gw/contract/internal/durations';
import {
  applicant,
  at,
  bringTo,
  contract,
  create,
  declaration,
  requests,
  root,
  startTestOnboarding,
} from '@gw/testing/control-plane/onboarding';
import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';
import { stages } from './machine.ts';

const running = forFile(startTestOnboarding);

test('each route needs its role', async () => {
  const id = await bringTo(running, 'account_created');
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
  ['Audit with limits of its own', { tier: 'audit', limits: { per_s: 1_000_000, burst: 1, per_day: 1 } }],
])('an application with %s is refused', async (_, changes) => {
  const reply = await running.post(root, applicant(changes));
  expect(reply.statusCode).toBe(400);
  expect(reply.json().error.type).toBe('validation_error');
});

test.each([
  ['a text that is too long', { intended_use: 'x'.repeat(4001) }, 'invalid_intended_use'],
  ['an unknown industry', { industry: 'witchcraft' }, 'invalid_industry'],
  ['a country that is no code', { countries: ['Germany'] }, 'invalid_countries'],
  ['two letters that are no country', { countries: ['XX'] }, 'invalid_countries'],
  ['a country by a code that is not its own', { countries: ['UK', 'NK'] }, 'invalid_countries'],
])('a declaration with %s is refused', async (_, changes, code) => {
  const reply = await running.post(at(await bringTo(running, 'account_created'), 'declaration'), declaration(changes));
  expect(reply.statusCode).toBe(400);
  expect(reply.json().error.code).toBe(code);
});

test('a contract that will be signed is none yet; a date alone is enough, that of today wherever it is signed', async () => {
  const id = await bringTo(running, 'contract_pending');
  const nowMs = running.clock.now.getTime();
  const sign = (signed_at: string) => running.post(at(id, 'contract'), { ...contract, signed_at });
  const ahead = (hours: number) => new Date(nowMs + hours * hourMs).toISOString();
  const nextWeek = ahead(168).slice(0, 10);
  for (const given of [ahead(24 * 365), ahead(0.1), nextWeek, '0000-01-01', '2026-02-30', 'yesterday']) {
    const reply = await sign(given);
    expect([reply.statusCode, reply.json().error.code, reply.json().error.param], given).toEqual([
      400,
      'invalid_signed_at',
      'signed_at',
    ]);
  }
  // It is the next day already where the sun rises first.
  const date = ahead(13.9).slice(0, 10);
  expect((await sign(date)).json()).toMatchObject({
    stage: 'key_pending',
    contract: { signed_at: `${date}T00:00:00.000Z` },
  });
  const other = await bringTo(running, 'contract_pending');
  // Clocks differ a little.
  const reply = await running.post(at(other, 'contract'), {
    ...contract,
    signed_at: new Date(nowMs + 60_000).toISOString(),
  });
  expect(reply.statusCode).toBe(200);
});

test('an Enterprise account gets the limits that were negotiated', async () => {
  const id = await create(running, { tier: 'enterprise', limits: { per_s: 10, burst: 20, per_day: 30 } });
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
    const id = await bringTo(running, stage);
    const { data } = (await running.get(`${root}?stage=${stage}&limit=100`)).json();
    expect(data[0]?.account_id).toBe(id);
    expect(data.every((each: { stage: string }) => each.stage === stage)).toBe(true);
  }
  expect((await running.get(`${root}?after=none`)).json().error.code).toBe('invalid_after');
});
