/** Whoever can write to Redis, to a sidecar's disk or for ext-authz puts no number into the ledger, and is named within seconds. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deadLedgerStream, ledgerStream, pendingReceiptsKey, receiptKey } from '@gw/contract/internal/redis';
import { EntrySealer, standIn } from '@gw/contract/internal/sealed-entry';
import { verifyPack } from '@gw/evidence/verify';
import { openSpool, recordOf } from '@gw/receipt-sidecar/internals/ledger/spool';
import { identified, startTestApp } from '@gw/testing/control-plane/app';
import { callAt, type Entry, entryFrom, unattended } from '@gw/testing/control-plane/calls';
import { eventually, receiptIdAt, silentLog } from '@gw/testing/control-plane/fixtures';
import { bytesOf } from '@gw/testing/evidence/made-packs';
import { forFile } from '@gw/testing/for-file';
import { contentOf, entryKeys, sealedEntry } from '@gw/testing/ledger-entry';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { openEntries } from './entries.ts';
import { type Ingester, startIngester } from './ingest.ts';
import { sweepPending } from './sweep.ts';

const running = forFile(startTestApp);
let ingester: Ingester;
const start = (entries = running.services.ledger.entries): Ingester => {
  const { db, seals } = running.stores;
  return startIngester({ db, redis: running.stores.connect(), log: silentLog, seals, entries, consumer: 'one' });
};
beforeAll(() => {
  ingester = start();
});
afterAll(() => ingester.stop());
beforeEach(() => running.stores.redis.del(ledgerStream, deadLedgerStream));
// A receipt can be read before it is a row, which the next test would count.
afterEach(() => eventually(async () => (await running.stores.redis.xlen(ledgerStream)) === 0));

const call = (changes: Parameters<typeof entryFrom>[1] = {}): Entry =>
  entryFrom(callAt(new Date().toISOString()), changes);
const put = (entry: Buffer) => running.stores.redis.xadd(ledgerStream, '*', 'entry', entry);
const rows = () => running.stores.db.receipt.count();
const statusOf = async (id: string, accountId = 'acct_demo_audit') =>
  (await running.get(`/v1/gw/receipts/${id}`, { 'x-gw-account-id': accountId })).statusCode;

/** The same bytes, with another text of the same length in the place of the first `from` behind `after`. */
function changed(entry: Buffer, from: string, to: string): Buffer {
  const bytes = Buffer.from(entry);
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1)) bytes.write(to, at);
  if (bytes.equals(entry)) throw new Error('Nothing was changed.');
  return bytes;
}

/** Puts an entry into the stream, and expects that it is set aside, alone, with an alarm. */
async function expectRefused(entry: Buffer, id: string, refusal = 'wrong_code'): Promise<void> {
  const { redis } = running.stores;
  const before = [await rows(), await refused(refusal)] as const;
  await put(entry);
  await eventually(async () => (await redis.xlen(deadLedgerStream)) === 1 && (await redis.xlen(ledgerStream)) === 0);
  expect([await rows(), await refused(refusal)]).toEqual([before[0], before[1] + 1]);
  expect((await running.operator.inject('/healthz')).json()).toMatchObject({ status: 'degraded', ledger_set_aside: 1 });
  expect(await statusOf(id)).toBe(404);
}
async function refused(reason: string): Promise<number> {
  const { body } = await running.operator.inject('/metrics');
  return Number(new RegExp(`^gw_ledger_refused_total\\{.*reason="${reason}".*\\} (\\d+)$`, 'm').exec(body)?.[1]);
}

test('an entry of the stream copied under another id, with other numbers or for another account becomes no row', async () => {
  const genuine = call();
  const entry = sealedEntry(genuine);
  const { id } = genuine.receipt;
  const other = `${id.slice(0, -4)}${id.endsWith('0000') ? '1111' : '0000'}`;
  const renamed = changed(entry, id, other);
  renamed.write(other.slice(-4), 4 + 14, 'hex');
  await expectRefused(renamed, other);
  await running.stores.redis.del(deadLedgerStream);
  const carbon = `"carbon_g":${genuine.receipt.carbon_g}`;
  await expectRefused(
    changed(
      entry,
      carbon,
      carbon.replace(/\d$/, (digit) => (digit === '9' ? '8' : '9')),
    ),
    id,
  );
  await running.stores.redis.del(deadLedgerStream);
  // The columns alone, as sums read them: the carbon is the fourth double.
  const lighter = Buffer.from(entry);
  lighter.writeDoubleBE(1e-9, 22 + 3 * 8);
  await expectRefused(lighter, id);
  await running.stores.redis.del(deadLedgerStream);
  await expectRefused(changed(entry, 'acct_demo_audit', 'acct_demo_other'), id);
  expect(await statusOf(id, 'acct_demo_other')).toBe(404);
});

test('bytes of any kind are set aside, whatever lengths they tell', async () => {
  const { id } = call().receipt;
  const cut = sealedEntry(call()).subarray(0, 200);
  const grown = Buffer.concat([sealedEntry(call()), Buffer.from('more')]);
  for (const bytes of [Buffer.alloc(0), Buffer.from([1]), Buffer.alloc(5000, 1), cut, grown]) {
    await expectRefused(bytes, id, 'malformed');
    await running.stores.redis.del(deadLedgerStream);
  }
});

