import { createHash } from 'node:crypto';
import type { UsageRow } from '@gw/contract/usage';
import { sumUsage } from '@gw/control-plane/internals/ledger/usage/job';
import { usageOf } from '@gw/control-plane/internals/ledger/usage/usage';
import { startTestApp } from '@gw/testing/control-plane/app';
import { entryOf, receiptIdAt } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import type { LedgerEntry } from '@gw/testing/ledger-entry';
import { beforeEach, expect, test } from 'vitest';

const running = forFile(startTestApp);
beforeEach(() => running.stores.db.price.deleteMany());

const ask = async (id: string, query: string) =>
  (await running.get(`/v1/usage?from=2026-03-01&to=2026-03-03${query}`, { 'x-gw-account-id': id })).json();
const summed = async (): Promise<void> => {
  await sumUsage(running.stores.db);
};

interface Price {
  readonly provider: string;
  readonly model: string;
  readonly region: string | null;
  readonly from: Date;
  /** In millionths of the currency per 1,000,000 tokens, so that the test adds whole numbers. */
  readonly input: number;
  readonly output: number;
}
const decimal = (millionths: number): string => (millionths / 1e6).toFixed(6);
const enter = (...prices: readonly Price[]) =>
  running.stores.db.price.createMany({
    data: prices.map(({ from, input, model, output, provider, region }, at) => ({
      id: `${at} ${from.getTime()}`,
      provider,
      model,
      region,
      validFrom: from,
      source: 'a test',
      inputPerMtok: decimal(input),
      outputPerMtok: decimal(output),
    })),
  });
const hour = (of: number): Date => new Date(Date.UTC(2026, 2, 1, of));
const call = (of: number, id: string, fields: Parameters<typeof entryOf>[0] = {}): LedgerEntry =>
  entryOf({ id: receiptIdAt(hour(of)), provider: 'p', model: 'm', region: 'eu', ...fields }, id);

test('calls cost what their tokens cost in their hour, and say in which currency', async () => {
  const id = 'acct_cost';
  const price = { provider: 'p', model: 'm', region: null, input: 2_500_000, output: 10_000_000 };
  await enter({ ...price, from: hour(0) }, { ...price, from: hour(10), input: 5_000_000 });
  const tokens = { prompt_tokens: 1000, completion_tokens: 100 };
  await running.store(call(9, id, tokens), call(10, id, tokens));
  const { data, total } = await ask(id, '&interval=total');
  expect([data[0].cost, data[0].currency, total.cost, total.missing.cost]).toEqual([0.0095, 'USD', 0.0095, undefined]);
});

test('a price that is corrected corrects what was reported, also of hours that are summed', async () => {
  const id = 'acct_corrected';
  await enter({ provider: 'p', model: 'm', region: null, from: hour(0), input: 1_000_000, output: 0 });
  await running.store(call(3, id, { prompt_tokens: 1_000_000 }));
  await summed();
  expect((await ask(id, '')).total.cost).toBe(1);
  await running.stores.db.price.updateMany({ data: { inputPerMtok: '1.5' } });
  expect((await ask(id, '')).total.cost).toBe(1.5);
});

test('calls without tokens, or without a price, have no cost and are counted as such', async () => {
  const id = 'acct_missing';
  await enter({ provider: 'p', model: 'm', region: null, from: hour(5), input: 1_000_000, output: 0 });
  const unknown = { prompt_tokens: null, completion_tokens: null, tier: 'degraded' } as const;
  const free = call(6, id, { prompt_tokens: 0, completion_tokens: 0 });
  await running.store(call(4, id), call(6, id, unknown), call(6, id, { model: 'other' }), free);
  const { total } = await ask(id, '');
  expect([total.cost, total.missing.cost]).toEqual([0, 3]);
  const { data } = await ask(id, '&group_by=model&interval=total');
  expect(data.map(({ cost, missing, model }: UsageRow) => [model, cost, missing.cost])).toEqual([
    ['m', 0, 2],
    ['other', null, 1],
  ]);
});

