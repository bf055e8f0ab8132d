/** Two sidecars' budgets on a real Valkey that is asked by both at once, stands still, dies and comes back empty. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApiError } from '@gw/contract/errors';
import type { Amounts, HeldBudget } from '@gw/contract/internal/budgets';
import { budgetCallsKey } from '@gw/contract/internal/redis';
import type { Result } from '@gw/contract/internal/result';
import { redisBudgetUse } from '@gw/service/budgets';
import { openRedis, untilReady } from '@gw/service/redis';
import type { Service } from '@gw/stack/services/service';
import { startValkey } from '@gw/stack/services/valkey';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { redisLeases } from '../slots/leases.ts';
import { type Budgets, openBudgets, type Reservation } from './budgets.ts';

const dir = mkdtempSync(join(tmpdir(), 'gwbudgets-'));
const log = pino({ level: 'silent' });
let valkey: Service;
let connections: Redis[];
let sidecars: Budgets[];
const start = () => startValkey({ dir, log: () => {}, durable: false });

beforeEach(async () => {
  valkey = await start();
  connections = [1, 2].map(() => openRedis(valkey.url, log, { commandTimeoutMs: 1000, autoPipelining: true }));
  await Promise.all(connections.map((connection) => untilReady(connection, 5000)));
  // As the control plane does, of a month without receipts.
  const bases = ['bud_t', 'bud_s', 'bud_k'].map((id) => ({ id, steps: 0, estimated: 0 }));
  await redisBudgetUse(connections[0] as Redis).rebase(book, 0, bases, []);
  sidecars = connections.map((redis) =>
    openBudgets({
      use: redisBudgetUse(redis),
      leases: redisLeases(redis),
      instances: 2,
      now: () => Date.parse('2026-11-21T12:00:00.000Z'),
      steady: () => performance.now(),
      metrics: { decided: () => undefined },
      log,
    }),
  );
});
afterEach(async () => {
  for (const budgets of sidecars) budgets.stop();
  for (const connection of connections) connection.disconnect();
  await valkey.stop();
  rmSync(dir, { recursive: true, force: true });
});

const book = { accountId: 'acct', month: '2026-11' };
const budget = (more: Partial<HeldBudget> = {}): HeldBudget => ({
  id: 'bud_t',
  scope: 'account',
  project: '',
  unit: 'tokens',
  amount: 100,
  isHard: true,
  ...more,
});
const using = (tokens: number, more: Partial<Amounts> = {}): Amounts => ({
  carbon_g: null,
  energy_wh: null,
  tokens,
  cost: null,
  ...more,
});
const each = (at: number): Budgets => sidecars[at % 2] as Budgets;
/** Estimates a call that reserves so many tokens, and counts as 7 where its receipt has no number. */
const estimating = (tokens: number, more: Partial<Amounts> = {}) => ({
  estimate: using(tokens, more),
  assumed: using(7),
  open: null,
});
const ask = (at: number, tokens: number, budgets = [budget()]) =>
  each(at).reserve('acct', budgets, () => estimating(tokens));
const askAll = (count: number, tokens: number) =>
  Promise.all(Array.from({ length: count }, (_, at) => ask(at, tokens)));
const taken = (decisions: readonly Result<Reservation, ApiError>[]) =>
  decisions.flatMap((decision) => (decision.ok ? decision.value : []));
const state = (id = 'bud_t') => redisBudgetUse(connections[0] as Redis).state(book, id);
const untilTrue = (check: () => boolean | Promise<boolean>) => expect.poll(check, { timeout: 20_000 }).toBe(true);
/** Resolves when Redis has taken everything that was sent so far. */
const told = () => Promise.all(connections.map((redis) => redis.ping()));

