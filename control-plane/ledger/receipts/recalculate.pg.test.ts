import type { SnapshotModel } from '@gw/contract/internal/snapshot';
import { assess, type CallFacts } from '@gw/methodology/assess';
import { annualReading } from '@gw/methodology/grid-annual';
import { plainDeployment } from '@gw/testing/catalogue';
import {
  callAt,
  catalogueOf,
  entryFrom,
  ingest,
  modelOf,
  site,
  unattended,
  unknownModel,
  versionsOf,
} from '@gw/testing/control-plane/calls';
import {
  noFaults,
  type Stores,
  settleAnyAge,
  silentLog,
  startStores,
  testSeals,
} from '@gw/testing/control-plane/fixtures';
import { emptyLedger, newestVersion, settledObservation, sweden } from '@gw/testing/control-plane/restatements';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { HeldCatalogue } from '../../catalogue/snapshot/keeper.ts';
import { storeReadings } from '../grid/store.ts';
import { recalculateDue } from './recalculate.ts';
import { readingInHistory } from './version-jobs.ts';
import { wake } from './wake.ts';

/** As JSON holds it, without the numbers that are absent. */
const stored = (impact: object): object => JSON.parse(JSON.stringify(impact));

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
  await settleAnyAge(stores);
}, 120_000);
afterAll(() => stores?.stop());
beforeEach(() => emptyLedger(stores));

const at = '2026-11-21T09:10:00Z';
const known = catalogueOf([modelOf()]);
const unknown = catalogueOf([unknownModel]);

type Faults = Parameters<typeof recalculateDue>[0]['faults'];

/** Returns how many versions were made. */
async function recalculate(held: HeldCatalogue, db = stores.db, faults: Faults = noFaults): Promise<number> {
  let made = 0;
  const onRecalculated = (count: number): void => {
    made += count;
  };
  const now = (): Date => new Date('2026-11-22T00:00:00Z');
  await recalculateDue({ db, history, now, faults, log: silentLog, seals: testSeals, signal, onRecalculated }, held);
  return made;
}
const { signal } = new AbortController();
const history = () => readingInHistory(stores, [sweden]);
const waiting = () => stores.db.recalculation.findMany({ orderBy: { receiptId: 'asc' } });
const dueNow = () => stores.db.recalculation.updateMany({ data: { dueAt: new Date(0) } });

async function store(facts: CallFacts): Promise<string> {
  const entry = entryFrom(facts);
  await ingest(stores.db, entry);
  return entry.receipt.id;
}

test('a model without parameters: degraded, until the catalogue has them; the first version stays', async () => {
  const facts = callAt(at, { model: unknownModel });
  const id = await store(facts);
  expect(await recalculate(unknown)).toBe(0);
  expect(await waiting()).toMatchObject([{ receiptId: id, waitsFor: 'model sim-small', attempts: 1 }]);
  expect(await recalculate(known), 'before it is due').toBe(0);
  await wake(stores.db, unknown, known, signal);
  expect(await recalculate(known)).toBe(1);
  const [first] = await versionsOf(stores.db, id);
  expect(first?.receipt).toMatchObject({ version: 1, tier: 'degraded', degraded_reason: 'model_parameters_unknown' });
  const { receipt, lineage } = await newestVersion(stores.db, id);
  const expected = assess({ ...facts, model: modelOf() });
  expect(receipt).toMatchObject({
    ...(expected.ok && stored(expected.impact)),
    version: 2,
    supersedes: 1,
    tier: 'parametric',
  });
  expect(receipt).not.toHaveProperty('degraded_reason');
  expect(receipt).not.toHaveProperty('recalculable');
  for (const field of ['id', 'created_at', 'request_id', 'status', 'requested_tier', 'provider', 'region'] as const)
    expect(receipt[field]).toBe(first?.receipt[field]);
  expect(lineage.lineage?.calculation.tier).toBe('parametric');
  expect(lineage.revision).toEqual({
    reason: 'recalculated',
    at: '2026-11-22T00:00:00.000Z',
    completed: ['model.activeParametersB', 'model.totalParametersB', 'model.modelClass'],
    catalogue_version: 7,
    grid: null,
  });
  expect(await waiting()).toEqual([]);
  expect(await recalculate(known)).toBe(0);
});

const entryOf = (catalogueVersion: number, name: string) => ({
  catalogueVersion,
  changedAt: `2026-11-${10 + catalogueVersion}T00:00:00.000Z`,
  changedBy: `operator ${name} (op_${catalogueVersion})`,
});

