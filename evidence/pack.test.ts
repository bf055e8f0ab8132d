import { readFileSync } from 'node:fs';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { publicJwkOf } from '@gw/contract/internal/public-jwk';
import { packContext, vocabularyIri } from '@gw/contract/pack/context';
import { type Receipt, receiptSchema } from '@gw/contract/receipt';
import { cases } from '@gw/testing/cases';
import { bytesOf } from '@gw/testing/evidence/made-packs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import jsonld from 'jsonld';
import { beforeAll, describe, expect, it, test, vi } from 'vitest';
import { z } from 'zod';
import { ExactSum, plainDecimal } from './decimal.ts';
import type { PackContents } from './pack.ts';
import { PackFileError } from './pack-file.ts';
import { packText } from './pack-writer.ts';
import { amounts } from './quantities.ts';
import { type PackedReceipt, receiptNode, receiptOf } from './receipt-node.ts';
import { type VerifyOptions, verifyPack } from './verify.ts';

const example = (name: string) =>
  JSON.parse(readFileSync(new URL(`../docs/examples/${name}.json`, import.meta.url), 'utf8'));
const receipt: Receipt = example('receipt');
const lineage: unknown = example('lineage');

const key = signingKeyOf('01'.repeat(32));
const nextKey = signingKeyOf('02'.repeat(32));
const trust = { keys: [publicJwkOf(nextKey.publicJwk.x), publicJwkOf(key.publicJwk.x)] };

const idAt = (n: number) => `rcpt_01a1fd70-f1c0-7000-8000-${String(n).padStart(12, '0')}`;
const { simulated: _, ...real } = receipt;
/** As other calls would have left them; none has a lineage here. */
const others: readonly Receipt[] = [
  { ...real, id: idAt(2), energy_wh: 4e-7, carbon_g: 0.1 },
  { ...real, id: idAt(2), version: 2, supersedes: 1, energy_wh: 0.1, carbon_g: 0.2 },
  { ...real, id: idAt(3), tier: 'telemetry', energy_wh: 0.2, water_ml: null },
  { ...real, id: idAt(4), tier: 'degraded', energy_wh: null, carbon_g: null, water_ml: null, methodology_hash: null },
];
const receipts: readonly PackedReceipt[] = [
  { receipt, lineage },
  ...others.map((each) => ({ receipt: each, lineage: null })),
];
const contents: PackContents = {
  id: '00000000-0000-4000-8000-000000000001',
  issuedAt: new Date('2026-11-22T00:00:00Z'),
  baseUrl: 'https://gw.example',
  accountId: 'acct_1',
  selection: { from: '2026-11-21T00:00:00.000Z', to: '2026-11-22T00:00:00.000Z' },
  period: { from: new Date('2026-11-21T00:00:00Z'), to: new Date('2026-11-22T00:00:00Z') },
  receipts,
  excluded: [{ receipt_id: idAt(5), version: null, code: 'not_found', reason: 'There is no such receipt.' }],
  log: null,
};

const verified = (file: unknown, options: Partial<VerifyOptions> = {}) =>
  verifyPack(bytesOf(file), { trust, ...options });

type Json = Record<string, unknown>;
let pack: Json;
let text: string;
beforeAll(async () => {
  text = await packText(contents, key);
  pack = JSON.parse(text);
});

const fieldsOfReceipts = Object.entries(receiptSchema.shape);
/** The schema without what makes it optional. */
function inner(schema: unknown): z.ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
    ? inner(schema.unwrap())
    : (schema as z.ZodType);
}

test('each field of a receipt that need not be whole is an amount, and each field is a term', () => {
  const numbers = fieldsOfReceipts.filter(([, schema]) => {
    const plain = inner(schema);
    return plain instanceof z.ZodNumber && !plain.safeParse(1.5).error;
  });
  expect([...amounts].sort()).toEqual(numbers.map(([name]) => name).sort());
  const terms = fieldsOfReceipts.map(([name]) => name).filter((name) => !['id', 'object'].includes(name));
  for (const name of terms) expect(packContext, name).toHaveProperty([name]);
});

