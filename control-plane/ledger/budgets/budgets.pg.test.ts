import { ledgerStream } from '@gw/contract/internal/redis';
import type { Receipt } from '@gw/contract/receipt';
import { findKey } from '@gw/prisma/find-key';
import { redisBudgetUse } from '@gw/service/budgets';
import { seedOperators, withToken } from '@gw/testing/control-plane/access';
import { runAs } from '@gw/testing/control-plane/admin';
import { startTestApp } from '@gw/testing/control-plane/app';
import { entryOf, eventually, receiptIdAt, silentLog, testEntries } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import { type LedgerEntry, sealedEntry } from '@gw/testing/ledger-entry';
import { beforeAll, expect, test } from 'vitest';
import { startIngester } from '../receipts/ingest.ts';
import { rebase, startRebasing } from './rebase.ts';

const running = forFile(startTestApp);
let tokens: Awaited<ReturnType<typeof seedOperators>>;
let accounts = 0;
const now = new Date('2026-04-15T12:00:00.000Z');
const month = '2026-04';
beforeAll(async () => {
  tokens = await seedOperators(running.context);
});

const stores = () => ({ ...running.context, now: () => now });
const use = () => redisBudgetUse(running.stores.redis);
const at = (time = '2026-04-03T10:00:00.000Z') => receiptIdAt(new Date(time));
const entry = (more: Partial<Receipt>, accountId: string): LedgerEntry => entryOf({ id: at(), ...more }, accountId);

/** An account with one budget of each unit, and of carbon for a key and a project. */
async function newAccount(): Promise<string> {
  accounts += 1;
  const id = `acct_budget_${accounts}`;
  const { db } = running.stores;
  await db.account.create({ data: { id, name: id, tier: 'audit' } });
  const common = { accountId: id, amount: 100, kind: 'hard', setBy: 'operator', createdAt: now };
  const data = [
    { ...common, id: `bud_c${accounts}`, scope: 'account', name: '', unit: 'carbon_g' },
    { ...common, id: `bud_e${accounts}`, scope: 'account', name: '', unit: 'energy_wh' },
    { ...common, id: `bud_t${accounts}`, scope: 'account', name: '', unit: 'tokens' },
    { ...common, id: `bud_k${accounts}`, scope: 'key', name: 'key', unit: 'carbon_g' },
    { ...common, id: `bud_p${accounts}`, scope: 'project', name: 'Köln', unit: 'carbon_g' },
  ];
  await db.budget.createMany({ data });
  return id;
}
const used = async (letter: string) => {
  const { held, used: steps } = await stateOf(letter);
  return [letter === 't' ? steps : steps / 1e6, letter === 't' ? held : held / 1e6];
};
const stateOf = (letter: string) =>
  use().state({ accountId: `acct_budget_${accounts}`, month }, `bud_${letter}${accounts}`);
const rebased = (accountId: string) => rebase(stores(), { accountId, month });

test('the sums are those of the newest versions, of the month, the key and the project, with simulated calls', async () => {
  const id = await newAccount();
  const first = entry({ carbon_g: 1, energy_wh: 2, prompt_tokens: 3, completion_tokens: 4, project: 'Köln' }, id);
  const newer = entryOf({ ...first.receipt, version: 2, supersedes: 1, carbon_g: 5 }, id);
  const other = { ...entry({ carbon_g: 10, energy_wh: 1, simulated: true }, id), keyId: 'other' };
  await running.store(first, other, entry({ id: at('2026-05-01T00:00:00.000Z'), carbon_g: 99 }, id));
  expect(await rebased(id)).toBe(true);
  expect([await used('c'), await used('k'), await used('p')]).toEqual([
    [11, 0],
    [1, 0],
    [1, 0],
  ]);
  await running.store(newer);
  await rebased(id);
  expect([await used('c'), await used('k'), await used('p')]).toEqual([
    [15, 0],
    [5, 0],
    [5, 0],
  ]);
  expect(await used('e')).toEqual([3, 0]);
  expect(await used('t')).toEqual([7 + (other.receipt.prompt_tokens ?? 0) + (other.receipt.completion_tokens ?? 0), 0]);
});

