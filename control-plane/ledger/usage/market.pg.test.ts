import { createHash } from 'node:crypto';
import type { Receipt } from '@gw/contract/receipt';
import type { UsageRow } from '@gw/contract/usage';
import { sumUsage } from '@gw/control-plane/internals/ledger/usage/job';
import { startTestApp } from '@gw/testing/control-plane/app';
import { entryOf, receiptIdAt } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import type { LedgerEntry } from '@gw/testing/ledger-entry';
import { beforeEach, expect, test } from 'vitest';
import { rounded } from './rounded.ts';

const running = forFile(startTestApp);
beforeEach(() => running.stores.db.energyContract.deleteMany());

const hour = (of: number): Date => new Date(Date.UTC(2026, 2, 1, of));
const ask = async (id: string, query: string) =>
  (await running.get(`/v1/usage?from=2026-03-01&to=2026-03-03${query}`, { 'x-gw-account-id': id })).json();
const summed = async (): Promise<void> => {
  await sumUsage(running.stores.db);
};

interface Bought {
  readonly provider: string | null;
  readonly region: string | null;
  readonly from: Date;
  readonly to: Date;
  /** Null: a residual mix. */
  readonly share: number | null;
  readonly gPerKwh: number;
}
const enter = (...bought: readonly Bought[]) =>
  running.stores.db.energyContract.createMany({
    data: bought.map(({ from, gPerKwh, provider, region, share, to }, at) => ({
      id: `c${at}`,
      provider,
      region,
      validFrom: from,
      validTo: to,
      share,
      gPerKwh,
      evidence: 'a test',
      instrument: share === null ? 'residual_mix' : 'ppa',
    })),
  });
const call = (of: number, id: string, fields: Partial<Receipt> = {}): LedgerEntry =>
  entryOf(
    {
      id: receiptIdAt(hour(of)),
      provider: 'p',
      region: 'eu',
      energy_wh: 1000,
      carbon_g: 110,
      carbon_operation_g: 100,
      carbon_embodied_g: 10,
      ...fields,
    },
    id,
  );
const all = { provider: null, region: 'eu', from: hour(0), to: hour(10) };

test('where nothing was bought, carbon by market is carbon by location, and nothing is covered', async () => {
  const id = 'acct_plain';
  await running.store(
    call(3, id),
    call(4, id, { energy_wh: null, carbon_g: null, carbon_operation_g: null, tier: 'degraded' }),
  );
  const { data, total } = await ask(id, '');
  for (const row of [data[0], total])
    expect([row.carbon_g, row.carbon_market_g, row.energy_contracted_wh, row.missing.carbon_market_g]).toEqual([
      110, 110, 0, 1,
    ]);
});

test('a contract covers its share in its hours, a residual mix the rest, and the making of the hardware stays', async () => {
  const id = 'acct_bought';
  await running.store(call(9, id), call(10, id), call(9, id, { region: 'us' }));
  const told = async () => {
    const { data } = await ask(id, '&interval=total&group_by=region');
    return data.map(({ carbon_market_g, energy_contracted_wh, region }: UsageRow) => [
      region,
      carbon_market_g,
      energy_contracted_wh,
    ]);
  };
  // 1 kWh: 0.25 of it at 8 g, the rest as the grid is.
  await enter({ ...all, share: 0.25, gPerKwh: 8 });
  expect(await told()).toEqual([
    ['eu', 2 + 75 + 10 + 110, 250],
    ['us', 110, 0],
  ]);
  await running.stores.db.energyContract.deleteMany();
  await enter({ ...all, share: 0.25, gPerKwh: 8 }, { ...all, share: null, gPerKwh: 400 });
  await summed();
  expect(await told()).toEqual([
    ['eu', 2 + 300 + 10 + 110, 250],
    ['us', 110, 0],
  ]);
});

