/** Long packs in the object store, a directory or a bucket: whole or not at all, and gone when the pack is. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { evidenceRequestSchema } from '@gw/contract/evidence';
import { defined } from '@gw/contract/internal/defined';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { verifyPack } from '@gw/evidence/verify';
import { identified, startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { callAt, entryFrom } from '@gw/testing/control-plane/calls';
import { addresses, type Stores, silentLog, startStores } from '@gw/testing/control-plane/fixtures';
import { startBucket, type TestBucket } from '@gw/testing/control-plane/s3-server';
import { bytesOf } from '@gw/testing/evidence/made-packs';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ObjectStore } from '../../shared/objects/objects.ts';
import { buildPack } from './builds/build.ts';
import { removeEnded } from './chunks.ts';
import { cancelPack, claimPack, enterPack, expirePacks, findPack, type PackRow } from './packs.ts';

const accountId = 'acct_stored';
const key = signingKeyOf('e1'.repeat(32));
const now = () => new Date('2026-11-21T12:00:00Z');
const day = { from: '2026-11-20T00:00:00.000Z', until: '2026-11-21T00:00:00.000Z' };
const asked = evidenceRequestSchema.parse({ from: day.from, to: day.until });
// Each takes some 4 kB, and a chunk has 1 MiB.
const receipts = 600;
const dir = mkdtempSync(join(tmpdir(), 'gw-stored-'));

let stores: Stores;
let bucket: TestBucket;
const apps = new Map<string, TestApp>();
beforeAll(async () => {
  [stores, bucket] = [await startStores(), await startBucket()];
  // The stores are stopped once, at the end.
  const on = { ...stores, stop: async () => {} };
  apps.set('a directory', await startTestApp(now, on, { GW_OBJECTS_DIR: dir }));
  apps.set('a bucket', await startTestApp(now, on, bucket.settings));
  const entries = Array.from({ length: receipts }, (_, n) =>
    entryFrom(callAt(new Date(Date.parse('2026-11-20T10:00:00Z') + n).toISOString()), { accountId }),
  );
  await app('a directory').store(...entries);
}, 120_000);
afterEach(async () => {
  await stores.tamper(`UPDATE evidence_packs SET state = 'cancelled'`);
  for (const { context } of apps.values()) await removeEnded(stores.db, context.objects);
  await stores.empty('evidence_packs', 'integrity_faults');
});
afterAll(async () => {
  for (const each of apps.values()) await each.stop();
  await stores?.stop();
  await bucket?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const app = (name: string): TestApp => defined(apps.get(name), 'The app on this store');

async function claimed(): Promise<PackRow> {
  const entered = await enterPack(
    stores.db,
    { accountId, now: now(), request: { asked, ...day } },
    { quotaBytes: 1e9 },
  );
  if ('refused' in entered) throw new Error(entered.refused);
  return defined(await claimPack(stores.db, entered.id), 'The try');
}

/** As a job does it. */
const build = (objects: ObjectStore, pack: PackRow): Promise<void> =>
  buildPack(
    { db: stores.db, addresses, key, limits: { quotaBytes: 1e9 }, log: silentLog, objects, seals: stores.seals },
    pack,
    new AbortController().signal,
  );

async function built(objects: ObjectStore): Promise<string> {
  const pack = await claimed();
  await build(objects, pack);
  return pack.id;
}

const headers = identified({ 'x-gw-account-id': accountId, 'x-gw-scopes': 'gw:export' });
const read = (name: string, id: string, more: Record<string, string> = {}) =>
  app(name).app.inject({ url: `/v1/gw/evidence-pack/${id}`, headers: { ...headers, ...more } });

async function namesIn(objects: ObjectStore, folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const name of objects.list(folder)) names.push(name);
  return names.toSorted();
}
const faults = async () =>
  (await stores.db.integrityFault.findMany({ where: { mendedAt: null } })).map(
    ({ fault, kind, name, number }) => `${kind} ${name} ${number} ${fault}`,
  );

