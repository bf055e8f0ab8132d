/** Packs of any length: made and checked in one pass, in memory that does not grow with them. */
import { readFileSync } from 'node:fs';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { publicJwkOf } from '@gw/contract/internal/public-jwk';
import type { Receipt } from '@gw/contract/receipt';
import { longPackText } from '@gw/testing/evidence/made-packs';
import fc from 'fast-check';
import jsonld from 'jsonld';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { jsonParts, textIn } from './json-parts.ts';
import type { LongPackAbout } from './long-pack.ts';
import type { PackedReceipt } from './pack.ts';
import { verifyLongPack } from './verify-long.ts';

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

const days = { from: new Date('2026-11-21T00:00:00Z'), to: new Date('2026-11-22T00:00:00Z') };
async function longPack(
  own: readonly PackedReceipt[],
  changes: Partial<LongPackAbout> & { readonly period?: typeof days } = {},
): Promise<string> {
  const { period = days, ...others } = changes;
  const [from, to] = [period.from, period.to].map((time) => time.toISOString());
  const about = {
    ...{ id: '00000000-0000-4000-8000-000000000001', issuedAt: new Date('2026-11-22T00:00:00Z') },
    ...{ baseUrl: 'https://gw.example', accountId: 'acct_1', selection: { from, to }, period, log: null },
    ...others,
  };
  const excluded = [
    { receipt_id: idAt(9999), version: null, code: 'not_found', reason: 'There is no such receipt.' } as const,
  ];
  return longPackText({ ...about, receipts: own, excluded }, key);
}

async function* piecesOf(text: string, size = 65_536): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const verified = (text: string, size?: number) => verifyLongPack(piecesOf(text, size), { trust });

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
  for (const each of [text, JSON.stringify(pack), JSON.stringify(pack, null, 2), JSON.stringify(sorted(pack))])
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

test('it is JSON-LD of which every term is known, without fetching anything', async () => {
  const documentLoader = (url: string): never => {
    throw new Error(`${url} was asked for.`);
  };
  const small = JSON.parse(await longPack(receipts.slice(0, 20)));
  const [node] = await jsonld.expand(small, { safe: true, documentLoader } as jsonld.Options.Expand);
  expect(node?.['http://purl.org/dc/terms/hasPart']).toHaveLength(20);
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
        const { mismatches, signature } = await verifyLongPack(piecesOf(altered.toString('latin1')), { trust });
        expect(mismatches.length > 0 || signature !== 'trusted', `${at}: ${short[at]}`).toBe(true);
      }),
      { numRuns: 150 },
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

  it('a member that is there twice, and a receipt outside of the period', async () => {
    const twice = await verified(text.replace('"account":', '"account":"another","account":'));
    expect(twice).toMatchObject({ signature: 'invalid', mismatches: [{ field: 'pack' }] });
    const inside = text.replace('"energy_wh":', '"energy_wh":"1","energy_wh":');
    expect((await verified(inside)).signature).toBe('invalid');
    const period = { from: new Date('2026-11-21T09:30:00.001Z'), to: new Date('2026-11-22T00:00:00Z') };
    const early = await verified(await longPack(receipts, { period }));
    expect(early.mismatches.map(({ field }) => field)).toContain('created_at');
  });

  it('and whatever it is, it gets an answer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), fc.string()), async (anything) => {
        expect((await verified(anything)).signature).toBe('invalid');
      }),
    );
  });
});

test('JSON that is read in parts gives what parsing it as a whole gives, however it is cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.boolean(), fc.integer({ min: 1, max: 50 }), async (value, isWide, size) => {
      const whole = { first: value, list: [value, 1, value], inner: { list: [], 'a"\\': value } };
      const found: [string, unknown][] = [];
      const split = (path: string) => ['', 'list', 'inner', 'inner/list'].includes(path);
      for await (const { bytes, path } of jsonParts(piecesOf(JSON.stringify(whole, null, isWide ? 2 : 0), size), split))
        found.push([path, JSON.parse(textIn(bytes))]);
      const clean: unknown = JSON.parse(JSON.stringify(value));
      const items = [clean, 1, clean].map((item) => ['list', item]);
      expect(found).toEqual([['first', clean], ...items, ['inner/a"\\', clean]]);
    }),
  );
});