/** Calls of two days, and prices that begin in any of their hours. */
function drawn(seed: number, id: string) {
  let count = 0;
  const random = (): number => createHash('sha256').update(`${seed} ${count++}`).digest().readUInt32LE() / 2 ** 32;
  const below = (end: number): number => Math.floor(random() * end);
  const pick = <T>(...each: T[]): T => each[below(each.length)] as T;
  const places = () => ({ provider: pick('p', 'q'), model: pick('a', 'b'), region: pick('eu', 'us', null) });
  const entries = Array.from({ length: 300 }, () => {
    const isKnown = random() < 0.8;
    return call(0, id, {
      ...places(),
      id: receiptIdAt(new Date(hour(0).getTime() + below(48) * 3_600_000 + below(3_600_000))),
      project: pick('one', 'two', null),
      prompt_tokens: isKnown ? below(5000) : null,
      completion_tokens: isKnown ? below(5000) : null,
    });
  });
  const prices = new Map<string, Price>();
  for (let drawn = 0; drawn < 40; drawn += 1) {
    const price = { ...places(), from: hour(below(50) - 5), input: below(1e7), output: below(1e7) };
    prices.set(JSON.stringify([price.provider, price.model, price.region, price.from]), price);
  }
  return { entries, prices: [...prices.values()] };
}

/** In 10^-12 of the currency; null: not known. By the receipt and the prices alone. */
function costOf({ receipt }: LedgerEntry, prices: readonly Price[]): number | null {
  const { completion_tokens: output, created_at, model, prompt_tokens: input, provider, region } = receipt;
  const fitting = (of: string | null) =>
    prices
      .filter((price) => price.provider === provider && price.model === model && price.region === of)
      .filter(({ from }) => from.getTime() <= Date.parse(created_at))
      .toSorted((a, b) => b.from.getTime() - a.from.getTime())[0];
  const price = (region === null ? undefined : fitting(region)) ?? fitting(null);
  return price && input !== null && output !== null ? input * price.input + output * price.output : null;
}

test.each([1, 2, 3])('money by project is that of the receipts one by one, summed or not (seed %i)', async (seed) => {
  const id = `acct_money_${seed}`;
  const { entries, prices } = drawn(seed, id);
  await enter(...prices);
  await running.store(...entries);
  const rowOf = (of: readonly LedgerEntry[]) => {
    const costs = of.map((entry) => costOf(entry, prices));
    const known = costs.filter((cost) => cost !== null);
    const cost =
      known.length === 0 ? null : Number((known.reduce((sum, each) => sum + each, 0) / 1e12).toPrecision(12));
    return { requests: of.length, cost, missing: of.length - known.length };
  };
  const wanted = {
    total: rowOf(entries),
    rows: ['one', 'two', null].map((project) => ({
      project,
      ...rowOf(entries.filter(({ receipt }) => receipt.project === project)),
    })),
  };
  const told = async () => {
    const { data, total } = await ask(id, '&interval=total&group_by=project');
    const shown = ({ cost, missing, requests }: UsageRow) => ({ requests, cost, missing: missing.cost ?? 0 });
    return { total: shown(total), rows: data.map((row: UsageRow) => ({ project: row.project, ...shown(row) })) };
  };
  expect(wanted.total.missing).toBeGreaterThan(50);
  const ofAllAccounts = async () => {
    const asked = { accountId: null, from: hour(0), to: hour(48), version: 'restated', simulated: 'exclude' } as const;
    const question = { ...asked, interval: 'total', group_by: ['account_id', 'project'], currency: 'USD' } as const;
    const { data } = (await usageOf(running.stores.db, question)) ?? { data: [] };
    return data.flatMap(({ account_id, cost, missing, project, requests }) =>
      account_id === id ? [{ project, requests, cost, missing: missing.cost ?? 0 }] : [],
    );
  };
  for (const sum of [async () => {}, summed]) {
    await sum();
    expect(await told()).toEqual(wanted);
    expect(await ofAllAccounts()).toEqual(wanted.rows);
  }
});