function drawn(seed: number, id: string) {
  let count = 0;
  const random = (): number => createHash('sha256').update(`${seed} ${count++}`).digest().readUInt32LE() / 2 ** 32;
  const below = (end: number): number => Math.floor(random() * end);
  const pick = <T>(...each: T[]): T => each[below(each.length)] as T;
  const entries = Array.from({ length: 300 }, () => {
    const [operation, embodied] = [below(1000), below(100)];
    const isKnown = random() < 0.8;
    return call(0, id, {
      provider: pick('p', 'q', null),
      region: pick('eu', 'us', null),
      id: receiptIdAt(new Date(hour(0).getTime() + below(48) * 3_600_000 + below(3_600_000))),
      project: pick('one', 'two', null),
      energy_wh: isKnown ? below(5000) : null,
      carbon_g: isKnown ? operation + embodied : null,
      carbon_operation_g: isKnown ? operation : null,
      carbon_embodied_g: isKnown ? embodied : null,
    });
  });
  const bought = Array.from({ length: 12 }, (): Bought => {
    const from = below(40);
    const place = { provider: pick('p', 'q', null), region: pick('eu', 'us') };
    return {
      ...place,
      from: hour(from),
      to: hour(from + 1 + below(20)),
      share: pick(0, 0.0625, null),
      gPerKwh: below(300),
    };
  });
  return { entries, bought: bought.map((each) => (each.share === 0 ? { ...each, share: 0.03125 } : each)) };
}

/** In thousandths of a gram, by the receipt and what was bought alone; null: not known. */
function marketOf({ receipt }: LedgerEntry, bought: readonly Bought[]): number | null {
  const { carbon_g, carbon_operation_g, created_at, energy_wh, provider, region } = receipt;
  if (carbon_g === null || carbon_operation_g === null || energy_wh === null) return null;
  const at = Date.parse(created_at);
  const fitting = bought.filter(
    (each) =>
      (each.provider === null || each.provider === provider) &&
      (each.region === null || each.region === region) &&
      each.from.getTime() <= at &&
      at < each.to.getTime(),
  );
  const mixes = fitting.filter(({ share }) => share === null).map(({ gPerKwh }) => gPerKwh);
  let left = 1;
  let market = 0;
  for (const { gPerKwh, share } of fitting) {
    left -= share ?? 0;
    market += (share ?? 0) * energy_wh * gPerKwh;
  }
  const rest = mixes.length > 0 ? energy_wh * Math.min(...mixes) : carbon_operation_g * 1000;
  return market + left * rest + (carbon_g - carbon_operation_g) * 1000;
}

test.each([1, 2, 3])('carbon by market is that of the receipts one by one, summed or not (seed %i)', async (seed) => {
  const id = `acct_market_${seed}`;
  const { bought, entries } = drawn(seed, id);
  await enter(...bought);
  await running.store(...entries);
  const sumOf = (of: readonly LedgerEntry[]) => {
    const known = of.map((entry) => marketOf(entry, bought)).filter((each) => each !== null);
    // The shares are binary fractions, so that a double holds the sum and prints all of its digits.
    const [whole = '', fraction = ''] = String(known.reduce((sum, each) => sum + each, 0)).split('.');
    return rounded(`${whole.slice(0, -3)}.${whole.slice(-3)}${fraction}`);
  };
  const wanted = ['one', 'two', null].map((project) => [
    project,
    sumOf(entries.filter(({ receipt }) => receipt.project === project)),
  ]);
  const told = async () =>
    (await ask(id, '&interval=total&group_by=project')).data.map(({ carbon_market_g, project }: UsageRow) => [
      project,
      carbon_market_g,
    ]);
  expect(await told()).toEqual(wanted);
  const { total } = await ask(id, '');
  expect(total.carbon_market_g).toBe(sumOf(entries));
  expect(total.carbon_market_g).not.toBe(total.carbon_g);
  expect(total.energy_contracted_wh).toBeGreaterThan(0);
  await summed();
  expect(await told()).toEqual(wanted);
  expect((await ask(id, '')).total).toEqual(total);
});