test('both together reserve no more than there is, and settle what was used in its place', async () => {
  const decisions = await askAll(200, 3);
  expect(taken(decisions)).toHaveLength(33);
  expect(await state()).toMatchObject({ used: 99, held: 99 });
  for (const [at, reservation] of taken(decisions).entries())
    reservation.settle(using(at % 2 === 0 ? 1 : 2), reservation.assumed);
  await told();
  expect(await state()).toMatchObject({ used: 17 + 32, held: 0 });
});

test('a refusal names the budget, what is used, the estimate, and when it begins anew; SDKs do not wait for that', async () => {
  const [first] = taken([await ask(0, 90)]);
  const refused = (says: string, retryAfterS: number) => ({
    ok: false,
    error: {
      code: 'token_budget_exceeded',
      status: 429,
      message: `The token budget of this account for 2026-11 is 100 tokens: 90 tokens are used or reserved, and this call is estimated at 20 tokens.${says}`,
      retryAfterS,
    },
  });
  const free =
    ' Calls under way have reserved a part of that, of which they free what they do not use when they end: try again then.';
  expect(await ask(1, 20)).toMatchObject(refused(free, 5));
  first?.settle(using(90), first.assumed);
  await told();
  const seconds = (Date.parse('2026-12-01') - Date.parse('2026-11-21T12:00:00.000Z')) / 1000;
  expect(await ask(1, 20)).toMatchObject(refused(' It begins anew at 2026-12-01T00:00Z.', seconds));
  expect((await ask(1, 10)).ok).toBe(true);
});

test('a call that is larger than the whole budget is refused even if nothing is used', async () => {
  expect(await ask(0, 101)).toMatchObject({ ok: false, error: { code: 'token_budget_exceeded' } });
  expect(await state()).toMatchObject({ used: 0, held: 0 });
});

test('a call takes of all of its budgets or of none, and a soft one refuses nothing and shows itself from 80 % on', async () => {
  const soft = budget({ id: 'bud_s', isHard: false, amount: 10 });
  const key = budget({ id: 'bud_k', scope: 'key', unit: 'carbon_g', amount: 2 });
  const decide = (tokens: number, carbon_g: number) =>
    each(0).reserve('acct', [budget(), soft, key], () => estimating(tokens, { carbon_g }));
  const one = await decide(5, 0.5);
  expect(one).toMatchObject({ ok: true, value: { header: null } });
  const two = await decide(5, 1.2);
  const header = 'tokens;scope=account;kind=soft;used=1.000, carbon_g;scope=key;kind=hard;used=0.850';
  expect(two).toMatchObject({ ok: true, value: { header } });
  expect(await decide(5, 0.5)).toMatchObject({ ok: false, error: { code: 'carbon_budget_exceeded' } });
  expect([await state(), await state('bud_s')]).toMatchObject([{ used: 10 }, { used: 10 }]);
  expect(await state('bud_k')).toMatchObject({ used: 1_700_000 });
});

/** An open answer of 5 tokens that can be bounded to 65, and have 1000 without a bound. */
const open = { from: 5, to: 65, bounded: using(70), whole: using(1005) };
const askOpen = (at: number, budgets: readonly HeldBudget[]) =>
  each(at).reserve('acct', budgets, () => ({ estimate: using(10), assumed: using(7), open }));

test('while Valkey is away, a whole window that the last call had reserved does not count as used', async () => {
  const large = [budget({ amount: 2000 })];
  for (const at of [0, 1]) for (const one of taken([await askOpen(at, large)])) one.settle(using(10), one.assumed);
  await told();
  await valkey.stop();
  await untilTrue(() => sidecars.every((each) => each.local()));
  // Half of the 1,980 that are left; by the 1,005 reserved it would be less than 500.
  expect((await ask(0, 900, large)).ok).toBe(true);
  expect((await ask(1, 1000, large)).ok).toBe(false);
});

