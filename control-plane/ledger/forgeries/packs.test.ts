/** Whoever has a pack, and no key, can change nothing in it that is not refused. */
import { createHmac } from 'node:crypto';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { canonicalText } from '@gw/contract/internal/ledger-entry';
import { publicJwkOf } from '@gw/contract/internal/public-jwk';
import { packText } from '@gw/evidence/pack-writer';
import { verifyPack } from '@gw/evidence/verify';
import { callAt, entryFrom } from '@gw/testing/control-plane/calls';
import { bytesOf } from '@gw/testing/evidence/made-packs';
import { beforeAll, expect, test } from 'vitest';

// biome-ignore lint/suspicious/noExplicitAny: somebody can have written anything there.
type Json = any;
const [ours, theirs] = [signingKeyOf('e1'.repeat(32)), signingKeyOf('02'.repeat(32))];
let text: string;
beforeAll(async () => {
  const day = { from: '2026-11-21T00:00:00.000Z', to: '2026-11-22T00:00:00.000Z' };
  const made = Array.from({ length: 4 }, (_, at) => entryFrom(callAt(`2026-11-21T09:1${at}:00Z`)));
  const contents = {
    id: '00000000-0000-4000-8000-000000000001',
    issuedAt: new Date(day.to),
    baseUrl: 'https://gw.example',
    accountId: 'acct_1',
    selection: day,
    period: { from: new Date(day.from), to: new Date(day.to) },
    receipts: made.map(({ receipt }) => ({ receipt, lineage: null })),
    excluded: [],
    log: null,
  };
  text = await packText(contents, ours);
});

const base64 = (value: object) =>
  Buffer.from(value instanceof Uint8Array ? value : JSON.stringify(value)).toString('base64url');
const headOf = (kid: string, alg = 'EdDSA') => base64({ alg, kid, b64: false, crit: ['b64'] });
const signedTextOf = (head: string, { manifest }: Json) => Buffer.from(`${head}.${canonicalText(manifest)}`);
/** With a signature by `theirs`, under the name of `kid`. */
const signedAnew = async (pack: Json, kid = theirs.publicJwk.kid) => {
  const head = headOf(kid);
  const jws = `${head}..${base64(await theirs.sign(signedTextOf(head, pack)))}`;
  return { ...pack, signature: { key: { ...theirs.publicJwk, kid }, jws } };
};
const order = 2n ** 252n + 27742317777372353535851937790883648493n;
/** S + L in the place of S, which the curve cannot tell apart. */
const malleated = (jws: string): string => {
  const [head = '', tail = ''] = jws.split('..');
  const bytes = Buffer.from(tail, 'base64url');
  const scalar = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`) + order;
  Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex').reverse().copy(bytes, 32);
  return `${head}..${base64(bytes)}`;
};
const smallOrder = publicJwkOf(base64(Buffer.concat([Buffer.from([1]), Buffer.alloc(31)])));

const ways: Readonly<Record<string, (pack: Json) => unknown>> = {
  'without its signature': ({ signature: _, ...pack }) => pack,
  'signed by somebody': (pack) => signedAnew(pack),
  'signed by somebody under our name': (pack) => signedAnew(pack, ours.publicJwk.kid),
  'signed by somebody, with our key beside it': async (pack) => {
    const { signature, ...more } = await signedAnew(pack, ours.publicJwk.kid);
    return { ...more, signature: { ...signature, key: pack.signature.key } };
  },
  'by no algorithm': (pack) => {
    const jws = `${headOf(ours.publicJwk.kid, 'none')}..`;
    return { ...pack, signature: { ...pack.signature, jws } };
  },
  'by an HMAC with the public key': (pack) => {
    const head = headOf(ours.publicJwk.kid, 'HS256');
    const code = createHmac('sha256', Buffer.from(ours.publicJwk.x, 'base64url')).update(signedTextOf(head, pack));
    return { ...pack, signature: { ...pack.signature, jws: `${head}..${base64(code.digest())}` } };
  },
  'with a signature that means the same': (pack) => ({
    ...pack,
    signature: { ...pack.signature, jws: malleated(pack.signature.jws) },
  }),
  'by a key of small order': (pack) => {
    const tail = base64(Buffer.concat([Buffer.from([1]), Buffer.alloc(63)]));
    return { ...pack, signature: { key: smallOrder, jws: `${headOf(smallOrder.kid)}..${tail}` } };
  },
  'without a receipt': (pack) => ({ ...pack, receipts: pack.receipts.slice(1) }),
  'without a receipt and its part': (pack) => {
    const [first, ...receipts] = pack.receipts;
    const left = pack.manifest.parts.filter(({ part }: { part: string }) => part !== first.id);
    return { ...pack, receipts, manifest: { ...pack.manifest, parts: left } };
  },
  'without a receipt, signed by somebody': (pack) => signedAnew({ ...pack, receipts: pack.receipts.slice(1) }),
  'with a receipt twice': (pack) => ({ ...pack, receipts: [...pack.receipts, pack.receipts[0]] }),
  'in another order': (pack) => ({ ...pack, receipts: pack.receipts.toReversed() }),
  'with the parts in another order': (pack) => ({
    ...pack,
    manifest: { ...pack.manifest, parts: pack.manifest.parts.toReversed() },
  }),
  'with a member twice': () => `${text.trimEnd().slice(0, -1)},"receipts":[]}`,
  'with a member twice, once escaped': () => `${text.trimEnd().slice(0, -1)},"\\u0072eceipts":[]}`,
  'with a member of a receipt twice': () => text.replace('"carbon_g"', '"carbon_g":"0.000000001","carbon_g"'),
  'with more in a receipt': (pack) => ({
    ...pack,
    receipts: [{ ...pack.receipts[0], note: 'clean' }, ...pack.receipts.slice(1)],
  }),
  'with more beside the receipts': (pack) => ({ ...pack, note: 'clean' }),
  'with a prototype': () => `${text.trimEnd().slice(0, -1)},"__proto__":{"a":1}}`,
  'of another account': (pack) => ({ ...pack, account: 'acct_2' }),
  'with an amount in other digits': (pack) => ({
    ...pack,
    receipts: [{ ...pack.receipts[0], carbon_g: `${pack.receipts[0].carbon_g}0` }, ...pack.receipts.slice(1)],
  }),
  'with other terms': (pack) => ({ ...pack, '@context': { carbon_g: 'https://evil.example/energy' } }),
  'with more behind it': () => `${text}{}`,
  'with nothing in it': () => '',
  'with a NUL behind it': () => `${text}\0`,
  'with lists inside each other': () =>
    `${text.trimEnd().slice(0, -1)},"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  'with half of a pair': () => `${text.trimEnd().slice(0, -1)},"x":"\\ud800"}`,
  'with a number beyond all': () => `${text.trimEnd().slice(0, -1)},"x":1e999}`,
  'with an earlier beginning': (pack) => ({
    ...pack,
    selection: { ...pack.selection, from: '2026-11-01T00:00:00.000Z' },
  }),
};
const refused = (file: unknown) =>
  verifyPack(bytesOf(file), { trust: { thumbprint: ours.publicJwk.kid } }).then(
    ({ mismatches, signature }) => mismatches.length > 0 || signature !== 'trusted',
    () => true,
  );

test('a pack that nobody has changed is not refused', async () => {
  expect(await refused(text)).toBe(false);
  expect(await refused(JSON.parse(text))).toBe(false);
});

test.each(Object.entries(ways))('a pack is refused: %s', async (_, change) => {
  expect(await refused(await change(JSON.parse(text)))).toBe(true);
});
