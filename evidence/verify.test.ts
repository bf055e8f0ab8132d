/** Somebody who has the key of the packs, and so can sign anything, still cannot lie in one without being found out. */
import { readFileSync } from 'node:fs';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { isPublicKey } from '@gw/contract/internal/public-jwk';
import type { Receipt } from '@gw/contract/receipt';
import { bytesOf } from '@gw/testing/evidence/made-packs';
import { beforeAll, expect, test } from 'vitest';
import { canonicalText } from './canonical.ts';
import { isDecimal } from './decimal.ts';
import { Followed, type ListName, listNames } from './followed.ts';
import { manifestOf } from './manifest.ts';
import { packText } from './pack-writer.ts';
import { signed } from './signature.ts';
import { type PackVerification, type VerifyOptions, verifyPack } from './verify.ts';

const example = (name: string) =>
  JSON.parse(readFileSync(new URL(`../docs/examples/${name}.json`, import.meta.url), 'utf8'));
const receipt: Receipt = example('receipt');
const key = signingKeyOf('01'.repeat(32));
const trust = { thumbprint: key.publicJwk.kid };

const other: Receipt = { ...receipt, id: 'rcpt_01a1fd70-f1c0-7000-8000-000000000002' };
const third: Receipt = { ...receipt, id: 'rcpt_01a1fd70-f1c0-7000-8000-000000000003' };
const receipts = [
  { receipt, lineage: example('lineage') },
  ...[other, { ...other, version: 2, supersedes: 1 }, third].map((each) => ({ receipt: each, lineage: null })),
];
const left = { type: ['gw:Exclusion'], receipt_id: third.id, version: null, code: 'not_found', reason: 'Not there.' };
const day = { from: '2026-11-21T00:00:00.000Z', to: '2026-11-22T00:00:00.000Z' };

// biome-ignore lint/suspicious/noExplicitAny: what is altered in it can have any form.
type Json = any;
let pack: Json;
beforeAll(async () => {
  const contents = {
    id: '00000000-0000-4000-8000-000000000001',
    issuedAt: new Date(day.to),
    baseUrl: 'https://gw.example',
    accountId: 'acct_1',
    selection: day,
    receipts,
    excluded: [],
    log: null,
    period: { from: new Date(day.from), to: new Date(day.to) },
  };
  pack = JSON.parse(await packText(contents, key));
});

/** Returns the pack with a change, and with all that follows computed and signed anew. */
async function resigned(change: (pack: Json) => void): Promise<object> {
  const { listed: _, manifest: __, receipts: nodes, signature: ___, ...rest } = structuredClone(pack);
  change({ head: rest, nodes });
  const { excluded, ...head } = rest;
  const listed = Object.fromEntries(listNames.map((name): [ListName, unknown[]] => [name, []]));
  const followed = new Followed((list, text) => listed[list]?.push(JSON.parse(text)));
  for (const node of nodes) followed.add(node, canonicalText(node));
  for (const each of excluded) followed.exclude(canonicalText(each));
  const { head: follows, ...digests } = followed.finish();
  const whole = { ...head, ...follows };
  const manifest = manifestOf(whole, digests);
  return { ...whole, receipts: nodes, listed, excluded, manifest, signature: await signed(manifest, key) };
}

const check = async (change: (pack: Json) => void, options: Omit<VerifyOptions, 'trust'> = {}) =>
  verifyPack(bytesOf(await resigned(change)), { trust, ...options });
const fieldsOf = ({ mismatches }: PackVerification) => mismatches.map(({ field }) => field);

test('of each number there is one text', () => {
  expect(['0', '0.1', '5', '-1.5', '0.00000042', '100000000000000000000000'].map(isDecimal)).not.toContain(false);
  expect(['', '.5', '5.', '1e3', '+1', ' 1', 'NaN', 'Infinity', '9'.repeat(399)].map(isDecimal)).not.toContain(true);
});

test('a pack that was made anew as it was holds', async () => {
  expect(await check(() => {})).toMatchObject({ signature: 'trusted', mismatches: [], receipts: 4 });
});