test('a decimal is written in plain digits that read as the same number, and sums lose nothing', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), (value) => {
      const digits = plainDecimal(value);
      expect(digits).toMatch(/^\d+(\.\d+)?$/);
      expect(Number(digits)).toBe(value);
    }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 15n }), fc.integer({ min: 0, max: 12 }))), (all) => {
      const sum = new ExactSum();
      let scaled = 0n;
      for (const [units, places] of all) {
        const digits = String(units).padStart(places + 1, '0');
        const at = digits.length - places;
        sum.add(places === 0 ? digits : `${digits.slice(0, at)}.${digits.slice(at)}`);
        scaled += units * 10n ** BigInt(12 - places);
      }
      const again = new ExactSum();
      again.add(String(sum));
      const [whole = '', fraction = ''] = String(again).split('.');
      expect(BigInt(whole + fraction.padEnd(12, '0'))).toBe(scaled);
    }),
  );
});

test('a receipt that was taken into a pack is had back as it was', () => {
  for (const each of receipts) expect(receiptOf(receiptNode(each, 'https://gw.example'))).toEqual(each.receipt);
});

test('a pack is JSON-LD of which every term is known, without fetching anything', async () => {
  const fetchNothing = (url: string): never => {
    throw new Error(`${url} was asked for.`);
  };
  const [node] = await jsonld.expand(
    structuredClone(pack) as jsonld.JsonLdDocument,
    {
      safe: true,
      documentLoader: fetchNothing,
    } as jsonld.Options.Expand,
  );
  const [restated] = ((node?.['http://purl.org/dc/terms/hasPart'] ?? []) as Json[]).slice(2);
  expect(restated).toMatchObject({
    '@type': ['http://www.w3.org/ns/prov#Entity', `${vocabularyIri}#Receipt`],
    [`${vocabularyIri}#energy_wh`]: [{ '@type': 'http://www.w3.org/2001/XMLSchema#decimal', '@value': '0.1' }],
    [`${vocabularyIri}#tier`]: [{ '@id': `${vocabularyIri}#tier-parametric` }],
    'http://www.w3.org/ns/prov#wasRevisionOf': [{ '@id': `urn:gw:receipt:${idAt(2)}:1` }],
  });
});

test('a pack is as the published JSON Schema has it, and with a further member it is not', () => {
  const schema = JSON.parse(readFileSync(new URL('../docs/evidence-pack.schema.json', import.meta.url), 'utf8'));
  const isPack = new Ajv2020({ allErrors: true, strict: false, validateFormats: false }).compile(schema);
  expect(isPack(pack), JSON.stringify(isPack.errors)).toBe(true);
  expect(isPack({ ...pack, approved: true })).toBe(false);
  const [first, ...others] = pack.receipts as Json[];
  expect(isPack({ ...pack, receipts: [{ ...first, offset_g: '100' }, ...others] })).toBe(false);
});

test('sums count the newest version of each receipt, and simulated calls apart', () => {
  expect(pack.coverage).toEqual({
    receipts: 4,
    versions: 5,
    excluded: 1,
    measured: { requests: 1, energy_wh: '0.2' },
    modelled: { requests: 1, energy_wh: '0.1' },
    estimated: { requests: 0, energy_wh: null },
    degraded: { requests: 1, energy_wh: null },
    listed: { simulated: 1, degraded: 1, restated: 1, superseded: 1 },
  });
  expect(pack.listed).toEqual({
    simulated: [receipt.id],
    degraded: [idAt(4)],
    restated: [idAt(2)],
    superseded: [`urn:gw:receipt:${idAt(2)}:1`],
  });
  const rows = pack.aggregates as Json[];
  expect(rows.map(({ simulated, requests, energy_wh }) => [simulated, requests, energy_wh])).toEqual([
    [false, 3, '0.3'],
    [true, 1, String(receipt.energy_wh)],
  ]);
  expect(rows[0]).toMatchObject({ date: '2026-11-21', requests_degraded: 1, missing: { energy_wh: 1, water_ml: 2 } });
});

test('a pack is made in pieces', async () => {
  let pauses = 0;
  const many = Array.from({ length: 500 }, (_, n) => ({ receipt: { ...real, id: idAt(n) }, lineage: null }));
  const pause = async () => {
    pauses += 1;
  };
  const long = await packText({ ...contents, receipts: many }, key, pause);
  expect(pauses).toBeGreaterThan(2);
  expect(await verified(long)).toMatchObject({ signature: 'trusted', mismatches: [] });
});

