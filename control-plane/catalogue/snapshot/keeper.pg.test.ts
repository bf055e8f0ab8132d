import type { KeyRing } from '@gw/contract/internal/key-ring';
import { snapshotChannel, snapshotKey, snapshotSealKey, snapshotVersionKey } from '@gw/contract/internal/redis';
import { type Snapshot, type SnapshotGridReading, snapshotSchema } from '@gw/contract/internal/snapshot';
import { isSealedSnapshot } from '@gw/contract/internal/snapshot-seal';
import { annualReading } from '@gw/methodology/grid-annual';
import { silentLog, startStores } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import { entryKeys } from '@gw/testing/ledger-entry';
import { expect, test } from 'vitest';
import { type CatalogueKeeper, createCatalogueKeeper, publishScript } from './keeper.ts';
import type { AnnualReading } from './read.ts';

const stores = forFile(startStores);

/** How much later it is for the keepers than it was. */
let laterMs = 0;
const keeperOf = (reading: AnnualReading = annualReading, keys: KeyRing = entryKeys): CatalogueKeeper =>
  createCatalogueKeeper({
    db: stores.db,
    redis: stores.redis,
    annualReading: reading,
    now: () => new Date(Date.now() + laterMs),
    log: silentLog,
    keys,
    readBeside: async () => {},
  });
const published = async (): Promise<Snapshot> =>
  snapshotSchema.parse(JSON.parse((await stores.redis.get(snapshotKey)) ?? 'null'));
const publishedVersion = async () => Number(await stores.redis.get(snapshotVersionKey));

test('the snapshot in Redis holds the seeded catalogue with a grid reading for each zone', async () => {
  await keeperOf().refresh();
  const snapshot = await published();
  expect(snapshot.version).toBe(await publishedVersion());
  expect(snapshot.models.find((model) => model.id === 'sim-measured')).toMatchObject({
    kind: 'chat',
    activeParametersB: { min: 5.1, max: 5.1 },
    totalParametersB: { min: 117, max: 117 },
    modelClass: 'moe_small_active',
    contextWindow: 131_072,
  });
  expect(snapshot.deployments.every(({ simulated }) => simulated)).toBe(true);
  expect(snapshot.deployments.map(({ id, region, telemetry }) => [id, region, telemetry])).toEqual([
    ['sim-eu-north', 'eu-north', null],
    ['sim-eu-north-metered', 'eu-north', 'neuralwatt'],
    ['sim-eu-west', 'eu-west', null],
    ['sim-eu-west-metered', 'eu-west', 'neuralwatt'],
    ['sim-us-east', 'us-east', null],
    ['sim-us-east-metered', 'us-east', 'neuralwatt'],
  ]);
  expect(snapshot.grid.map((reading) => reading.zone)).toEqual(['USA', 'SWE', 'FRA']);
});

test('a deployment is simulated by the kind of its provider, whoever that is named after', async () => {
  const keeper = keeperOf();
  const kinds = { acme: 'simulator', simulated: 'openai' } as const;
  for (const [id, kind] of Object.entries(kinds)) {
    await stores.db.provider.create({ data: { id, name: id, kind, baseUrl: `https://${id}.example/v1` } });
    await stores.db.deployment.create({ data: { id, providerId: id, regionCode: 'us-east', models: {}, pue: 1.2 } });
  }
  await keeper.refresh();
  laterMs += 2500;
  await keeper.refresh();
  const told = (await published()).deployments.filter(({ id }) => Object.hasOwn(kinds, id));
  expect(told.map(({ id, simulated }) => [id, simulated])).toEqual([
    ['acme', true],
    ['simulated', undefined],
  ]);
  await stores.db.deployment.deleteMany({ where: { id: { in: Object.keys(kinds) } } });
  await stores.db.provider.deleteMany({ where: { id: { in: Object.keys(kinds) } } });
  await keeper.refresh();
  laterMs += 2500;
  await keeper.refresh();
});

test('a change is published under a higher version and announced, and nothing is published without one', async () => {
  const keeper = keeperOf();
  await keeper.refresh();
  const before = await published();
  await keeper.refresh();
  expect(await published()).toEqual(before);
  const subscriber = stores.connect();
  await new Promise((resolve) => subscriber.once('ready', resolve));
  await subscriber.subscribe(snapshotChannel);
  const announced = new Promise<string>((resolve) => subscriber.once('message', (_channel, text) => resolve(text)));
  await stores.db.region.update({ where: { code: 'us-east' }, data: { status: 'degraded' } });
  await keeper.refresh();
  expect(Number(await announced)).toBe(await publishedVersion());
  expect(await publishedVersion()).toBeGreaterThan(before.version);
  expect((await published()).regions.find((region) => region.code === 'us-east')?.status).toBe('degraded');
});

test('deployments that are added one after the other hold up no change for longer than Envoy takes to follow', async () => {
  const keeper = keeperOf();
  await keeper.refresh();
  laterMs += 60_000;
  const statusOf = async () => (await published()).regions.find(({ code }) => code === 'eu-west')?.status;
  const added: string[] = [];
  for (let second = 0; second < 8; second += 1) {
    const id = `added-${second}`;
    await stores.db.deployment.create({
      data: { id, providerId: 'simulator', regionCode: 'us-east', models: {}, pue: 1.2 },
    });
    added.push(id);
    if (second === 1) await stores.db.region.update({ where: { code: 'eu-west' }, data: { status: 'degraded' } });
    await keeper.refresh();
    laterMs += 1000;
  }
  expect(await statusOf()).toBe('degraded');
  expect((await published()).deployments.map(({ id }) => id)).not.toContain('added-7');
  await keeper.refresh();
  laterMs += 2000;
  await keeper.refresh();
  expect((await published()).deployments.map(({ id }) => id)).toEqual(expect.arrayContaining(added));
  await stores.db.deployment.deleteMany({ where: { id: { in: added } } });
  await stores.db.region.update({ where: { code: 'eu-west' }, data: { status: 'active' } });
  await keeper.refresh();
});