test('who vouches for what is taken from the catalogue comes with it, and the first version keeps who did before', async () => {
  const before = { ...unknownModel, entry: entryOf(3, 'Ada'), parametersSource: null };
  const id = await store(callAt(at, { model: before }));
  const entry = entryOf(6, 'Bob');
  const held = catalogueOf([modelOf({ entry, parametersSource: 'its card' })]);
  expect(await recalculate(held)).toBe(1);
  const [first, second] = await versionsOf(stores.db, id);
  expect([first?.facts?.model.entry, first?.facts?.model.parametersSource]).toEqual([before.entry, null]);
  expect([second?.facts?.model.entry, second?.facts?.model.parametersSource]).toEqual([entry, 'its card']);
});

test('where nobody is known to vouch for what is taken, nobody else does, and what was known keeps its own', async () => {
  const entry = entryOf(3, 'Ada');
  const sized = { ...modelOf({ entry, parametersSource: 'its card' }), modelClass: null };
  const taken = await store(callAt(at, { model: { ...unknownModel, entry } }));
  const kept = await store(callAt(at, { model: sized, grid: null }));
  expect(await recalculate(catalogueOf([modelOf()]))).toBeGreaterThan(0);
  expect((await newestVersion(stores.db, taken)).facts?.model).not.toHaveProperty('entry');
  expect((await newestVersion(stores.db, kept)).facts?.model).toMatchObject({ parametersSource: 'its card' });
});

test('what was known of the call stays, whatever the catalogue says by now', async () => {
  const id = await store(callAt(at, { model: { ...unknownModel, quantizationBits: 4 } }));
  const now = modelOf({ quantizationBits: 16, tokensPerS: 100 });
  const held = catalogueOf([now], { deployments: [{ ...plainDeployment, ...site, pue: 2 }] });
  expect(await recalculate(held)).toBe(1);
  const { facts, receipt } = await newestVersion(stores.db, id);
  expect(facts?.model).toMatchObject({ quantizationBits: 4, tokensPerS: 100 });
  expect(receipt).toMatchObject({ pue: 1.1, grid_intensity_g_per_kwh: 40 });
  expect(facts?.revision?.completed).not.toContain('model.quantizationBits');
});

describe('a call without a grid value', () => {
  const withoutGrid = entryFrom(callAt(at, { grid: null }), { changes: { grid_zone: 'SWE' } });

  test('gets the one of the history for its own time, not the newest', async () => {
    await ingest(stores.db, withoutGrid);
    await storeReadings(stores.db, [
      settledObservation('2026-11-21T09:00:00Z', 31),
      settledObservation('2026-11-21T10:00:00Z', 99),
    ]);
    expect(await recalculate(known)).toBe(1);
    const { facts, receipt, lineage } = await newestVersion(stores.db, withoutGrid.receipt.id);
    expect(facts?.grid).toMatchObject({ replySha256: 'a'.repeat(64), fetchedAt: '2026-11-21T10:00:00.000Z' });
    expect(receipt).toMatchObject({
      grid_intensity_g_per_kwh: 31,
      grid_intensity_source: 'electricity-maps',
      grid_intensity_requested_at: '2026-11-21T09:10:00.000Z',
      grid_temporal_match: 'live_window',
      grid_intensity_age_minutes: 0,
    });
    expect(lineage.revision?.completed).toEqual(['grid']);
  });

  test('gets the yearly average where there is no history', async () => {
    await ingest(stores.db, withoutGrid);
    expect(await recalculate(known)).toBe(1);
    const { receipt } = await newestVersion(stores.db, withoutGrid.receipt.id);
    expect(receipt).toMatchObject({
      grid_intensity_g_per_kwh: annualReading('SWE')?.gPerKwh,
      grid_temporal_match: 'annual_fallback',
    });
  });

  test('waits for its zone, and wakes when its region has been moved to one that has a value', async () => {
    const region = { code: 'eu-north', name: '', country: '', status: 'active' as const, preference: 0 };
    const nowhere = entryFrom(callAt(at, { grid: null }), { changes: { grid_zone: 'XXX' } });
    await ingest(stores.db, nowhere);
    const wrong = catalogueOf([modelOf()], { regions: [{ ...region, gridZone: 'XXX' }] });
    expect(await recalculate(wrong)).toBe(0);
    expect(await waiting()).toMatchObject([{ waitsFor: 'zone XXX' }]);
    const right = catalogueOf([modelOf()], { regions: [{ ...region, gridZone: 'SWE' }] });
    await wake(stores.db, wrong, right, signal);
    expect(await recalculate(right)).toBe(1);
    expect((await newestVersion(stores.db, nowhere.receipt.id)).receipt.grid_zone).toBe('SWE');
  });
});

