/** Whoever holds Redis changes no number of the ledger, adds none and hides none unnamed. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  deadLedgerStream,
  ledgerStream,
  pendingReceiptsKey,
  receiptKey,
  snapshotKey,
  snapshotSealKey,
  snapshotVersionKey,
} from '@gw/contract/internal/redis';
import { EntrySealer, standIn } from '@gw/contract/internal/sealed-entry';
import { callAt, type Entry, entryFrom, unattended } from '@gw/testing/control-plane/calls';
import { eventually } from '@gw/testing/control-plane/fixtures';
import { type Attempt, type Exam, examine, sidecarCatalogue } from '@gw/testing/control-plane/forgeries/exam';
import { contentOf, entryKeys, sealedEntry } from '@gw/testing/ledger-entry';
import { expect } from 'vitest';

/** The same bytes, with a text of the same length in the place of each `from`. */
function changed(entry: Buffer, from: string, to: string): Buffer {
  const bytes = Buffer.from(entry);
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1)) bytes.write(to, at);
  expect(bytes.equals(entry)).toBe(false);
  return bytes;
}
const otherId = (id: string) => `${id.slice(0, -4)}${id.endsWith('0000') ? '1111' : '0000'}`;
const lighter = (entry: Buffer) => changed(entry, '"carbon_g":', '"Carbon_g":');

/** Takes a call away before the ledger has it, which ext-authz has counted. */
const takenAway =
  (take: (entry: Entry, exam: Exam) => Promise<unknown>): Attempt =>
  async (exam) => {
    await exam.state(1, 0);
    const entry = exam.witnessed();
    return async () => {
      await exam.state(2, 1);
      await take(entry, exam);
    };
  };

