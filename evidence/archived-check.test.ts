/** Archived months in a pack; with a database: control-plane/ledger/archive/archive-alone.pg.test.ts. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import type { Receipt } from '@gw/contract/receipt';
import { bytesOf, registerOf, spanHashOf } from '@gw/testing/evidence/made-packs';
import { afterAll, expect, test } from 'vitest';
import { type ArchivedMonth, archivedHash, archivedMonthIn } from './archived-month.ts';
import { canonicalText } from './canonical.ts';
import { signedCheckpoint } from './checkpoint.ts';
import { inclusionSpans, leafHash } from './merkle.ts';
import type { ArchivedInLog, PackContents } from './pack.ts';
import { packText } from './pack-writer.ts';
import { verifyPack } from './verify.ts';

const example = new URL('../docs/examples/receipt.json', import.meta.url);
const receipt = JSON.parse(readFileSync(example, 'utf8')) as Receipt;
const key = signingKeyOf('01'.repeat(32));
const month: ArchivedMonth = {
  format: 'gw.archived_month/1',
  account: 'acct_1',
  month: receipt.created_at.slice(0, 7),
  receipts: 4,
  files_sha256: '1'.repeat(64),
  note_sha256: '2'.repeat(64),
  at: '2027-01-10T00:00:00.000Z',
};
/** The month is the entry 2. */
const at = 2;
const receipts = [0, 1, 3, 4].map((index) => ({
  index,
  receipt: { ...receipt, id: `rcpt_01a1fd70-f1c0-7000-8000-00000000000${index}` },
}));
const leaves = receipts.map((each) => leafHash(canonicalText(each.receipt))).toSpliced(at, 0, archivedHash(month));
const hash = spanHashOf(leaves);
const register = registerOf(receipts.map((each): string | null => each.receipt.created_at).toSpliced(at, 0, null));
const size = leaves.length;
const pathOf = (index: number) => inclusionSpans(index, size).map(hash);
const own: ArchivedInLog = { index: at, path: pathOf(at), month };
const year = { from: '2026-01-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' };

interface Made {
  readonly archived?: unknown;
  readonly selection?: Record<string, string>;
  readonly only?: number;
  readonly hasCheckpoint?: boolean;
}