test('an explicit tier is kept: what was asked for as proxy waits for a class, and never becomes parametric', async () => {
  const id = await store(callAt(at, { requestedTier: 'proxy', model: unknownModel }));
  expect(await recalculate(catalogueOf([modelOf({ modelClass: null })]))).toBe(0);
  await dueNow();
  expect(await recalculate(known)).toBe(1);
  expect((await newestVersion(stores.db, id)).receipt).toMatchObject({ tier: 'proxy', requested_tier: 'proxy' });
});

test('facts that cannot be calculated with are made again with what the catalogue says by now', async () => {
  const broken: SnapshotModel = modelOf({
    tokensPerS: Number.MIN_VALUE,
    activeParametersB: { min: 1e308, max: 1e308 },
  });
  const id = await store(callAt(at, { model: broken }));
  expect((await versionsOf(stores.db, id))[0]?.receipt.degraded_reason).toBe('calculator_fault');
  expect(await recalculate(catalogueOf([broken]))).toBe(0);
  await wake(stores.db, catalogueOf([broken]), known, signal);
  expect(await recalculate(known)).toBe(1);
  expect((await newestVersion(stores.db, id)).lineage.revision?.completed).toEqual(['model']);
});

test('an exception of the calculation is told as a fault of the program, and the receipt waits', async () => {
  const entry = entryFrom(callAt(at, { model: unknownModel }));
  await ingest(stores.db, { ...entry, facts: JSON.parse(JSON.stringify({ ...entry.facts, site: null })) });
  const told: unknown[][] = [];
  expect(await recalculate(known, stores.db, { fault: (...fault) => void told.push(fault) })).toBe(0);
  expect(told).toEqual([['recalculation', expect.any(TypeError)]]);
  expect(await waiting()).toHaveLength(1);
});

test('what can never be made does not wait: no usage, and energy that was to be measured in the reply', async () => {
  await store(callAt(at, { usage: null }));
  expect(await waiting()).toEqual([]);
  await store(callAt(at, { requestedTier: 'telemetry' }));
  expect(await waiting()).toHaveLength(1);
  await recalculate(known);
  expect(await waiting()).toEqual([]);
});

test.each(['before', 'after', 'in the same batch as'])(
  'a receipt that was shown as degraded %s the facts of its call came gets its numbers, and keeps its first version',
  async (order) => {
    const made = entryFrom(callAt(at));
    const shown = unattended(made, { shown: true });
    if (order === 'in the same batch as') await ingest(stores.db, made, shown);
    else for (const entry of order === 'before' ? [shown, made] : [made, shown]) await ingest(stores.db, entry);
    expect((await versionsOf(stores.db, made.receipt.id)).map(({ receipt }) => receipt)).toEqual([shown.receipt]);
    expect(await recalculate(known)).toBe(1);
    const { receipt } = await newestVersion(stores.db, made.receipt.id);
    const { lineage_digest: _, ...expected } = { ...made.receipt, version: 2, supersedes: 1 };
    expect(receipt).toMatchObject(expected);
    expect((await versionsOf(stores.db, made.receipt.id))[0]?.receipt).toEqual(shown.receipt);
  },
);

test('a receipt that was closed for a dead sidecar becomes the one that it made, if that comes home after all', async () => {
  const made = entryFrom(callAt(at));
  const closed = unattended(made, { shown: false });
  expect(closed.receipt, 'nothing is promised').toMatchObject({ recalculable: false });
  await ingest(stores.db, closed);
  expect(await waiting()).toEqual([]);
  await ingest(stores.db, made);
  expect(await waiting()).toEqual([]);
  expect(await versionsOf(stores.db, made.receipt.id)).toMatchObject([{ receipt: made.receipt, facts: made.facts }]);
});

test('calls of one minute ask the history once for each batch, and each gets the value of its own time', async () => {
  await storeReadings(stores.db, [settledObservation('2026-11-21T09:00:00Z', 31)]);
  let asked = 0;
  const counting = new Proxy(stores.db, {
    get: (db, name) => {
      asked += name === '$queryRaw' ? 1 : 0;
      return Reflect.get(db, name);
    },
  });
  const readingAt = readingInHistory({ db: counting }, [sweden]);
  const times = ['08:59:59.999', '09:00:00.000', '09:00:30.000', '09:00:59.999', '09:01:00.000'];
  const found = await Promise.all(times.map((time) => readingAt('SWE', new Date(`2026-11-21T${time}Z`))));
  expect(found.map((reading) => reading?.gPerKwh)).toEqual([annualReading('SWE')?.gPerKwh, 31, 31, 31, 31]);
  expect(asked).toBe(3);
});