describe.each(['a directory', 'a bucket'])('in %s', (name) => {
  const objectsOf = () => app(name).context.objects;

  test('a pack is read back whole and in parts, and its objects go with it', async () => {
    const objects = objectsOf();
    const id = await built(objects);
    const [whole, part] = [await read(name, id), await read(name, id, { range: 'bytes=1048570-1048590' })];
    expect(whole.statusCode, whole.body.slice(0, 500)).toBe(200);
    expect(part.rawPayload.equals(whole.rawPayload.subarray(1_048_570, 1_048_591))).toBe(true);
    expect(await verifyPack(bytesOf(whole.body), { trust: { thumbprint: key.publicJwk.kid } })).toMatchObject({
      signature: 'trusted',
      mismatches: [],
      receipts,
    });
    expect((await namesIn(objects, `packs/${id}-1`)).length).toBeGreaterThan(3);
    await removeEnded(stores.db, objects);
    expect(await namesIn(objects, 'packs')).toEqual([`${id}-1`]);
    await cancelPack(stores.db, accountId, id);
    await removeEnded(stores.db, objects);
    expect(await namesIn(objects, 'packs')).toEqual([]);
  });

  test('objects of tries that are over are found and removed, and those of what is under way and of the archive stay', async () => {
    const objects = objectsOf();
    const [under, other] = [await claimed(), await claimed()];
    const names = [under, other].flatMap((pack) => [`${pack.id}-1/0-0`, `${pack.id}-2/0-0`]);
    for (const each of names) await objects.put(`packs/${each}`, Buffer.from('x'));
    await objects.put('receipts/2025-01/note.json', Buffer.from('x'));
    // Its builder died, and another one has begun.
    await stores.tamper(`UPDATE evidence_packs SET try = 2 WHERE id = '${other.id}'`);
    await removeEnded(stores.db, objects);
    expect(await namesIn(objects, 'packs')).toEqual([`${under.id}-1`, `${under.id}-2`, `${other.id}-2`].toSorted());
    expect(await namesIn(objects, 'receipts')).toEqual(['2025-01']);
    expect(await namesIn(objects, 'receipts/2025-01')).toEqual(['note.json']);
  });

  test('objects of a pack that Postgres does not know are removed after 7 days, and stay if it is known again', async () => {
    const objects = objectsOf();
    const sweep = (time: string) => removeEnded(stores.db, objects, { now: new Date(time) });
    const restored = await claimed();
    const folders = [`${restored.id}-1`, 'pack_forgotten-1'].toSorted();
    for (const folder of folders) await objects.put(`packs/${folder}/0-0`, Buffer.from('x'));
    const rename = (from: string, to: string) =>
      stores.tamper(`UPDATE evidence_packs SET id = '${to}' WHERE id = '${from}'`);
    await rename(restored.id, 'pack_other');
    await sweep('2026-11-21T12:00:00Z');
    await sweep('2026-11-28T11:59:59Z');
    expect(await namesIn(objects, 'packs')).toEqual([...folders, 'unknown']);
    await rename('pack_other', restored.id);
    await sweep('2026-11-28T12:00:00Z');
    expect(await namesIn(objects, 'packs')).toEqual([`${restored.id}-1`]);
    // The 7 days begin anew.
    await rename(restored.id, 'pack_other');
    await sweep('2026-11-28T12:01:00Z');
    await sweep('2026-12-05T12:00:59Z');
    expect(await namesIn(objects, 'packs')).toEqual([`${restored.id}-1`, 'unknown']);
    await sweep('2026-12-05T12:01:00Z');
    expect(await namesIn(objects, 'packs')).toEqual([]);
  });

  test('of a pack that is altered or not whole no byte is sent, and the fault is noted until the pack is given up', async () => {
    const objects = objectsOf();
    const id = await built(objects);
    for (const [object, altered, fault] of [
      ['chunks.json', null, 'missing'],
      ['chunks.json', Buffer.from('[]'), 'altered'],
      ['0-0', null, 'missing'],
      ['0-0', Buffer.from('x'), 'altered'],
      // It is larger than what is read of it.
      ['0-0', Buffer.alloc(17 * 1024 * 1024), 'altered'],
    ] as const) {
      const target = `packs/${id}-1/${object}`;
      const genuine = defined(await objects.get(target), 'The object');
      await (altered === null ? objects.remove(target) : objects.put(target, altered));
      for (const range of ['bytes=0-', 'bytes=5-9']) {
        const reply = await read(name, id, { range });
        expect([reply.statusCode, reply.json().error.code], `${object} ${fault}`).toEqual([500, 'internal_error']);
        expect(reply.json().error.message).toContain('altered or is gone');
      }
      expect(await faults()).toEqual([`pack ${id} 1 ${fault}`]);
      await objects.put(target, genuine);
      expect((await read(name, id, { range: 'bytes=5-9' })).statusCode).toBe(206);
    }
    const health = (await app(name).operator.inject('/healthz')).json();
    expect(health).toMatchObject({ status: 'degraded', evidence_pack_faults: 1 });
    await expirePacks(stores.db);
    expect(await faults()).toHaveLength(1);
    await cancelPack(stores.db, accountId, id);
    await expirePacks(stores.db);
    expect(await faults()).toEqual([]);
  });
});

test('a download breaks off at a chunk that is not what was written', async () => {
  const { context, app: internal } = app('a directory');
  const id = await built(context.objects);
  const names = (await namesIn(context.objects, `packs/${id}-1`)).filter((each) => each !== 'chunks.json');
  await context.objects.put(`packs/${id}-1/${names.at(-1)}`, Buffer.from('x'));
  const { port } = internal.server.address() as AddressInfo;
  const reply = await fetch(`http://127.0.0.1:${port}/v1/gw/evidence-pack/${id}`, { headers });
  expect(reply.status).toBe(200);
  await expect(reply.arrayBuffer()).rejects.toThrow();
  expect(await faults()).toEqual([`pack ${id} 1 altered`]);
});

test('while the store is away a build waits and says so, a download is asked to come later, and nothing is lost', async () => {
  const { context } = app('a directory');
  const ready = await built(context.objects);
  const [pack, given] = [await claimed(), await claimed()];
  const away = `${dir}.away`;
  renameSync(dir, away);
  writeFileSync(dir, '');
  const [building, givenUp] = [build(context.objects, pack), build(context.objects, given)];
  try {
    await vi.waitFor(async () => {
      const { reason, state } = defined(await findPack(stores.db, accountId, pack.id), 'The pack');
      expect([state, reason]).toEqual(['building', 'It waits for the object store, which does not answer.']);
    }, 30_000);
    const refused = await read('a directory', ready);
    expect([refused.statusCode, refused.json().error.code]).toEqual([503, 'overloaded']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    const state = await read('a directory', ready, { accept: 'application/json' });
    expect(state.json()).toMatchObject({ state: 'ready' });
    await expect(removeEnded(stores.db, context.objects)).rejects.toThrow('cannot be used');
    expect(await faults()).toEqual([]);
    await cancelPack(stores.db, accountId, given.id);
    await givenUp;
  } finally {
    rmSync(dir);
    renameSync(away, dir);
  }
  await building;
  expect(await findPack(stores.db, accountId, pack.id)).toMatchObject({ state: 'ready', try: 1, reason: null });
  for (const id of [ready, pack.id])
    expect(
      (await verifyPack(bytesOf((await read('a directory', id)).body), { trust: { keys: [key.publicJwk] } })).receipts,
    ).toBe(receipts);
}, 60_000);