test.each<[string, unknown]>([
  ['a number', 0.3],
  ['with zeros in front', '000.3'],
  ['with zeros behind', '0.30'],
  ['with an exponent', '3e-1'],
  ['with more digits than a number has', '0.30000000000000000001'],
  ['as nothing', '-0'],
  ['a list', ['0.3']],
  ['millions of digits long', `1${'3'.repeat(2_000_000)}`],
])('an amount that is written in another way is named, so that none is left out of the sums: %s', async (_, amount) => {
  const found = await check(({ nodes }) => {
    nodes[3].energy_wh = amount;
  });
  expect(found.mismatches).toMatchObject([{ receipt: `urn:gw:receipt:${third.id}:1`, field: 'energy_wh' }]);
});

test.each<[string, (pack: Json) => void, string[]]>([
  ['the name of a receipt', ({ nodes }) => (nodes[3].id = 'urn:gw:receipt:x:1'), ['id']],
  ['its types', ({ nodes }) => (nodes[3].type = ['gw:Nothing']), ['type']],
  ['what it is a revision of', ({ nodes }) => (nodes[2].wasRevisionOf = 'urn:gw:receipt:x:9'), ['wasRevisionOf']],
  [
    'who has made it',
    ({ nodes }) => (nodes[3].wasGeneratedBy.qualifiedAssociation.agent = 'https://evil'),
    ['wasGeneratedBy.qualifiedAssociation.agent'],
  ],
  ['a provenance of no methodology', ({ nodes }) => (nodes[3].methodology_hash = null), ['wasGeneratedBy']],
  ['whose lineage it is', ({ nodes }) => (nodes[0].lineage.receipt_id = 'x'), ['lineage.receipt_id']],
  ['why a first version was made', ({ nodes }) => (nodes[0].lineage.revision = { kind: 'x' }), ['lineage.revision']],
  ['what is explained', ({ nodes }) => (nodes[0].lineage.explanation = 'Lies.'), ['lineage.explanation']],
  ['something beside the lineage', ({ nodes }) => (nodes[0].lineage.more = 1), ['lineage.more']],
  ['a lineage of nothing', ({ nodes }) => (nodes[3].lineage = null), ['lineage']],
  [
    'a period that was not asked for',
    ({ head }) => (head.temporal.start = '2026-11-20T00:00:00.000Z'),
    ['temporal.start'],
  ],
  ['no period', ({ head }) => delete head.temporal, ['temporal']],
  ['another kind of thing', ({ head }) => (head.type = ['x']), ['type']],
  ['a filter by another model', ({ head }) => (head.selection.model = 'x'), ['model']],
  ['a filter by another region', ({ head }) => (head.selection.region = 'x'), ['region']],
  ['others than were named', ({ head }) => (head.selection.receipt_ids = [receipt.id, other.id]), ['receipt_id']],
  [
    'fewer than were named',
    ({ head }) => (head.selection.receipt_ids = [receipt.id, other.id, third.id, 'rcpt_x']),
    ['receipt'],
  ],
  [
    'no lineages, although they were asked for',
    ({ head }) => (head.selection.include_lineage = true),
    ['lineage', 'lineage', 'lineage'],
  ],
  ['no first version', ({ nodes }) => nodes.splice(1, 1), ['receipt']],
  ['another version before', ({ nodes }) => (nodes[2].supersedes = null), ['wasRevisionOf', 'supersedes']],
  ['a version in between', ({ nodes }) => (nodes[2].version = 1.5), ['id', 'version']],
])('what follows from the receipts and from what was asked for is made again: %s', async (_, change, fields) => {
  expect(fieldsOf(await check(change)).toSorted()).toEqual(fields.toSorted());
});

test('a first version that is left out by name is not missed', async () => {
  const found = await check(({ head, nodes }) => {
    nodes.splice(1, 1);
    head.excluded = [
      { type: ['gw:Exclusion'], receipt_id: other.id, version: 1, code: 'not_genuine', reason: 'Not so.' },
    ];
  });
  expect(found.mismatches).toMatchObject([{ receipt: `urn:gw:receipt:${other.id}:1`, expected: 'as it was issued' }]);
});