test('hundreds wait, many instances run at once, and each receipt gets one version', async () => {
  const entries = Array.from({ length: 450 }, () => entryFrom(callAt(at, { model: unknownModel })));
  await ingest(stores.db, ...entries);
  const made = await Promise.all(Array.from({ length: 4 }, () => recalculate(known)));
  expect(made.reduce((a, b) => a + b)).toBe(450);
  expect(await stores.db.receipt.count()).toBe(900);
  expect(await waiting()).toEqual([]);
});

const pauseS = async (before: number): Promise<number> => {
  const [row] = await waiting();
  return Math.round((Number(row?.dueAt) - before) / 10_000) * 10;
};

test('what an instance had taken when it died is due again, later each time', async () => {
  await store(callAt(at, { model: unknownModel }));
  const pauses: number[] = [];
  for (let attempt = 0; attempt < 12; attempt++) {
    await dueNow();
    const before = Date.now();
    await expect(recalculate(known, dyingAt(2))).rejects.toThrow('it died');
    pauses.push(await pauseS(before));
  }
  expect(pauses.slice(0, 4)).toEqual([10, 20, 40, 80]);
  expect(Math.max(...pauses)).toBe(3600);
  await dueNow();
  await expect(recalculate(known, dyingAt(3))).rejects.toThrow('it died');
  expect(await recalculate(known)).toBe(0);
  await dueNow();
  expect(await recalculate(known)).toBe(1);
});

/** The database of a process that dies at its n-th question: taking, reading, making. */
function dyingAt(question: number): Stores['db'] {
  let asked = 0;
  return new Proxy(stores.db, {
    get: (db, name) => {
      if (name !== '$queryRaw') return Reflect.get(db, name);
      return (...query: Parameters<typeof db.$queryRaw>) => {
        asked += 1;
        if (asked === question) throw new Error('it died');
        return db.$queryRaw(...query);
      };
    },
  });
}

test('a receipt that nobody can read does not hold up the others', async () => {
  const broken = entryFrom(callAt(at, { model: unknownModel }));
  const id = await store(callAt(at, { model: unknownModel }));
  await ingest(stores.db, { ...broken, facts: { usage: {} } });
  expect(await recalculate(known)).toBe(1);
  expect((await waiting()).map(({ receiptId }) => receiptId)).toEqual([broken.receipt.id]);
  expect((await newestVersion(stores.db, id)).receipt.version).toBe(2);
});

describe('a receipt that somebody altered while it waits holds up no other one, and gives none its numbers', () => {
  const fails: Readonly<Record<string, string>> = {
    'a body of null': `body = 'null'`,
    'a body of no version': `body = replace(body::text, '"version":1', '"version":"x"')::json`,
    'a body of no time': `body = replace(body::text, '"created_at":"2', '"created_at":"x')::json`,
    'facts of null': `facts = 'null'`,
    'facts of a text': `facts = '{"usage":"x"}'`,
  };
  test.each(Object.entries(fails))('%s', async (_, change) => {
    const [id, other] = [
      await store(callAt(at, { model: unknownModel })),
      await store(callAt(at, { model: unknownModel })),
    ];
    await stores.tamper(`UPDATE receipts SET ${change} WHERE id = '${id}'`);
    expect(await recalculate(known)).toBe(1);
    expect(await versionsOf(stores.db, other)).toHaveLength(2);
    expect(await versionsOf(stores.db, id)).toHaveLength(1);
    expect(await waiting()).toMatchObject([{ receiptId: id }]);
  });

  test("the body of another one, with facts of somebody's own", async () => {
    const [id, other] = [
      await store(callAt(at, { model: unknownModel })),
      await store(callAt(at, { model: unknownModel })),
    ];
    await stores.db.recalculation.deleteMany({ where: { receiptId: other } });
    await stores.tamper(`UPDATE receipts SET body = (SELECT body FROM receipts WHERE id = '${other}'),
      facts = replace(facts::text, '"completionTokens":20', '"completionTokens":1')::json WHERE id = '${id}'`);
    expect(await recalculate(known)).toBe(0);
    expect(await versionsOf(stores.db, other)).toHaveLength(1);
  });
});