test('an open answer is bounded to the least that the hard budgets have left, also while Valkey is away', async () => {
  const key = budget({ id: 'bud_k', scope: 'key', amount: 50 });
  const soft = budget({ id: 'bud_s', isHard: false, amount: 1 });
  const [first] = taken([await askOpen(0, [budget(), key, soft])]);
  expect(first).toMatchObject({ answer: 45, header: 'tokens;scope=account;kind=soft;used=10.000' });
  expect([await state(), await state('bud_k'), await state('bud_s')]).toMatchObject([
    { held: 50 },
    { held: 50 },
    { held: 10 },
  ]);
  expect(await askOpen(1, [budget(), key])).toMatchObject({ ok: false, error: { code: 'token_budget_exceeded' } });
  expect(taken([await askOpen(1, [budget({ amount: 1100 })])])).toMatchObject([{ answer: null }]);
  first?.release();
  await told();
  // Both hear of the 1005.
  for (const reservation of taken([
    await ask(0, 1, [budget({ amount: 2000 })]),
    await ask(1, 1, [budget({ amount: 2000 })]),
  ]))
    reservation.release();
  await valkey.stop();
  await untilTrue(() => sidecars.every((each) => each.local()));
  // Half of the 44 or 45 that were left.
  const [alone] = taken([await askOpen(0, [budget({ amount: 1050 })])]);
  expect([17, 16]).toContain(alone?.answer);
  expect(await askOpen(0, [budget({ amount: 1050 })])).toMatchObject({ ok: false });
  alone?.release();
  expect(taken([await askOpen(0, [budget({ amount: 1050 })])])).toMatchObject([{ answer: alone?.answer }]);
});

test('what has no number is settled by the assumption and shown apart, once, and not given back after that', async () => {
  const [reservation] = taken([await ask(0, 40)]);
  reservation?.settle({ carbon_g: null, energy_wh: null, tokens: null, cost: null }, reservation.assumed);
  reservation?.settle(using(1), reservation.assumed);
  reservation?.release();
  await told();
  expect(await state()).toMatchObject({ used: 7, held: 0, estimated: 7 });
});

test('while Valkey is away each lets through its share of what was left, and counts it together again afterwards', async () => {
  taken([await ask(0, 30), await ask(1, 10)]);
  // Both have heard of the 40.
  taken([await ask(0, 1), await ask(1, 1)]);
  await valkey.stop();
  await untilTrue(() => sidecars.every((budgets) => budgets.local()));
  const alone = taken(await askAll(100, 4));
  // The first had heard of 41, the second of 42: each has half of the rest.
  expect(alone).toHaveLength(7 + 7);
  expect(await ask(0, 4)).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining('the share of this one is 29 tokens') },
  });
  alone[0]?.release();
  expect(taken([await ask(0, 4)])).toHaveLength(1);
  valkey = await start();
  await untilTrue(() => sidecars.every((budgets) => !budgets.local()));
  // All that runs is reserved again, although Valkey came back empty.
  await untilTrue(async () => (await state()).held === 42 + 14 * 4);
  expect(await connections[0]?.hlen(budgetCallsKey('acct', '2026-11'))).toBe(4 + 14);
});

test('a Valkey that was emptied does not give out again what an instance knows to be used', async () => {
  for (const reservation of taken(await askAll(10, 9))) reservation.settle(using(9), reservation.assumed);
  await told();
  await ask(0, 1);
  await ask(1, 1);
  await connections[0]?.flushall();
  expect(taken(await askAll(20, 4)).length).toBeLessThanOrEqual(2);
});

test('what is left to Envoy stays reserved until its receipt is there, and is not reserved again after that', async () => {
  const [left] = taken([await ask(0, 10), await ask(0, 20)]);
  left?.forget();
  left?.release();
  await told();
  expect(await state()).toMatchObject({ held: 30 });
  await valkey.stop();
  await untilTrue(() => sidecars.every((budgets) => budgets.local()));
  valkey = await start();
  await untilTrue(async () => (await state()).held > 0);
  await untilTrue(() => sidecars.every((budgets) => !budgets.local()));
  expect(await state()).toMatchObject({ held: 20 });
});