test.each<[string, (pack: Json) => void]>([
  ['offset_g', ({ nodes }) => (nodes[3].offset_g = '100')],
  ['approved_by', ({ head }) => (head.approved_by = 'an auditor')],
  ['wasGeneratedBy.startedAtTime', ({ head }) => (head.wasGeneratedBy.startedAtTime = day.from)],
  ['selection.only', ({ head }) => (head.selection.only = 'green')],
  ['temporal.note', ({ head }) => (head.temporal.note = 'x')],
  ['publisher.name', ({ head }) => (head.publisher.name = 'Acme')],
  ['wasGeneratedBy.by', ({ nodes }) => (nodes[3].wasGeneratedBy.by = 'x')],
  ['hint', ({ head }) => (head.excluded = [{ ...left, hint: 'x' }])],
])(
  'a member that no pack has is refused by its name, although whoever has the key has signed it: %s',
  async (name, change) => {
    expect(fieldsOf(await check(change))).toContain(name);
  },
);

test('the pack of another account is not taken for that of one', async () => {
  expect(fieldsOf(await check(() => {}, { account: 'acct_2' }))).toEqual(['account']);
  expect(fieldsOf(await check(() => {}, { account: 'acct_1' }))).toEqual([]);
});

/** `count` receipts without lineages, `explained` of which are said to have none. */
const withBare = (count: number, explained: number) =>
  check(({ head, nodes }) => {
    head.selection.include_lineage = true;
    const idAt = (n: number) => `rcpt_01a1fd70-f1c0-7000-8000-${String(n).padStart(12, '0')}`;
    const ids = Array.from({ length: count }, (_, n) => idAt(n));
    const bare = ids.map((id) => ({ ...nodes[3], id: `urn:gw:receipt:${id}:1`, receipt_id: id }));
    nodes.splice(0, nodes.length, ...bare);
    head.excluded = ids.slice(0, explained).map((id) => ({
      type: ['gw:Exclusion'],
      receipt_id: id,
      version: 1,
      code: 'no_lineage',
      reason: 'Its facts are gone.',
    }));
  });

test.each([
  [3, 3, []],
  [1200, 1200, []],
  [3, 2, [`urn:gw:receipt:rcpt_01a1fd70-f1c0-7000-8000-000000000002:1`]],
  [1200, 900, undefined],
  [1200, 1199, [null]],
])('of %i receipts without lineages %i may have none', async (count, explained, named) => {
  const { mismatches, untold } = await withBare(count, explained);
  expect([mismatches.every(({ field }) => field === 'lineage'), untold]).toEqual([true, undefined]);
  if (named === undefined) expect(mismatches).toHaveLength(100);
  else expect(mismatches.map(({ receipt: name }) => name)).toEqual(named);
});

test('what is said once for all receipts stands in front of them', async () => {
  const whole = Object.entries(await resigned(() => {}));
  for (const member of ['issued', 'log', 'publisher']) {
    const moved = whole.toSorted(([a], [b]) => Number(a === member) - Number(b === member));
    const { mismatches, signature } = await verifyPack(bytesOf(Object.fromEntries(moved)), { trust });
    expect([signature, mismatches]).toEqual([
      'invalid',
      [{ receipt: null, field: member, expected: 'in front of the receipts', found: 'nothing' }],
    ]);
  }
});

test('a signature or a key in other characters for the same bytes is none', async () => {
  // Only the first bits of the last character count.
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const twin = (text: string) => text.slice(0, -1) + alphabet[alphabet.indexOf(text.at(-1) ?? '') + 1];
  const { jws, key: signer } = pack.signature;
  const checked = async (signature: object) => (await verifyPack(bytesOf({ ...pack, signature }), { trust })).signature;
  expect(await checked({ key: signer, jws })).toBe('trusted');
  const tail = jws.split('..')[1];
  expect(Buffer.from(twin(tail), 'base64url')).toEqual(Buffer.from(tail, 'base64url'));
  expect(await checked({ key: signer, jws: twin(jws) })).toBe('invalid');
  expect(isPublicKey(signer.x)).toBe(true);
  expect(Buffer.from(twin(signer.x), 'base64url')).toEqual(Buffer.from(signer.x, 'base64url'));
  expect(isPublicKey(twin(signer.x))).toBe(false);
});
