/** A pack is computed again by code that shares nothing with the product, on receipts of every kind that the documentation shows. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defined } from '@gw/contract/internal/defined';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { canonicalText } from '@gw/contract/internal/ledger-entry';
import { signedCheckpoint } from '@gw/evidence/checkpoint';
import { inclusionSpans, leafHash } from '@gw/evidence/merkle';
import { packText } from '@gw/evidence/pack-writer';
import { verifyPack } from '@gw/evidence/verify';
import { cases } from '@gw/testing/cases';
import { bytesOf, spanHashOf } from '@gw/testing/evidence/made-packs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examples } from './examples.ts';

const folder = mkdtempSync(join(tmpdir(), 'gw-recompute-pack-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const script = fileURLToPath(new URL('../examples/recompute_pack.py', import.meta.url));

function python(pack: string): { code: number | null; out: string } {
  const file = join(folder, 'pack.jsonld');
  writeFileSync(file, pack);
  const { status, stderr, stdout } = spawnSync('python3', ['-B', script, file], { encoding: 'utf8' });
  return { code: status, out: stdout + stderr };
}

/** Each example as a call of its own: they share their ids. */
const receipts = Object.values(examples).map(({ lineage, receipt }) => ({
  receipt,
  lineage:
    lineage === null
      ? null
      : {
          object: 'gw.receipt_lineage',
          receipt_id: receipt.id,
          receipt_version: receipt.version,
          lineage,
          explanation: null,
          revision: null,
        },
}));
const single = receipts.filter(({ receipt: { id, version } }, at) => {
  const first = receipts.findIndex((each) => each.receipt.id === id && each.receipt.version === version);
  return first === at;
});

type Placed = (typeof single)[number];
const placeOf = ({ receipt: { created_at, id, version } }: Placed): string => `${created_at} ${id} ${version}`;
const sorted = single.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));

const key = signingKeyOf('01'.repeat(32));
/** All but the last are in the log. */
const leaves = sorted.slice(0, -1).map(({ receipt }) => leafHash(canonicalText(receipt)));
const hash = spanHashOf(leaves);
const logged = sorted.map((each, index) =>
  index === leaves.length ? each : { ...each, log: { index, path: inclusionSpans(index, leaves.length).map(hash) } },
);

async function packOf(receipts: readonly Placed[]): Promise<string> {
  const size = leaves.length;
  const root = hash({ begin: 0, end: size });
  const checkpoint = await signedCheckpoint(
    {
      account: 'acct_1',
      baseUrl: 'https://gw.example',
      size,
      root,
      hoursRoot: root,
      completeUntil: new Date(0),
      issued: new Date(0),
    },
    key,
  );
  const made = await packText(
    {
      id: '00000000-0000-4000-8000-000000000001',
      issuedAt: new Date(0),
      baseUrl: 'https://gw.example',
      accountId: 'acct_1',
      selection: {},
      period: null,
      receipts,
      excluded: [{ receipt_id: 'rcpt_0', version: null, code: 'not_found', reason: 'There is no such receipt.' }],
      log: { checkpoint, consistency: null },
    },
    key,
  );
  expect((await verifyPack(bytesOf(made), { trust: {} })).mismatches).toEqual([]);
  return made;
}

let text: string;
/** Short, so that many can be tried. */
let short: string;
beforeAll(async () => {
  text = await packOf(logged);
  short = await packOf(logged.slice(0, cases(logged.length, 6)));
});

test('everything in a pack is had again from the pack alone', () => {
  const explained = single.filter(({ lineage }) => lineage !== null).length;
  expect(explained).toBeGreaterThan(0);
  const last = sorted.at(-1)?.receipt;
  const out = `urn:gw:receipt:${last?.id}:${last?.version}: not in the log
${single.length} receipts, ${explained} recomputed, ${leaves.length} in the log, 0 faults\n`;
  for (const each of [text, JSON.stringify(JSON.parse(text), null, 1)]) expect(python(each)).toEqual({ code: 0, out });
});

test('a pack of all kinds of receipts takes less than 60 kB for each with its lineage', () => {
  const { receipts: all } = JSON.parse(text) as { receipts: { id: string; lineage?: unknown }[] };
  const sizes = all
    .filter(({ lineage }) => lineage !== undefined)
    .map((each) => Buffer.byteLength(JSON.stringify(each)));
  const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  expect(mean).toBeGreaterThan(30_000);
  expect(mean).toBeLessThan(60_000);
});

test('a pack of more than a thousand receipts too, whose manifest has parts of a thousand', async () => {
  const { receipt } = defined(sorted[0], 'the first example');
  const many = Array.from({ length: 1001 }, (_, n) => {
    const id = `rcpt_01a1fd70-f1c0-7000-8000-${String(n).padStart(12, '0')}`;
    return { receipt: { ...receipt, id, version: 1, supersedes: null }, lineage: null };
  });
  const long = await packOf(many);
  const counted = '1001 receipts, 0 recomputed, 0 in the log';
  expect(python(long)).toEqual({ code: 0, out: expect.stringContaining(`${counted}, 0 faults`) });
  const altered = python(long.replace(/"completion_tokens":(?=\d)/, '"completion_tokens":1'));
  expect(altered).toEqual({ code: 1, out: expect.stringContaining('digest of receipts/0') });
});

test.each([
  [
    'a number of a receipt',
    /"carbon_operation_g":"[\d.]+"/,
    '"carbon_operation_g":"0.5"',
    'carbon_operation_g of the receipt: 0.5 is stated',
  ],
  ['a sum', /("aggregates":.*?"energy_wh":")[\d.]+/, '$19', 'sums of '],
  ['the root of the log', /"root_hash":"..../, '"root_hash":"0000', 'root of the log'],
  [
    'a factor of a methodology document',
    '\\"utilisation\\":{\\"value\\":0.4',
    '\\"utilisation\\":{\\"value\\":0.5',
    'methodology_hash: sha256:',
  ],
  ['a place beyond the end of the log', /"log":\{"index":0,/, '"log":{"index":1000,', 'root of the log'],
  ['an amount as a number', /"carbon_operation_g":"([\d.]+)"/, '"carbon_operation_g":$1', 'a decimal as text'],
  [
    'an amount with a zero more',
    /"carbon_operation_g":"([\d.]+)"/,
    '"carbon_operation_g":"$10"',
    'carbon_operation_g as text',
  ],
  [
    'a member that is there twice',
    '"account":"acct_1"',
    '"account":"acct_2","account":"acct_1"',
    'there twice: account',
  ],
  ['a word of the head', '"account":"acct_1"', '"account":"acct_2"', 'digest of head'],
])('%s that was altered is found', (_, was, is, told) => {
  const altered = short.replace(was, is);
  expect(altered).not.toBe(short);
  const { code, out } = python(altered);
  expect(code).toBe(1);
  expect(out).toContain(told);
});

test('receipts in another order are found', () => {
  const pack = JSON.parse(short);
  const { code, out } = python(JSON.stringify({ ...pack, receipts: pack.receipts.toReversed() }));
  expect([code, out]).toEqual([1, expect.stringContaining(`${sorted[0]?.receipt.version}: behind urn:gw:receipt:`)]);
});

test('of receipts whose methodology document is not in the pack it says that their factors were not checked', () => {
  const without = short.replace(/"document":"(\\.|[^"\\])*"/g, '"document":null');
  expect(without).not.toBe(short);
  const { code, out } = python(without);
  expect(code).toBe(1);
  expect(out).toMatch(/^\d+ receipts have no methodology document in the pack: their factors and formulas were not/m);
});
