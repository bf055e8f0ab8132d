/** Receipts that wait for the catalogue are tried again when it changes. */

import { hourMs } from '@gw/contract/internal/durations';
import { plainDeployment } from '@gw/testing/catalogue';
import {
  callAt,
  catalogueOf,
  entryFrom,
  ingest,
  modelOf,
  site,
  unknownModel,
  versionsOf,
} from '@gw/testing/control-plane/calls';
import { noFaults, type Stores, silentLog, startStores, testSeals } from '@gw/testing/control-plane/fixtures';
import { at, emptyLedger, newestVersion, sweden } from '@gw/testing/control-plane/restatements';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { HeldCatalogue } from '../../catalogue/snapshot/keeper.ts';
import { recalculateDue } from './recalculate.ts';
import { openRecalculation, readingInHistory } from './version-jobs.ts';
import { wake } from './wake.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
}, 120_000);
afterAll(() => stores?.stop());
beforeEach(() => emptyLedger(stores));

const known = catalogueOf([modelOf()]);
const unknown = catalogueOf([unknownModel]);
const { signal } = new AbortController();
const history = () => readingInHistory(stores, [sweden]);
const waiting = () => stores.db.recalculation.findMany({ orderBy: { receiptId: 'asc' } });
const dueNow = () => stores.db.recalculation.updateMany({ data: { dueAt: new Date(0) } });

/** Returns how many versions were made. */
async function recalculate(held: HeldCatalogue): Promise<number> {
  let made = 0;
  const onRecalculated = (count: number): void => {
    made += count;
  };
  const now = () => new Date();
  const tools = { db: stores.db, history, now, faults: noFaults, log: silentLog, seals: testSeals };
  await recalculateDue({ ...tools, signal, onRecalculated }, held);
  return made;
}

async function store(facts: Parameters<typeof entryFrom>[0]): Promise<string> {
  const entry = entryFrom(facts);
  await ingest(stores.db, entry);
  return entry.receipt.id;
}

test('what waits for an entry of the catalogue is tried once a day, unless it is woken', async () => {
  await store(callAt(at, { model: unknownModel }));
  const before = Date.now();
  await recalculate(unknown);
  const [row] = await waiting();
  expect(Math.round((Number(row?.dueAt) - before) / 60_000)).toBe(24 * 60);
  expect(await waiting()).toMatchObject([{ waitsFor: 'model sim-small' }]);
});

test('what is woken while an instance tries it with an older catalogue stays due', async () => {
  await store(callAt(at, { model: unknownModel }));
  const wakes = async () => {
    await dueNow();
    return null;
  };
  const grid = callAt(at, { model: unknownModel, grid: null });
  await ingest(stores.db, entryFrom(grid, { changes: { grid_zone: 'SWE' } }));
  const now = () => new Date();
  const options = {
    db: stores.db,
    history: () => wakes,
    now,
    faults: noFaults,
    log: silentLog,
    seals: testSeals,
    signal,
    onRecalculated: () => {},
  };
  await recalculateDue(options, unknown);
  expect((await waiting()).map(({ dueAt }) => dueAt)).toEqual([new Date(0), new Date(0)]);
  expect(await recalculate(known)).toBe(2);
});

test('who changed the region of a deployment wakes nothing, another PUE of it does', async () => {
  await store(callAt(at, { model: unknownModel }));
  await recalculate(unknown);
  const [before] = await waiting();
  const regionEntry = { catalogueVersion: 8, changedAt: at, changedBy: 'operator Ada (op_a)' };
  const served = { ...plainDeployment, ...site, models: { 'sim-small': 'x' } };
  const first = catalogueOf([unknownModel], { deployments: [served] });
  const moved = catalogueOf([unknownModel], { deployments: [{ ...served, regionEntry }] });
  await wake(stores.db, first, moved, signal);
  expect(await waiting()).toEqual([before]);
  await wake(
    stores.db,
    moved,
    catalogueOf([unknownModel], { deployments: [{ ...served, regionEntry, pue: 2 }] }),
    signal,
  );
  expect(await waiting()).not.toEqual([before]);
});

test('hundreds of thousands are woken a few thousand at a time, and nothing else is', async () => {
  await stores.db.$executeRaw`INSERT INTO recalculations (receipt_id, created_at, due_at, waits_for)
    SELECT n::text, now(), now() + INTERVAL '1 day', CASE WHEN n <= 12000 THEN 'model sim-small' ELSE 'zone XXX' END
    FROM generate_series(1, 12500) n`;
  const asleep: number[] = [];
  const counting = withQuestions(async (run) => {
    const rows = await run();
    asleep.push(await stores.db.recalculation.count({ where: { dueAt: { gt: new Date() } } }));
    return rows;
  });
  await wake(counting, unknown, known, signal);
  expect(asleep).toEqual([7500, 2500, 500]);
  await wake(counting, null, known, signal);
  expect(asleep.at(-1)).toBe(0);
});

test('a waking that fails holds nothing up: what is due is made, and the next round wakes the rest', async () => {
  const [due, asleep] = [
    await store(callAt(at, { model: unknownModel })),
    await store(callAt(at, { model: unknownModel })),
  ];
  const later = new Date(Date.now() + hourMs);
  await stores.db.recalculation.updateMany({ where: { receiptId: asleep }, data: { dueAt: later } });
  let failures = 1;
  const db = withQuestions((run) => (failures-- > 0 ? Promise.reject(new Error('canceled')) : run()));
  const options = {
    db,
    history,
    now: () => new Date(),
    faults: noFaults,
    log: silentLog,
    seals: testSeals,
    signal,
    onRecalculated: () => {},
  };
  const round = openRecalculation(options, { current: () => known });
  await expect(round()).rejects.toThrow('canceled');
  expect((await waiting()).map(({ receiptId }) => receiptId)).toEqual([asleep]);
  await round();
  expect(await waiting()).toEqual([]);
  expect((await newestVersion(stores.db, due)).receipt.version).toBe(2);
});

test('figures of a deployment that were put right wake the models that it serves', async () => {
  const models = { 'sim-small': 'sim-small' };
  const broken = { ...site, models, pue: 1e308 };
  const id = await store(callAt(at, { site: broken }));
  expect((await versionsOf(stores.db, id))[0]?.receipt.degraded_reason).toBe('calculator_fault');
  const [before, after] = [broken, { ...site, models }].map((each) =>
    catalogueOf([modelOf()], { deployments: [{ ...plainDeployment, ...each }] }),
  );
  if (!before || !after) return;
  expect(await recalculate(before)).toBe(0);
  await wake(stores.db, before, after, signal);
  expect(await recalculate(after)).toBe(1);
});

/** The database, with something around each question. */
function withQuestions(around: (run: () => Promise<unknown>) => Promise<unknown>): Stores['db'] {
  return new Proxy(stores.db, {
    get: (db, name) => {
      if (name !== '$queryRaw') return Reflect.get(db, name);
      return (...query: Parameters<typeof db.$queryRaw>) => around(() => db.$queryRaw(...query));
    },
  });
}

test('a new process tries everything at once, whatever it waits for', async () => {
  await store(callAt(at, { model: unknownModel }));
  await recalculate(unknown);
  await wake(stores.db, null, known, signal);
  expect(await recalculate(known)).toBe(1);
});