examine('redis', {
  'copy an entry of the stream under another id': async ({ call, put }) => {
    const genuine = call();
    const { id } = genuine.receipt;
    await put(sealedEntry(genuine));
    return async () => {
      const renamed = changed(sealedEntry(genuine), id, otherId(id));
      renamed.write(otherId(id).slice(-4), 4 + 14, 'hex');
      await put(renamed);
    };
  },
  'change the carbon of an entry': async ({ call, put }) => {
    return () => put(lighter(sealedEntry(call())));
  },
  'with the key of a sidecar: state numbers that the facts do not give': async ({ put }) => {
    return () => put(sealedEntry(entryFrom(callAt(new Date().toISOString()), { changes: { carbon_g: 1e-9 } })));
  },
  'hand on another receipt of a call that its sidecar did not finish': async ({ call, put }) => {
    const content = contentOf({ ...unattended(call(), { shown: true }), routingTrace: null });
    const [sealed] = new EntrySealer(entryKeys.current).sealStandIn(content);
    const receipt = content.receipt.replace('"tier":"degraded"', '"tier":"measured"');
    return () => put(standIn(sealed, { receipt, assumed: null }, 'shown'));
  },
  'publish another catalogue': async ({ app, said }) => {
    const { redis } = app.stores;
    const folder = mkdtempSync(join(tmpdir(), 'gw-forged-catalogue-'));
    const sidecar = sidecarCatalogue(app, folder, said);
    await eventually(() => sidecar.current() !== null);
    const genuine = sidecar.current()?.version;
    return async () => {
      const snapshot = JSON.parse((await redis.get(snapshotKey)) ?? 'null');
      for (const deployment of snapshot.deployments) deployment.pue = 1;
      const version = snapshot.version + 1000;
      await redis.mset({ [snapshotKey]: JSON.stringify({ ...snapshot, version }), [snapshotVersionKey]: version });
      await eventually(() => said.length > 0);
      expect(sidecar.current()?.version).toBe(genuine);
      await app.refresh();
      await eventually(() => sidecar.current()?.version === version + 1);
      sidecar.stop();
      const published = JSON.parse((await redis.get(snapshotKey)) ?? 'null');
      expect(published.deployments.every(({ pue }: { pue: number }) => pue > 1)).toBe(true);
      rmSync(folder, { recursive: true });
    };
  },
  'publish an earlier catalogue again, with its seals': async ({ app, said }) => {
    const { db, redis } = app.stores;
    const folder = mkdtempSync(join(tmpdir(), 'gw-earlier-catalogue-'));
    const keys = [snapshotKey, snapshotSealKey, snapshotVersionKey] as const;
    const earlier = await redis.mget(...keys);
    await db.region.update({ where: { code: 'us-east' }, data: { status: 'degraded' } });
    await app.refresh();
    const sidecar = sidecarCatalogue(app, folder, said);
    await eventually(() => existsSync(join(folder, 'catalogue.json')));
    const newer = await redis.mget(...keys);
    const version = Number(newer[2]);
    const replay = async (announced: number | string | null | undefined) => {
      const before = said.length;
      await redis.mset({ [keys[0]]: earlier[0] ?? '', [keys[1]]: earlier[1] ?? '', [keys[2]]: announced ?? '' });
      await eventually(() => said.length > before);
    };
    return async () => {
      await replay(earlier[2]);
      await replay(version + 1);
      expect(sidecar.current()?.version).toBe(version);
      sidecar.stop();
      // It holds none yet, and keeps the newer one.
      await redis.set(snapshotVersionKey, earlier[2] ?? '');
      const started = sidecarCatalogue(app, folder, said);
      await eventually(() => started.current() !== null);
      expect(started.current()?.version).toBe(version);
      await app.refresh();
      expect(await redis.get(snapshotKey)).toBe(newer[0]);
      started.stop();
      // A Postgres that was put back, where Redis was lost as well.
      await redis.del(...keys);
      await app.stores.tamper('UPDATE catalogue_version SET version = 1');
      const putBack = sidecarCatalogue(app, folder, []);
      await app.refresh();
      await eventually(() => putBack.current()?.version === 1);
      putBack.stop();
      await db.region.update({ where: { code: 'us-east' }, data: { status: 'active' } });
      await app.refresh();
      rmSync(folder, { recursive: true });
    };
  },
  'change the columns of an entry alone, which sums read': async ({ call, put }) => {
    const entry = Buffer.from(sealedEntry(call()));
    // The carbon is the fourth double.
    entry.writeDoubleBE(1e-9, 22 + 3 * 8);
    return () => put(entry);
  },
  'seal an entry with a key that is out of use, under any number': async ({ call, put }) => {
    const secret = Buffer.alloc(32, 7);
    return async () => {
      for (const id of [7, entryKeys.current.id]) await put(sealedEntry(call(), 'made', { id, secret }));
    };
  },
  'end a call under way': async ({ call, put }) => {
    const pending = sealedEntry(unattended(call(), { shown: false }), 'pending');
    const as = (state: number) => Buffer.concat([pending.subarray(0, 1), Buffer.from([state]), pending.subarray(2)]);
    return async () => {
      for (const entry of [pending, as(0), as(1), as(3), as(4)]) await put(entry);
    };
  },
  'change an entry that was set aside, before it is tried again': async ({ app, call, put }) => {
    const { redis } = app.stores;
    const genuine = sealedEntry(call());
    return async () => {
      await redis.xadd(deadLedgerStream, '*', 'entry', lighter(genuine), 'reason', 'a reason of before');
      // As `./gw admin receipts retry` moves it.
      const [[id, fields] = [Buffer.alloc(0), []]] = await redis.xrangeBuffer(deadLedgerStream, '-', '+');
      await put(fields[1] ?? expect.fail());
      await redis.xdel(deadLedgerStream, id);
    };
  },
  'take an entry out of the stream': takenAway(async (entry, { app: { stores }, put }) => {
    await put(sealedEntry(entry));
    await stores.redis.xtrim(ledgerStream, 'MAXLEN', 0);
  }),
  'take a call under way away, so that usage calls itself complete without it': takenAway(
    async (entry, { app: { stores } }) => {
      const { id } = entry.receipt;
      await stores.redis.zadd(pendingReceiptsKey, Date.now() + 30_000, id);
      await stores.redis.set(receiptKey(id), sealedEntry(entry, 'pending'));
      await stores.redis.zrem(pendingReceiptsKey, id);
      await stores.redis.del(receiptKey(id));
    },
  ),
  'make up heads of the chain of batches': async ({ app: { stores }, store }) => {
    await store(2, 1);
    const head = ['a', 'b'].map((letter) => letter.repeat(64)).join(' ');
    return () =>
      stores.redis.sadd('{gw:ledger}:heads', `9 ${head} 1`, `1 ${head} 1`, 'x', '', '9 9 9 9 9', `9 ${head} 7`);
  },
});