test('a call is counted once, whether its receipt is in Postgres or not, and whatever Redis missed', async () => {
  const id = await newAccount();
  const book = { accountId: id, month };
  const receipt = entry({ id: at('2026-04-15T11:59:00.000Z'), carbon_g: 4 }, id);
  const shares = [{ id: `bud_c${accounts}`, steps: 7e6, assumed: 5e6 }];
  await use().reserveAnyway(book, receipt.receipt.id, shares);
  await rebased(id);
  expect(await used('c')).toEqual([7, 7]);
  // It was never settled, since its sidecar died; the receipt says what it used.
  await running.store(receipt);
  await rebased(id);
  expect(await used('c')).toEqual([4, 0]);
  // A late word of the sidecar counts until the sums are put below again.
  await use().settle(book, receipt.receipt.id, [{ id: `bud_c${accounts}`, steps: 4e6, isEstimate: false }]);
  await rebased(id);
  expect(await used('c')).toEqual([4, 0]);
  // And one that was settled and has no receipt in Postgres yet stays.
  await use().settle(book, at(), [{ id: `bud_c${accounts}`, steps: 2e6, isEstimate: false }]);
  await rebased(id);
  expect(await used('c')).toEqual([6, 0]);
});

test('an emptied Valkey begins from the sums of the receipts, not from 0', async () => {
  const id = await newAccount();
  await running.store(entry({ carbon_g: 60 }, id));
  await rebased(id);
  await running.stores.redis.flushall();
  const job = startRebasing({ ...stores(), log: silentLog });
  await eventually(async () => (await used('c'))[0] === 60);
  await job.stop();
});

test('sums that fail hold up nobody else, and rest before they are tried again', async () => {
  const failing = await newAccount();
  const other = await newAccount();
  await running.store(entry({ carbon_g: 30 }, other));
  // An emptied Valkey has no sums yet.
  await running.stores.redis.flushall();
  const { db } = running.stores;
  const asked: string[] = [];
  let rounds = 0;
  const findMany = (args: { where?: { accountId: string } }) => {
    if (args.where === undefined) rounds += 1;
    else asked.push(args.where.accountId);
    if (args.where?.accountId === failing) throw new Error('canceling statement due to statement timeout');
    return db.budget.findMany(args as never);
  };
  const budget = new Proxy(db.budget, {
    get: (target, name) => (name === 'findMany' ? findMany : Reflect.get(target, name)),
  });
  const slow = new Proxy(db, { get: (target, name) => (name === 'budget' ? budget : Reflect.get(target, name)) });
  const job = startRebasing({ ...stores(), db: slow, log: silentLog });
  await eventually(() => rounds === 2);
  await job.stop();
  expect((await used('c'))[0]).toBe(30);
  expect(asked.filter((id) => id === failing)).toHaveLength(1);
});

test('what is assumed for a receipt without numbers counts apart, until it has some', async () => {
  const id = await newAccount();
  const none = {
    carbon_g: null,
    energy_wh: null,
    tier: 'degraded',
    prompt_tokens: null,
    completion_tokens: null,
  } as const;
  const degraded = { ...entry({ ...none, project: 'Köln' }, id), facts: null };
  const assumed = { carbon_g: 3, energy_wh: 6, tokens: 500 };
  const { redis } = running.stores;
  await redis.xadd(ledgerStream, '*', 'entry', sealedEntry({ ...degraded, assumed }));
  const ingester = startIngester({
    ...running.stores,
    redis: running.stores.connect(),
    log: silentLog,
    entries: testEntries,
    consumer: 'test',
  });
  await eventually(async () => (await running.stores.db.receipt.count({ where: { id: degraded.receipt.id } })) === 1);
  await ingester.stop();
  await rebased(id);
  expect([await used('c'), await used('e'), await used('t'), await used('p')]).toEqual([
    [3, 0],
    [6, 0],
    [500, 0],
    [3, 0],
  ]);
  const estimated = async () => [(await stateOf('c')).estimated, (await stateOf('t')).estimated];
  expect(await estimated()).toEqual([3e6, 500]);
  await running.store(entryOf({ ...degraded.receipt, version: 2, supersedes: 1, carbon_g: 1, energy_wh: 2 }, id));
  await rebased(id);
  expect([await used('c'), await used('e'), await used('t')]).toEqual([
    [1, 0],
    [2, 0],
    [500, 0],
  ]);
  expect(await estimated()).toEqual([0, 500]);
});

