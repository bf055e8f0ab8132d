/** Packs of any length: made and checked in one pass, in memory that does not grow with them. */
import { readFileSync } from 'node:fs';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { publicJwkOf } from '@gw/contract/internal/public-jwk';
import type { Receipt } from '@gw/contract/receipt';
import { cases, isLongRun } from '@gw/testing/cases';
import { bytesOf } from '@gw/testing/evidence/made-packs';
import fc from 'fast-check';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { jsonParts } from './json-parts.ts';
import { PackFileError } from './pack-file.ts';
import { packText } from './pack-writer.ts';
import type { PackedReceipt } from './receipt-node.ts';
import { verifyPack } from './verify.ts';

const example = (name: string) =>
  JSON.parse(readFileSync(new URL(`../docs/examples/${name}.json`, import.meta.url), 'utf8'));
const receipt: Receipt = example('receipt');
const lineage: unknown = example('lineage');
const key = signingKeyOf('01'.repeat(32));
const nextKey = signingKeyOf('02'.repeat(32));
const trust = { keys: [publicJwkOf(nextKey.publicJwk.x), publicJwkOf(key.publicJwk.x)] };
const idAt = (n: number) => `rcpt_01a1fd70-f1c0-7000-8000-${String(n).padStart(12, '0')}`;
const { simulated: _, ...real } = receipt;

/** More than two parts of the manifest; of each kind some. */
const many: readonly PackedReceipt[] = Array.from({ length: 2100 }, (_, n): Receipt[] => {
  const id = idAt(n + 10);
  if (n % 500 === 1) return [{ ...real, id, tier: 'degraded', energy_wh: null, methodology_hash: null }];
  if (n % 500 === 2)
    return [
      { ...real, id },
      { ...real, id, version: 2, supersedes: 1, energy_wh: 0.1 },
    ];
  return [n % 500 === 3 ? { ...receipt, id } : { ...real, id, energy_wh: n / 1000 }];
})
  .flat()
  .map((each) => ({ receipt: each, lineage: null }));
const receipts = [{ receipt: { ...receipt, id: receipt.id }, lineage }, ...many].toSorted((a, b) =>
  a.receipt.id < b.receipt.id ? -1 : 1,
);

const [from, to] = ['2026-11-21T00:00:00.000Z', '2026-11-22T00:00:00.000Z'];
const longPack = (own: readonly PackedReceipt[]): Promise<string> =>
  packText(
    {
      id: '00000000-0000-4000-8000-000000000001',
      issuedAt: new Date(to),
      baseUrl: 'https://gw.example',
      accountId: 'acct_1',
      selection: { from, to },
      period: { from: new Date(from), to: new Date(to) },
      log: null,
      receipts: own,
      excluded: [{ receipt_id: idAt(9999), version: null, code: 'not_found', reason: 'There is no such receipt.' }],
    },
    key,
  );

const verified = (file: string) => verifyPack(bytesOf(file), { trust });

let text: string;
beforeAll(async () => {
  text = await longPack(receipts);
});

test('a long pack verifies, also behind parse and stringify, with spaces, and with its members sorted', async () => {
  const sorted = (value: unknown): unknown =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const pack = JSON.parse(text);
  const apart = [JSON.stringify(pack), JSON.stringify(pack, null, 2), JSON.stringify(sorted(pack))];
  const together = [JSON.stringify(sorted(pack), null, 2)];
  for (const each of [text, ...(isLongRun ? apart : together)])
    expect(await verified(each)).toMatchObject({
      signature: 'trusted',
      mismatches: [],
      receipts: receipts.length,
      recomputed: 1,
    });
});

test('what it lists is what it counts, and each is in a list that it belongs to', () => {
  const { coverage, listed } = JSON.parse(text);
  expect(coverage).toMatchObject({ receipts: 2101, versions: 2106, excluded: 1 });
  expect(coverage.listed).toEqual({ simulated: 6, degraded: 5, restated: 5, superseded: 5 });
  expect(listed.restated).toEqual([12, 512, 1012, 1512, 2012].map(idAt));
  expect(listed.superseded[0]).toBe(`urn:gw:receipt:${idAt(12)}:1`);
});

test('a pack without receipts verifies too', async () => {
  expect(await verified(await longPack([]))).toMatchObject({ signature: 'trusted', mismatches: [], receipts: 0 });
});

test.each([
  [999, 1],
  [1000, 1],
  [1001, 1000],
])('of %i receipts a part of the manifest has %i', async (count, perPart) => {
  const made = await longPack(many.slice(0, count));
  expect(JSON.parse(made).manifest.receipts_per_part).toBe(perPart);
  expect(await verified(made)).toMatchObject({ signature: 'trusted', mismatches: [], receipts: count });
});

describe('what was altered is found', () => {
  it('at any byte', async () => {
    // Short, so that many can be tried.
    const short = await longPack(receipts.slice(0, 6));
    const bytes = Buffer.from(short);
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
        const altered = Buffer.from(bytes);
        altered[at] = (bytes[at] ?? 0) ^ by;
        const isRefused = await verified(altered.toString('latin1')).then(
          ({ mismatches, signature }) => mismatches.length > 0 || signature !== 'trusted',
          (error) => error instanceof PackFileError,
        );
        expect(isRefused, `${at}: ${short[at]}`).toBe(true);
      }),
      { numRuns: cases(600, 40) },
    );
  });

  it.each([
    [
      'receipts/1',
      (pack: { receipts: { energy_wh: string }[] }) => Object.assign(pack.receipts[1500] ?? {}, { energy_wh: '7' }),
    ],
    ['listed/degraded', (pack: { listed: { degraded: string[] } }) => pack.listed.degraded.pop()],
    ['receipts/2', (pack: { receipts: object[] }) => pack.receipts.pop()],
    ['excluded', (pack: { excluded: object[] }) => pack.excluded.pop()],
    ['head', (pack: { account: string }) => Object.assign(pack, { account: 'another' })],
    ['receipt', (pack: { receipts: object[] }) => pack.receipts.splice(5, 0, pack.receipts[5] ?? {})],
  ])('and the part %s is named', async (part, alter) => {
    const pack = JSON.parse(text);
    alter(pack);
    const { mismatches } = await verified(JSON.stringify(pack));
    expect(mismatches.map(({ field }) => field)).toContain(part);
  });

  it('a member that is there twice', async () => {
    await expect(verified(text.replace('"acct_1"', '"acct_1","account":"another"'))).rejects.toThrow(
      'cannot be read as JSON: The key "account" stands twice in one object.',
    );
    await expect(verified(text.replace('"energy_wh":', '"energy_wh":"1","energy_wh":'))).rejects.toThrow(PackFileError);
  });
});

test('JSON that is read in parts gives what parsing it as a whole gives, however it is cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.boolean(), fc.integer({ min: 1, max: 50 }), async (value, isWide, size) => {
      const whole = { first: value, list: [value, 1, value], inner: { list: [], 'a"\\': value, 'a/b': value } };
      const found: [string, unknown][] = [];
      const split = (path: string) => ['', 'list', 'inner', 'inner/list'].includes(path);
      for await (const { bytes, path } of jsonParts(bytesOf(JSON.stringify(whole, null, isWide ? 2 : 0), size), split))
        found.push([path, JSON.parse(Buffer.from(bytes).toString())]);
      const clean: unknown = JSON.parse(JSON.stringify(value));
      const items = [clean, 1, clean].map((item) => ['list', item]);
      expect(found).toEqual([['first', clean], ...items, ['inner/a"\\', clean], ['inner/a~1b', clean]]);
    }),
  );
});
