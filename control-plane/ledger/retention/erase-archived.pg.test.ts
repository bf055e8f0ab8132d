/** Whoever is erased is named in no file of an archived month either, and the month and a pack of it verify as before. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { verifyPack } from '@gw/evidence/verify';
import { ensurePartitions } from '@gw/prisma/partitions';
import { Browser, seedOperators, withToken } from '@gw/testing/control-plane/access';
import { identified, startTestApp } from '@gw/testing/control-plane/app';
import { callAt, entryFrom } from '@gw/testing/control-plane/calls';
import { addresses, roundAtOnce, silentLog } from '@gw/testing/control-plane/fixtures';
import { bytesOf } from '@gw/testing/evidence/made-packs';
import { forFile } from '@gw/testing/for-file';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { archiveMonths } from '../archive/archive-month.ts';
import { checkArchive } from '../archive/check-archive.ts';
import { appendReceipts } from '../log/append.ts';
import { sealOpen, signHeads } from '../log/heads.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-erase-archived-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const running = forFile(() => startTestApp(undefined, undefined, { GW_OBJECTS_DIR: join(dir, 'objects') }));
const key = signingKeyOf('e1'.repeat(32));
const accountId = 'acct_gone';
const path = `/operator/v1/accounts/${accountId}`;
const month = join(dir, 'objects', 'receipts', '2025-01');
const entries = [1, 2, 3].map((day) => entryFrom(callAt(`2025-01-0${day}T10:00:00Z`), { accountId }));
const names = ['Northwind', 'Grace Moss', 'grace@', 'warehouse key'];

let ask: (method: 'GET' | 'POST' | 'PATCH', url: string, body?: object) => Promise<Record<string, unknown>>;
beforeAll(async () => {
  const { admin: token } = await seedOperators(running.context);
  ask = async (method, url, body) => {
    const reply = await withToken(running.operator, token)(method, url, body);
    expect(reply.statusCode, `${url}: ${reply.body}`).toBeLessThan(300);
    return reply.json();
  };
});

/** Every file of the store as text. */
function wholeStore(): string {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const texts = files.map(({ name, parentPath }) => {
    const bytes = readFileSync(join(parentPath, name));
    return name.endsWith('.gz') ? gunzipSync(bytes).toString() : bytes.toString();
  });
  return texts.join('\n');
}

function python(script: string, ...args: string[]): { code: number | null; out: string } {
  const file = fileURLToPath(new URL(`../../../docs/examples/${script}`, import.meta.url));
  const { status, stderr, stdout } = spawnSync('python3', ['-B', file, ...args], { encoding: 'utf8' });
  return { code: status, out: stdout + stderr };
}

/** Checks as the account's auditor does: the files of the month, and a pack of it, by programs that share nothing with the product. */
async function provenPack(): Promise<Record<string, unknown>> {
  expect(python('check_archive.py', month)).toEqual({
    code: 0,
    out: expect.stringContaining('2025-01: 3 versions of receipts, 0 of them settled, in 2 files'),
  });
  const reply = await running.app.inject({
    method: 'POST',
    url: '/v1/gw/evidence-pack',
    headers: identified({ 'x-gw-account-id': accountId, 'x-gw-scopes': 'gw:read gw:lineage gw:export' }),
    payload: { from: '2025-01-01', to: '2025-02-01', include_lineage: true },
  });
  expect(reply.statusCode, reply.body).toBe(200);
  const pack = reply.json();
  const trust = { thumbprint: key.publicJwk.kid };
  expect(await verifyPack(bytesOf(pack), { trust })).toMatchObject({
    signature: 'trusted',
    mismatches: [],
    receipts: 3,
    log: { proven: 3 },
  });
  const file = join(dir, 'pack.jsonld');
  writeFileSync(file, reply.body);
  expect(python('recompute_pack.py', file)).toEqual({
    code: 0,
    out: expect.stringContaining('3 receipts, 3 recomputed, 3 in the log, 0 faults'),
  });
  rmSync(file);
  return pack;
}

test('a person, and then the account, are erased behind an archived month: no name is left, and each proof holds', async () => {
  const { databases, db, redis, seals } = running.stores;
  const options = {
    addresses,
    db: databases.ledger,
    redis,
    seals,
    objects: running.context.objects,
    key,
    log: silentLog,
    now: () => new Date(),
  };
  await db.account.create({ data: { id: accountId, name: 'x', tier: 'audit_plus' } });
  await ask('PATCH', path, { name: 'Northwind Analytics', reason: 'Northwind has told us' });
  const admin = await ask('POST', `${path}/admins`, { name: 'Grace Moss', email: 'grace@gone.example' });
  await new Browser(running.operator).logIn('grace@gone.example', String(admin.credential), 'organisation_admin');
  await ask('POST', `${path}/keys`, { name: 'warehouse key' });
  await ensurePartitions(options.db, new Date('2025-01-01'), 1);
  await running.store(...entries);
  await appendReceipts(options);
  await sealOpen(options, 0);
  await signHeads(options);
  await options.db.$executeRaw`INSERT INTO receipt_archives (month, asked_by) VALUES ('2025-01-01', 'test')`;
  await archiveMonths({ ...options, held: async () => ({ all: false, accounts: new Set() }) });
  expect(await db.receipt.count()).toBe(0);
  const before = await provenPack();
  const files = wholeStore();
  expect(files).toContain(entries[0]?.receipt.id);

  await ask('POST', `/operator/v1/erasures/person/${String(admin.id)}`, { confirm: admin.id });
  await ask('POST', `/operator/v1/erasures/account/${accountId}`, { confirm: accountId });

  expect(await ask('GET', path)).toMatchObject({ name: 'erased', state: 'closed' });
  const replies = [path, `${path}/keys`, `${path}/admins`, `/operator/v1/audit?chain=${accountId}`];
  const texts = [
    wholeStore(),
    ...(await Promise.all(replies.map(async (url) => JSON.stringify(await ask('GET', url))))),
  ];
  for (const text of texts) expect(names.filter((name) => text.includes(name))).toEqual([]);
  // Not a byte of the month is another one, the note of the archive among them.
  expect(wholeStore()).toBe(files);
  const after = await provenPack();
  expect(after.receipts).toEqual(before.receipts);
  expect(after.log).toEqual(before.log);
  await checkArchive({ ...options, ...roundAtOnce });
  expect(await db.integrityFault.count()).toBe(0);
});