test('a call of a sidecar that died counts as the assumption, not as all that was reserved', async () => {
  const id = await newAccount();
  const none = { carbon_g: null, energy_wh: null, tier: 'degraded', prompt_tokens: null, completion_tokens: null };
  const lost = { ...entry({ ...none, id: at('2026-04-15T11:59:00.000Z') } as Partial<Receipt>, id), facts: null };
  const reserved = [{ id: `bud_t${accounts}`, steps: 5010, assumed: 410 }];
  await use().reserveAnyway({ accountId: id, month }, lost.receipt.id, reserved);
  await running.store(lost);
  await rebased(id);
  expect(await stateOf('t')).toEqual({ base: 410, used: 410, held: 0, estimated: 410 });
});

test('what was reserved for a call that reached no provider is given back, and for one that runs it is not', async () => {
  const id = await newAccount();
  const book = { accountId: id, month };
  const budgets = [{ id: `bud_c${accounts}`, steps: 1e6, assumed: 1e6 }];
  const [gone, runs, fresh] = [at(), at(), at('2026-04-15T11:59:30.000Z')];
  for (const name of [gone, runs, fresh]) await use().reserveAnyway(book, name, budgets);
  await running.stores.redis.zadd('{gw:ledger}:pending', Date.now() + 30_000, runs);
  await rebased(id);
  expect([...(await use().calls(book)).keys()].sort()).toEqual([runs, fresh].sort());
  expect(await used('c')).toEqual([2, 2]);
});

test('of two instances that sum at once, only one puts its sums below', async () => {
  const id = await newAccount();
  const outcomes = await Promise.all(Array.from({ length: 6 }, () => rebased(id)));
  expect(outcomes.filter(Boolean).length).toBeLessThan(6);
  expect(outcomes.filter(Boolean).length).toBeGreaterThan(0);
});

const seeded = 'acct_demo_enterprise';
const path = `/operator/v1/accounts/${seeded}/budgets`;
const carbon = { scope: 'account', unit: 'carbon_g', amount: 50, kind: 'hard' };

test('operators set, change and remove budgets; each change is in the audit log and reaches ext-authz', async () => {
  const admin = withToken(running.operator, tokens.admin);
  const { db } = running.stores;
  const key = await db.apiKey.findFirstOrThrow({ where: { accountId: seeded } });
  const generation = async () => (await db.keyGeneration.findFirstOrThrow()).generation;
  const before = await generation();
  const made = (await admin('POST', path, carbon)).json();
  expect(made).toMatchObject({ object: 'gw.budget', name: null, amount: 50, used: 0, reserved: 0, set_by: 'operator' });
  expect(await generation()).toBe(before + 1n);
  const ofKey = (await admin('POST', path, { ...carbon, scope: 'key', name: key.publicId, kind: 'soft' })).json();
  await admin('POST', path, { ...carbon, scope: 'key', name: 'nobody' });
  await admin('POST', path, { ...carbon, scope: 'project', name: 'Köln' });
  const held = (await findKey(db, key.publicId))?.budgets;
  expect(held?.map(({ isHard, project, scope }) => [scope, project, isHard])).toHaveLength(3);
  expect(held).toContainEqual({ id: ofKey.id, scope: 'key', project: '', unit: 'carbon_g', amount: 50, isHard: false });
  const changed = await admin('PATCH', `${path}/${made.id}`, { amount: 70 });
  expect(changed.json()).toMatchObject({ id: made.id, amount: 70, kind: 'hard' });
  expect((await admin('DELETE', `${path}/${made.id}`)).json()).toEqual({
    id: made.id,
    object: 'gw.budget',
    deleted: true,
  });
  expect((await admin('DELETE', `${path}/${made.id}`)).statusCode).toBe(404);
  const entries = await db.auditEntry.findMany({
    where: { accountId: seeded, action: { startsWith: 'budget.' } },
    orderBy: { seq: 'asc' },
  });
  expect(entries.map(({ action, target }) => [action, target === `budget:${made.id}`])).toEqual([
    ['budget.set', true],
    ['budget.set', false],
    ['budget.set', false],
    ['budget.changed', true],
    ['budget.removed', true],
  ]);
});