test('an entry that is replayed makes no second row, and leaves the first as it is', async () => {
  const genuine = call();
  for (let times = 0; times < 3; times += 1) await put(sealedEntry(genuine));
  await eventually(async () => (await running.stores.redis.xlen(ledgerStream)) === 0);
  const [row, ...more] = await running.stores.db.receipt.findMany({ where: { id: genuine.receipt.id } });
  expect(more).toEqual([]);
  expect((await running.get(`/v1/gw/receipts/${genuine.receipt.id}`)).body).toBe(JSON.stringify(genuine.receipt));
  await put(sealedEntry(genuine));
  await eventually(async () => (await running.stores.redis.xlen(ledgerStream)) === 0);
  expect(await running.stores.db.receipt.findMany({ where: { id: genuine.receipt.id } })).toEqual([row]);
});

test('an entry by a key of before is taken as long as the key is listed, and then no more', async () => {
  const old = { id: 7, secret: Buffer.alloc(32, 7) };
  const [first, later] = [call(), call()];
  await ingester.stop();
  ingester = start(openEntries({ current: entryKeys.current, others: [old] }));
  await put(sealedEntry(first, 'made', old));
  await eventually(async () => (await statusOf(first.receipt.id)) === 200);
  await ingester.stop();
  ingester = start();
  await expectRefused(sealedEntry(later, 'made', old), later.receipt.id, 'unknown_key');
  // Nor under the number of a key that is accepted.
  await running.stores.redis.del(deadLedgerStream);
  await expectRefused(sealedEntry(later, 'made', { ...old, id: 1 }), later.receipt.id);
});

test('a spool that was altered on its disk, with a right checksum, brings nothing into the ledger', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-forged-spool-'));
  const genuine = call();
  const altered = changed(sealedEntry(genuine), '"tier":"parametric"', '"tier":"telemetry" ');
  writeFileSync(join(folder, 'host.spool'), `${recordOf(altered)}\n`);
  const spool = await openSpool(folder, 'host');
  const found: Buffer[] = [];
  await spool.replay(async (entries) => void found.push(...entries));
  rmSync(folder, { recursive: true });
  expect(found).toEqual([altered]);
  await expectRefused(altered, genuine.receipt.id);
});

test('what ext-authz hands on of a call counts as its sidecar has sealed it, and not otherwise', async () => {
  const made = call();
  const shown = unattended(made, { shown: true });
  const content = contentOf({ ...shown, routingTrace: null });
  const [sealed] = new EntrySealer(entryKeys.current).sealStandIn(content);
  const texts = { receipt: content.receipt, assumed: null };
  const other = content.receipt.replace('"tier":"degraded"', '"tier":"proxy"');
  await expectRefused(standIn(sealed, { ...texts, receipt: other }, 'shown'), made.receipt.id, 'malformed');
  await running.stores.redis.del(deadLedgerStream);
  const same = content.receipt.replace('"tier":"degraded"', '"tier":"measured"');
  await expectRefused(standIn(sealed, { ...texts, receipt: same }, 'shown'), made.receipt.id);
  await running.stores.redis.del(deadLedgerStream);
  // The code is over its state, too.
  const left = standIn(sealed, texts, 'left');
  left[1] = standIn(sealed, texts, 'shown').readUInt8(1);
  await expectRefused(left, made.receipt.id);
  await put(standIn(sealed, texts, 'shown'));
  await eventually(async () => (await statusOf(made.receipt.id)) === 200);
});

test('what stands in Redis under the id of a receipt is served only if a sidecar has sealed it for that id', async () => {
  const { redis } = running.stores;
  const [genuine, other] = [call(), call()];
  const { id } = genuine.receipt;
  const forged = changed(sealedEntry(genuine), '"tier":"parametric"', '"tier":"telemetry" ');
  for (const value of [forged, sealedEntry(other), Buffer.from('1-1'), Buffer.from('text')]) {
    await redis.set(receiptKey(id), value);
    expect(await statusOf(id)).toBe(404);
  }
  await redis.set(receiptKey(id), sealedEntry(genuine));
  expect(await statusOf(id)).toBe(200);
  await redis.del(receiptKey(id));
});

test('what was true of a call while it ran hides no receipt of it, whoever puts that back into Redis', async () => {
  const { redis } = running.stores;
  const made = call();
  const { id } = made.receipt;
  await put(sealedEntry(made));
  await eventually(async () => (await redis.xlen(ledgerStream)) === 0);
  const standsIn = unattended(made, { shown: false });
  for (const state of ['pending', 'left', 'closed'] as const) {
    await redis.set(receiptKey(id), sealedEntry(standsIn, state));
    for (const query of ['', '?version=1'])
      expect((await running.get(`/v1/gw/receipts/${id}${query}`)).body).toBe(JSON.stringify(made.receipt));
  }
  await redis.del(receiptKey(id));
});