const folder = mkdtempSync(join(tmpdir(), 'gw-archived-check-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const script = fileURLToPath(new URL('../docs/examples/recompute_pack.py', import.meta.url));
/** Returns what the program finds that shares nothing with the product. */
function python(pack: string): string[] {
  const file = join(folder, 'pack.jsonld');
  writeFileSync(file, pack);
  const { status, stderr, stdout } = spawnSync('python3', ['-B', script, file], { encoding: 'utf8' });
  expect(stderr).toBe('');
  const found = stdout.split('\n').filter((line) => line.startsWith('archived'));
  const isFaulty = found.length > 0 || /^hours: (?!complete)/m.test(stdout);
  expect(status, stdout).toBe(isFaulty ? 1 : 0);
  return found;
}

/** Verifies a pack that is signed, whatever it says. */
async function verified(made: Made) {
  const text = await packOf(made);
  const { log, mismatches } = await verifyPack(bytesOf(JSON.parse(text)), { trust: { thumbprint: key.publicJwk.kid } });
  const inside = (each: { readonly field: string }) => each.field === 'log.archived';
  const [months, others] = [mismatches.filter(inside), mismatches.filter((each) => !inside(each))];
  return { archived: log.archived, mismatches: months, others: others.map(({ field }) => field), python: python(text) };
}

async function packOf({
  archived,
  hasCheckpoint = true,
  only = receipts.length,
  selection = year,
}: Made): Promise<string> {
  const completeUntil = new Date('2027-02-01T00:00:00Z');
  const checkpoint = await signedCheckpoint(
    {
      account: 'acct_1',
      baseUrl: 'https://gw.example',
      size,
      root: hash({ begin: 0, end: size }),
      hoursRoot: register.root,
      completeUntil,
      issued: completeUntil,
    },
    key,
  );
  const contents: PackContents = {
    id: '00000000-0000-4000-8000-000000000001',
    issuedAt: new Date(0),
    baseUrl: 'https://gw.example',
    accountId: 'acct_1',
    selection,
    excluded: [],
    period: { from: new Date(String(selection.from)), to: new Date(String(selection.to)) },
    receipts: receipts.slice(0, only).map(({ index, receipt: each }) => ({
      receipt: each,
      lineage: null,
      ...(hasCheckpoint && { log: { index, path: pathOf(index) } }),
    })),
    log: {
      checkpoint: hasCheckpoint ? checkpoint : null,
      consistency: null,
      ...(hasCheckpoint &&
        selection.model === undefined && {
          hours: register.hours({ from: String(selection.from), to: String(selection.to) }),
        }),
      ...(archived !== undefined && { archived: archived as ArchivedInLog[] }),
    },
  };
  return packText(contents, key);
}

test('the entry of an archived month is proven', async () => {
  const nothing = { mismatches: [], others: [], python: [] };
  expect(await verified({ archived: [own] })).toEqual({ archived: ['2026-11'], ...nothing });
  // A pack of all times has to say what each entry of the log is.
  expect(await verified({})).toEqual({ archived: [], ...nothing, others: ['log.hours'] });
});

const forged = (changes: object): unknown => ({ ...own, month: { ...month, ...changes } });
test.each<[string, unknown, string]>([
  ['of another month', [forged({ month: '2026-10' })], 'the entry 2 of the log'],
  ['with another count', [forged({ receipts: 3 })], 'the entry 2 of the log'],
  ['of other files', [forged({ files_sha256: '3'.repeat(64) })], 'the entry 2 of the log'],
  ['of another account', [forged({ account: 'acct_2' })], 'the entry 2 of the log'],
  ['with a further member', [forged({ object: 'gw.receipt' })], 'the entry 2 of the log'],
  ['at another place', [{ ...own, index: 1, path: pathOf(1) }], 'the entry 1 of the log'],
  ['without a way to the root', [{ ...own, path: [] }], 'the entry 2 of the log'],
  ['that is a receipt', [{ index: 1, path: pathOf(1), month: receipts[1]?.receipt }], 'the entry 1 of the log'],
  ['that is nothing', [null], 'the entry nothing of the log'],
  ['with fewer than no receipts', [forged({ receipts: -1 })], 'the entry 2 of the log'],
  ['with a month that there is not', [forged({ month: '2026-13' })], 'the entry 2 of the log'],
  ['with a way of other things', [{ ...own, path: ['x', 1, null] }], 'the entry 2 of the log'],
  ['said twice', [own, own], 'each month once'],
  ['that is no list', { own }, 'entries of archived months'],
  ['among too many', Array(1201).fill(null), 'at most 1200 months'],
])('an entry of an archived month %s is named', async (_, archived, expected) => {
  const found = await verified({ archived });
  expect(found.mismatches).toEqual([expect.objectContaining({ receipt: null, field: 'log.archived', expected })]);
  expect(found.python).not.toEqual([]);
});

test('an archived month without a checkpoint is named', async () => {
  const found = await verified({ archived: [own], hasCheckpoint: false });
  expect(found.mismatches).toContainEqual(expect.objectContaining({ field: 'log.archived' }));
  expect(found.python).toEqual([expect.stringContaining('a checkpoint for its place in the log')]);
});

test('a pack of the whole month has as many receipts as were archived', async () => {
  expect((await verified({ archived: [own], only: 3 })).mismatches).toEqual([
    {
      receipt: null,
      field: 'log.archived',
      expected: '4 versions of receipts in 2026-11, as were archived',
      found: '3',
    },
  ]);
  expect((await verified({ archived: [own], only: 0 })).mismatches).toEqual([expect.objectContaining({ found: '0' })]);
  const part = { ...year, from: '2026-11-02T00:00:00.000Z' };
  expect((await verified({ archived: [own], only: 3, selection: part })).mismatches).toEqual([]);
  const filtered = { ...year, model: String(receipt.model) };
  expect((await verified({ archived: [own], only: 3, selection: filtered })).mismatches).toEqual([]);
});

test.each([-1, 0.5, '4', null])('an archived month has no %j receipts', (count) => {
  expect(archivedMonthIn(month)).toEqual(month);
  expect(archivedMonthIn({ ...month, receipts: count })).toBeNull();
});