test.each([
  ['a name for the account', { ...carbon, name: 'x' }, 400, 'invalid_name'],
  ['no key', { ...carbon, scope: 'key' }, 400, 'invalid_name'],
  ['a key of nobody', { ...carbon, scope: 'key', name: 'nobody' }, 400, 'invalid_name'],
  ['spaces around a project', { ...carbon, scope: 'project', name: ' x' }, 400, 'invalid_name'],
  ['nothing', { ...carbon, amount: 0 }, 400, 'invalid_amount'],
  ['more than can be counted', { ...carbon, unit: 'tokens', amount: 1e17 }, 400, 'invalid_amount'],
  ['an unknown unit', { ...carbon, unit: 'litres' }, 400, 'invalid_unit'],
  ['an unknown field', { ...carbon, soft: true }, 400, 'invalid_soft'],
])('a budget with %s is refused', async (_, body, status, code) => {
  const reply = await withToken(running.operator, tokens.admin)('POST', path, body);
  expect([reply.statusCode, reply.json().error.code]).toEqual([status, code]);
});

test('only admins set budgets, and there is one of a kind', async () => {
  expect((await withToken(running.operator, tokens.support)('POST', path, carbon)).statusCode).toBe(403);
  const admin = withToken(running.operator, tokens.admin);
  await admin('POST', path, { ...carbon, unit: 'tokens' });
  expect((await admin('POST', path, { ...carbon, unit: 'tokens' })).json().error.code).toBe('invalid_transition');
});

test('the shell shows what is used, and sets, changes and removes', async () => {
  const gw = async (line: string) => (await runAs(running, tokens.admin, line.split(' '))).out;
  const account = 'acct_demo_audit_plus';
  expect(await gw(`budgets ${account}`)).toBe('No budget.\n');
  const made = JSON.parse(await gw(`budgets set ${account} --unit tokens --amount 1000 --kind hard --json`));
  await gw(`budgets change ${account} ${made.id} --kind soft`);
  await gw(`budgets set ${account} --unit energy_wh --amount 2.5 --kind hard --project batch`);
  const rows = (await gw(`budgets ${account}`)).split('\n').map((line) => line.split(/ +/).slice(1));
  expect(rows.slice(1, 3)).toEqual([
    ['account', '-', 'tokens', 'soft', '1000', '0', '0', '0', '0', 'operator'],
    ['project', 'batch', 'energy_wh', 'hard', '2.5', '0', '0', '0', '0', 'operator'],
  ]);
  await gw(`budgets remove ${account} ${made.id}`);
  expect((await gw(`budgets ${account}`)).split('\n')).toHaveLength(3);
  await expect(gw(`budgets set ${account} --unit tokens --amount much --kind hard`)).rejects.toThrow(
    /--amount takes a number/,
  );
  await expect(gw(`budgets set ${account} --unit litres --amount 1 --kind hard`)).rejects.toThrow(
    /The option is --unit/,
  );
});