describe('a pack verifies', () => {
  it('with the published keys, also behind parse and stringify, and after the key was exchanged', async () => {
    for (const each of [text, JSON.stringify(pack), JSON.stringify(pack, null, 2)])
      expect(await verified(each)).toMatchObject({
        signature: 'trusted',
        mismatches: [],
        receipts: 5,
        recomputed: 1,
        log: { proven: 0, late: [], changed: [] },
        excluded: [{ receipt_id: idAt(5), version: null, reason: 'There is no such receipt.' }],
        about: { account: 'acct_1', isFiltered: false },
      });
  });

  it('by the thumbprint of the key, and never by what it brings along', async () => {
    const { kid } = key.publicJwk;
    const signature = async (each: object) => (await verified(text, { trust: each })).signature;
    expect(await signature({ thumbprint: kid })).toBe('trusted');
    expect(await signature({})).toBe('unauthenticated');
    expect(await signature({ thumbprint: nextKey.publicJwk.kid })).toBe('unknown_key');
    expect(await signature({ keys: [] })).toBe('unknown_key');
    // Somebody else's key under the name of ours.
    expect(await signature({ keys: [{ ...nextKey.publicJwk, kid }] })).toBe('unknown_key');
  });
});

/** The paths of all values that hold no others. */
function* leaves(value: unknown, path: readonly string[] = []): Generator<readonly string[]> {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) yield path;
  else for (const [name, item] of Object.entries(value)) yield* leaves(item, [...path, name]);
}

/** The pack with another value at a place, or without it. */
function altered(path: readonly string[], how: 'changed' | 'gone'): unknown {
  const copy = JSON.parse(text);
  const last = path.at(-1) ?? '';
  const owner = path.slice(0, -1).reduce((at, name) => at[name], copy);
  const was = owner[last];
  if (how === 'gone') Array.isArray(owner) ? owner.splice(Number(last), 1) : delete owner[last];
  else owner[last] = typeof was === 'string' ? `${was}0` : typeof was === 'number' ? was + 1 : 'another';
  return copy;
}