test('an older snapshot never replaces a newer one', async () => {
  await keeperOf().refresh();
  const before = await stores.redis.get(snapshotKey);
  const version = await publishedVersion();
  const publish = (at: number) =>
    stores.redis.eval(
      publishScript,
      ...[3, snapshotKey, snapshotVersionKey, snapshotSealKey],
      ...[at, '{"older":true}', snapshotChannel, '1:none'],
    );
  expect([await publish(version - 1), await publish(version)]).toEqual([0, 0]);
  expect(await stores.redis.get(snapshotKey)).toBe(before);
});

test('a snapshot that Redis lost is published again', async () => {
  const keeper = keeperOf();
  await keeper.refresh();
  const before = await published();
  await stores.redis.flushall();
  await keeper.refresh();
  expect(await published()).toEqual({ ...before, publishedAt: expect.any(String) });
});

test('after the database was replaced the version goes on above the one that services hold', async () => {
  await stores.redis.set(snapshotVersionKey, 9000);
  await keeperOf().refresh();
  expect(await publishedVersion()).toBe(9001);
  expect((await published()).version).toBe(9001);
});

test('a new program with other grid data publishes them under a new version, once', async () => {
  const before = await publishedVersion();
  const other = (zone: string): SnapshotGridReading | null => {
    const reading = annualReading(zone);
    return reading && { ...reading, gPerKwh: reading.gPerKwh + 1 };
  };
  const keeper = keeperOf(other);
  await keeper.refresh();
  expect(await publishedVersion()).toBe(before + 1);
  expect((await published()).grid[0]?.gPerKwh).toBe((annualReading('USA')?.gPerKwh ?? 0) + 1);
  await keeper.refresh();
  await keeperOf(other).refresh();
  expect(await publishedVersion()).toBe(before + 1);
});

test('a snapshot is sealed again for a key that is added, and not for the order of the keys', async () => {
  const { current } = entryKeys;
  const added = { id: 200, secret: Buffer.alloc(32, 200) };
  await keeperOf(annualReading, { current, others: [] }).refresh();
  const before = await publishedVersion();
  const both = keeperOf(annualReading, { current: added, others: [current] });
  await both.refresh();
  expect(await publishedVersion()).toBe(before + 1);
  const seals = (await stores.redis.get(snapshotSealKey)) ?? '';
  for (const key of [added, current]) {
    expect(isSealedSnapshot((await stores.redis.get(snapshotKey)) ?? '', seals, key)).toBe(true);
  }
  await keeperOf(annualReading, { current, others: [added] }).refresh();
  expect(await publishedVersion()).toBe(before + 1);
});

test('a snapshot whose seals were taken away in Redis is published anew within a minute', async () => {
  const keeper = keeperOf();
  await keeper.refresh();
  const before = await publishedVersion();
  await stores.redis.set(snapshotSealKey, 'none');
  await keeper.refresh();
  expect(await publishedVersion()).toBe(before);
  laterMs += 60_000;
  await keeper.refresh();
  expect(await publishedVersion()).toBe(before + 1);
});

test('an instance that lags behind never replaces a newer snapshot', async () => {
  const slow = keeperOf();
  await slow.refresh();
  // Until then Envoy may lack the chains of another status.
  laterMs += 2500;
  await stores.db.region.update({ where: { code: 'us-east' }, data: { status: 'active' } });
  await Promise.all([keeperOf().refresh(), slow.refresh(), keeperOf().refresh()]);
  await slow.refresh();
  const { version } = await stores.db.catalogueVersion.findFirstOrThrow();
  expect(await publishedVersion()).toBe(version);
  expect((await published()).version).toBe(version);
});

test('what a change leaves out is kept for Envoy until services were told by any instance, and half a minute longer', async () => {
  const [keeper, other] = [keeperOf(), keeperOf()];
  await Promise.all([keeper.refresh(), other.refresh()]);
  laterMs += 2500;
  await stores.db.deployment.delete({ where: { id: 'sim-eu-west' } });
  await Promise.all([keeper.refresh(), other.refresh()]);
  await Promise.all([keeper.refresh(), other.refresh()]);
  for (const each of [keeper, other]) expect(each.retiring().map(({ deployments }) => deployments.length)).toEqual([6]);
  laterMs += 30_000;
  for (const each of [keeper, other]) expect(each.retiring()).toEqual([]);
});

test('one that is asked many times at once reads one catalogue after the other, and ends with the newest', async () => {
  const keeper = keeperOf();
  await keeper.refresh();
  const versions: number[] = [];
  const note = () => versions.push(keeper.current()?.catalogue.version ?? 0);
  const asked = [];
  for (const preference of [11, 12, 13, 14]) {
    asked.push(keeper.refresh().then(note), keeper.refresh().then(note));
    await stores.db.region.update({ where: { code: 'us-east' }, data: { preference } });
    asked.push(keeper.refresh().then(note));
  }
  await Promise.all(asked);
  expect(versions).toEqual([...versions].sort((a, b) => a - b));
  const { version } = await stores.db.catalogueVersion.findFirstOrThrow();
  expect(keeper.current()?.catalogue.version).toBe(version);
});