test('a call under way that was altered in Redis is not closed, and its receipt not made', async () => {
  const { redis } = running.stores;
  const pending = unattended(call(), { shown: false });
  const { id } = pending.receipt;
  const sealed = sealedEntry(pending, 'pending');
  const sweep = () => sweepPending({ redis, log: silentLog, entries: running.services.ledger.entries });
  for (const value of [changed(sealed, 'acct_demo_audit', 'acct_demo_other'), sealedEntry(call(), 'pending')]) {
    await redis.set(receiptKey(id), value);
    await redis.zadd(pendingReceiptsKey, 1, id);
    expect(await sweep()).toBe(0);
  }
  await redis.set(receiptKey(id), sealed);
  await redis.zadd(pendingReceiptsKey, 1, id);
  expect(await sweep()).toBe(1);
  await eventually(async () => (await statusOf(id)) === 200);
});

test('an entry that contradicts itself is set aside by the field, although its code is right', async () => {
  const facts = callAt(new Date().toISOString());
  const twice = entryFrom(facts, { changes: { energy_wh: 2 } });
  await expectRefused(sealedEntry(twice), twice.receipt.id, 'contradiction');
  const [[, fields = []] = []] = await running.stores.redis.xrange(deadLedgerStream, '-', '+');
  expect(fields[3]).toBe('its facts do not give its numbers: receipt.energy_wh');
  await running.stores.redis.del(deadLedgerStream);
  for (const column of [{ model: 'another' }, { carbon_g: 1e-9 }, { prompt_tokens: null }]) {
    const sealed = new EntrySealer(entryKeys.current).seal({ ...contentOf(call()), ...column }, 'made');
    await expectRefused(sealed, twice.receipt.id, 'contradiction');
    await running.stores.redis.del(deadLedgerStream);
  }
  // Its digest is made again since it comes late.
  const late = entryFrom(callAt(new Date(Date.now() - 3_600_000).toISOString()));
  const receipt = { ...late.receipt, lineage_digest: `sha256:${'0'.repeat(64)}` };
  await expectRefused(sealedEntry({ ...late, receipt }), late.receipt.id, 'contradiction');
  await running.stores.redis.del(deadLedgerStream);
  await expectRefused(sealedEntry({ ...call(), facts: null }), receiptIdAt(new Date()), 'contradiction');
});

test('a receipt that could be read in two ways is set aside, or is a row that is altered and never served', async () => {
  const sealer = new EntrySealer(entryKeys.current);
  const made = [call(), call(), call()].filter(({ receipt: { id } }) => !id.endsWith('0'))[0] ?? call();
  const { id } = made.receipt;
  const content = contentOf(made);
  // White space would end the line of its row, where that is not compressed.
  const spaced = { ...content, receipt: JSON.stringify(made.receipt, null, '\t'), trace: null };
  await expectRefused(sealer.seal(spaced, 'made'), id, 'contradiction');
  await running.stores.redis.del(deadLedgerStream);
  // It is written into the ledger unless it is looked at, and its digest is none.
  const twice = content.receipt.replace(/}$/, `,"carbon_g":${made.receipt.carbon_g}}`);
  await put(sealer.seal({ ...content, receipt: twice }, 'made'));
  await eventually(async () => (await statusOf(id)) === 500);
  const late = entryFrom(callAt(new Date(Date.now() - 3_600_000).toISOString()));
  const looked = contentOf(late).receipt.replace(/}$/, ',"carbon_g":1e-9}');
  await expectRefused(
    sealer.seal({ ...contentOf(late), carbon_g: 1e-9, receipt: looked }, 'made'),
    late.receipt.id,
    'contradiction',
  );
});

test('a pack signs no receipt that contradicts its facts, and its verification fails', async () => {
  const accountId = 'acct_contradicts';
  const good = call({ accountId });
  // As one stored it who holds the database and the key of the ledger.
  const bad = call({ accountId, changes: { carbon_g: 1e-9 } });
  await running.store(good, bad);
  const reply = await running.app.inject({
    method: 'POST',
    url: '/v1/gw/evidence-pack',
    headers: identified({ 'x-gw-account-id': accountId, 'x-gw-scopes': 'gw:read gw:lineage gw:export' }),
    payload: {
      receipt_ids: [good, bad].map(({ receipt }) => receipt.id),
      include_lineage: true,
      include_routing: true,
    },
  });
  const pack = reply.json();
  expect(pack.receipts).toMatchObject([{ receipt_id: good.receipt.id, routing: { decision: 'the only one' } }]);
  expect(pack.excluded).toMatchObject([{ receipt_id: bad.receipt.id, code: 'contradiction' }]);
  const { publicJwk } = running.services.ledger.evidenceKey;
  const found = await verifyPack(bytesOf(pack), { trust: { thumbprint: publicJwk.kid } });
  // The fixture's routing trace is none.
  expect(found.mismatches.filter(({ field }) => field !== 'routing')).toMatchObject([
    { receipt: `urn:gw:receipt:${bad.receipt.id}:1`, found: expect.stringContaining('do not give its numbers') },
  ]);
});