describe('what was altered is found', () => {
  const found = async (each: unknown): Promise<boolean> => {
    const { mismatches, signature } = await verified(each);
    return mismatches.length > 0 || signature !== 'trusted';
  };

  it('wherever it is', async () => {
    const places = [...leaves(pack)];
    // The text of a methodology is one place, the lineage has thousands.
    const outside = places.filter((path) => path[0] !== 'receipts' || path[1] !== '0' || path[2] !== 'lineage');
    const inside = places.filter((path) => !outside.includes(path)).filter((_, at) => at % cases(293, 797) === 0);
    const some = [
      ...outside.filter((_, at) => at % cases(29, 67) === 0),
      ...outside.filter(([top]) => top === 'signature'),
      ...inside,
    ];
    for (const path of some)
      for (const how of ['changed', 'gone'] as const)
        expect(await found(altered(path, how)), `${path} ${how}`).toBe(true);
  });

  it('and named, as far as one can', async () => {
    const more = JSON.parse(text);
    more.receipts[2].energy_wh = '0.7';
    const { mismatches } = await verified(more);
    const id = `urn:gw:receipt:${idAt(2)}:2`;
    expect(mismatches).toContainEqual(expect.objectContaining({ receipt: id, field: 'sha256' }));
    expect(mismatches).toContainEqual(
      expect.objectContaining({ field: 'coverage.modelled.energy_wh', expected: '"0.7"', found: '"0.1"' }),
    );
    const without = await verified(altered(['receipts', '3'], 'gone'));
    expect(without.mismatches).toContainEqual({
      receipt: `urn:gw:receipt:${idAt(3)}:1`,
      field: 'receipt',
      expected: 'in the pack',
      found: 'nothing',
    });
  });

  it('even if whoever has the key signs other numbers than follow from the lineage', async () => {
    const lied = { ...receipt, carbon_g: 0.01 };
    const signed = await packText({ ...contents, receipts: [{ receipt: lied, lineage }] }, key);
    const { mismatches, signature } = await verified(signed);
    expect(signature).toBe('trusted');
    expect(mismatches).toContainEqual({
      receipt: `urn:gw:receipt:${receipt.id}:1`,
      field: 'receipt.carbon_g',
      expected: String(receipt.carbon_g),
      found: '0.01',
    });
  });

  it('a receipt outside of the period too, and one that is there twice', async () => {
    const period = { from: new Date('2026-11-21T09:30:00.001Z'), to: new Date('2026-11-22T00:00:00Z') };
    const early = await verified(await packText({ ...contents, period }, key));
    expect(early.mismatches.map(({ field }) => field)).toContain('created_at');
    const twice = { ...contents, receipts: [...receipts.slice(0, 2), ...receipts.slice(1)] };
    expect((await verified(await packText(twice, key))).mismatches).toContainEqual(
      expect.objectContaining({ field: 'receipt', expected: 'once' }),
    );
  });

  it('and a member in another form than that of a pack', async () => {
    for (const wrong of [{ receipts: 5 }, { listed: [] }, { listed: 'x' }, { excluded: 'x' }, { receipts: ['x'] }])
      expect(await verified({ ...pack, ...wrong })).toMatchObject({ mismatches: expect.any(Array) });
    const { listed, ...others } = pack;
    const lists = Object.entries(listed as Json);
    const single = Object.fromEntries(lists.map(([name, list]) => [name, Object(list)[0]]));
    const renamed = Object.fromEntries(lists.map(([name, list]) => [`listed/${name}`, list]));
    for (const each of [
      { ...others, listed: single },
      { ...others, ...renamed },
    ])
      expect(await found(each)).toBe(true);
  });

  it('a member named as the prototype of objects is a member', async () => {
    for (const planted of ['"approved"', '{"approved":true}', `{"manifest":${JSON.stringify(pack.manifest)}}`])
      expect(await found(Buffer.from(text.replace('{', `{"__proto__":${planted},`))), planted).toBe(true);
  });

  it('so is one that is named as what every object inherits', async () => {
    const { mismatches } = await verified({ ...pack, '@context': { toString: null } });
    expect(mismatches).toContainEqual(expect.objectContaining({ field: '@context.toString' }));
  });

  it('bytes that are not UTF-8 are refused, also where a decoder would replace them by what is there', async () => {
    const named = await packText({ ...contents, accountId: 'acct_\ufffd' }, key);
    const bytes = Buffer.from(named);
    expect(await found(bytes)).toBe(false);
    const at = bytes.indexOf('\ufffd');
    const broken = Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff]), bytes.subarray(at + 3)]);
    await expect(verified(broken)).rejects.toThrow('UTF-8');
  });

  it.each([1.5e-299, 1e300, 0.5])('tokens that no count can be are named, and in no sum: %s', async (tokens) => {
    const onFault = vi.fn();
    const copy = JSON.parse(text);
    copy.receipts[0].prompt_tokens = tokens;
    const { mismatches } = await verified(copy, { onFault });
    expect(mismatches.map(({ field }) => field)).toContain('prompt_tokens');
    expect(onFault).not.toHaveBeenCalled();
  });

  it('and anything at all gets an answer, which is no error of the program', async () => {
    const onFault = vi.fn();
    const answer = async (file: unknown) => {
      try {
        const { mismatches, signature } = await verified(file, { onFault });
        expect(mismatches.length > 0 || signature !== 'trusted').toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(PackFileError);
      }
    };
    const paths = [...leaves(pack)].filter((path) => path[0] !== 'receipts' || path[2] !== 'lineage');
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.constantFrom(...paths), fc.nat(), async (value, path, depth) => {
        await answer(value);
        await answer({ ...pack, receipts: [value], manifest: value });
        const copy = JSON.parse(text);
        const way = path.slice(0, 1 + (depth % path.length));
        const owner = way.slice(0, -1).reduce((at, name) => at[name], copy);
        if (JSON.stringify(owner[way.at(-1) ?? '']) === JSON.stringify(value)) return;
        owner[way.at(-1) ?? ''] = value;
        await answer(copy);
      }),
      { numRuns: cases(300, 25) },
    );
    await fc.assert(fc.asyncProperty(fc.oneof(fc.json(), fc.string()), answer));
    expect(onFault).not.toHaveBeenCalled();
  });

  it('an error of the program is handed on, and such a pack does not hold', async () => {
    const onFault = vi.fn();
    const fault = new Error('A bug.');
    const trustless = {
      get keys(): never {
        throw fault;
      },
    };
    expect(await verified(text, { trust: trustless, onFault })).toMatchObject({
      signature: 'invalid',
      mismatches: [{ field: 'pack', found: expect.stringContaining('A bug.') }],
    });
    expect(onFault).toHaveBeenCalledExactlyOnceWith(fault);
  });
});
