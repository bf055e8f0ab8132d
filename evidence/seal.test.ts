/** Chains of certificates and time-stamps by OpenSSL, and what is wrong with others. */

import { sealSchema } from '@gw/contract/evidence';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import {
  Authority,
  authorityExtensions,
  derOf,
  hasOpenssl,
  type Issued,
  openssl,
  signerExtensions,
  stampExtensions,
} from '@gw/testing/evidence/authority';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkSeal, type PackKey, type SealTrust, sealed } from './seal.ts';
import { checkSignature, type Signed, signed } from './signature.ts';
import { stampRequest, tokenIn } from './timestamp.ts';

const seed = '01'.repeat(32);
const key = signingKeyOf(seed);
const value = { text: 'a manifest', n: 1 };
const issued = '2026-11-30T10:00:00.000Z';
const nonce = Uint8Array.from({ length: 16 }, (_, at) => at + 1);

describe.skipIf(!hasOpenssl)(`seals${openssl}`, () => {
  let authority: Authority;
  let root: string;
  let leaf: Issued;
  beforeAll(() => {
    authority = new Authority();
    root = derOf(authority.pem('root'));
    leaf = authority.issue('leaf', '/O=Example Cloud/CN=Evidence of gw', { seed, extensions: signerExtensions });
    authority.issue('tsa', '/O=Example Time/CN=Stamps', { isRsa: true, extensions: stampExtensions });
  });
  afterAll(() => authority.remove());

  const made = (certificates: readonly string[], more: Partial<PackKey> = {}) =>
    sealed(value, { ...key, certificates, ...more });
  const check = (
    signature: unknown,
    trust: SealTrust = { authorities: [root], organisation: 'Example Cloud' },
    at = issued,
  ) => checkSeal(value, signature, { issued: at, trust });
  const found = async (certificates: readonly string[]) => {
    const { mismatches, signature, signer } = await check(await made(certificates));
    return { signature, isChecked: signer?.isChecked, found: mismatches.map((each) => each.found).join() };
  };
  const stampBy = (signer: string) => async (jws: string) => {
    const reply = authority.stamp(await stampRequest(jws, nonce), signer);
    const answer = await tokenIn(new Uint8Array(reply), jws, nonce);
    if ('fault' in answer) throw new Error(answer.fault);
    return answer.token;
  };

  test('a chain that leads to an authority that is trusted makes the key one, and names its organisation', async () => {
    const seal = await made([leaf.der]);
    expect(sealSchema.safeParse(seal).success).toBe(true);
    const name = 'O=Example Cloud, CN=Evidence of gw';
    expect(await check(seal)).toEqual({
      signature: 'trusted',
      signer: { name, isChecked: true },
      timestamp: null,
      mismatches: [],
    });
    expect(await check(seal, {})).toMatchObject({ signature: 'unauthenticated', signer: { name, isChecked: false } });
    // An authority certifies others too.
    expect(await check(seal, { authorities: [root] })).toMatchObject({
      signature: 'unauthenticated',
      signer: { name, isChecked: true },
      mismatches: [],
    });
    expect(await check(seal, { authorities: [root], thumbprint: key.publicJwk.kid })).toMatchObject({
      signature: 'trusted',
      mismatches: [],
    });
    const other = { authorities: [root], thumbprint: key.publicJwk.kid, organisation: 'Example' };
    expect((await check(seal, other)).mismatches).toMatchObject([
      { field: 'signature.x5c', expected: 'a certificate of O=Example', found: `one of ${name}` },
    ]);
    const keys = [signingKeyOf('02'.repeat(32)).publicJwk];
    expect(await check(seal, { keys, authorities: [root] })).toMatchObject({ signature: 'unknown_key' });
  });

  test('authorities between are followed, of Ed25519 too, as deep as each of them allows', async () => {
    authority.issue('middle', '/O=Test Trust/CN=Middle', { seed: '03'.repeat(32), extensions: authorityExtensions });
    const below = authority.issue('below', '/O=Example Cloud/CN=Below', {
      seed,
      by: 'middle',
      extensions: signerExtensions,
    });
    const middle = derOf(authority.pem('middle'));
    expect(await found([below.der, middle])).toEqual({ signature: 'trusted', isChecked: true, found: '' });
    expect(await found([below.der])).toMatchObject({ found: expect.stringContaining('leads to none') });
    const flat = 'basicConstraints=critical,CA:TRUE,pathlen:0\nkeyUsage=critical,keyCertSign\n';
    authority.issue('flat', '/CN=Flat', { extensions: flat });
    authority.issue('deep', '/CN=Deep', { by: 'flat', extensions: authorityExtensions });
    const deepest = authority.issue('deepest', '/CN=Deepest', { seed, by: 'deep', extensions: signerExtensions });
    const chain = [deepest.der, derOf(authority.pem('deep')), derOf(authority.pem('flat'))];
    expect(await found(chain)).toMatchObject({
      signature: 'unauthenticated',
      found: 'CN=Flat, which may not issue such a certificate',
    });
  });

  const wrong: Readonly<Record<string, [() => string[], string]>> = {
    'no certificates': [() => [], 'none, so that an authority says nothing of it'],
    'one of another key': [
      () => [authority.issue('other', '/CN=Other', { seed: '04'.repeat(32) }).der],
      'one of another key',
    ],
    'one that had expired': [
      () => [authority.issue('old', '/CN=Old', { seed, until: '20251231000000Z' }).der],
      'CN=Old, which was not valid at 2026-11-30T10:00:00.000Z',
    ],
    'one whose key may not sign': [
      () => [authority.issue('mute', '/CN=Mute', { seed, extensions: 'keyUsage=critical,keyAgreement\n' }).der],
      'CN=Mute, whose key may not sign',
    ],
    'one that is for servers': [
      () => [
        authority.issue('server', '/O=Example Cloud', { seed, extensions: 'extendedKeyUsage=critical,serverAuth\n' })
          .der,
      ],
      'one for other purposes, O=Example Cloud',
    ],
    'one that may issue others': [
      () => [
        authority.issue('issuer', '/O=Example Cloud', {
          seed,
          extensions: 'basicConstraints=CA:TRUE\nkeyUsage=keyCertSign,digitalSignature\n',
        }).der,
      ],
      'that of an authority, O=Example Cloud',
    ],
    'one of another organisation': [
      () => [authority.issue('foreign', '/O=Somebody Else/CN=Example Cloud', { seed }).der],
      'one of O=Somebody Else, CN=Example Cloud',
    ],
    'one that a key which is no authority has issued': [
      () => {
        authority.issue('client', '/CN=Client', { extensions: signerExtensions });
        const { der } = authority.issue('minted', '/O=Example Cloud/CN=Minted', { seed, by: 'client' });
        return [der, derOf(authority.pem('client'))];
      },
      'CN=Client, which may not issue such a certificate',
    ],
    'one with constraints that we do not know': [
      () => [authority.issue('odd', '/CN=Odd', { seed, extensions: '1.2.3.4=critical,ASN1:NULL\n' }).der],
      'CN=Odd with a critical extension that is not known, 1.2.3.4',
    ],
    'one with an altered name': [
      () =>
        [Buffer.from(leaf.der, 'base64').toString('latin1').replace('Example Cloud', 'Example Claud')].map((der) =>
          Buffer.from(der, 'latin1').toString('base64'),
        ),
      'one that leads to none of the authorities that you trust',
    ],
    'what is no certificate': [() => [btoa('no certificate')], 'what cannot be read'],
  };
  test.each(Object.entries(wrong))('%s is named', async (_, [certificates, expected]) => {
    const chain = certificates();
    const seal = chain.length === 0 ? await sealed(value, key) : await made(chain);
    const { mismatches, signature } = await check(seal);
    expect([mismatches.map((each) => each.found), signature]).toEqual([[expected], 'unauthenticated']);
  });

  test.each([
    'keyUsage=nonRepudiation\nbasicConstraints=CA:FALSE\n',
    'extendedKeyUsage=critical,serverAuth,1.3.6.1.5.5.7.3.36\n',
    'extendedKeyUsage=anyExtendedKeyUsage\n',
    '',
  ])('a certificate with "%s" may sign', async (extensions) => {
    const { der } = authority.issue('may', '/O=Example Cloud', { seed, extensions });
    expect(await found([der])).toEqual({ signature: 'trusted', isChecked: true, found: '' });
  });

  test('certificates are signed, and stand in packs and statements alone', async () => {
    const seal = await made([leaf.der]);
    const [head = '', tail = ''] = seal.jws.split('..');
    const header = JSON.parse(Buffer.from(head, 'base64url').toString());
    const withHeader = (changed: object): Signed => ({
      ...seal,
      jws: `${Buffer.from(JSON.stringify(changed)).toString('base64url')}..${tail}`,
    });
    expect(await check(withHeader(header))).toMatchObject({ signature: 'trusted' });
    const { x5c, ...without } = header;
    for (const changed of [
      without,
      { ...header, x5c: [...x5c, root] },
      { ...header, x5c: [] },
      { ...header, jku: 'x' },
    ])
      expect(await check(withHeader(changed), {})).toMatchObject({ signature: 'invalid' });
    for (const more of [{ timestamp: null }, { timestamp: 'AA=' }, { other: 1 }])
      expect(await check({ ...seal, ...more }, {})).toMatchObject({ signature: 'invalid' });
    expect(await checkSignature(value, seal, {})).toBe('invalid');
    expect(await checkSignature(value, await signed(value, key), {})).toBe('unauthenticated');
  });

  test('a time-stamp of OpenSSL holds, and says when a certificate has to have been valid', async () => {
    const seal = await made([leaf.der], { timestamp: stampBy('tsa') });
    expect(sealSchema.safeParse(seal).success).toBe(true);
    const before = Date.now() - 60_000;
    const stamped = await check(seal, { timestampAuthorities: [root] });
    expect(stamped).toMatchObject({
      timestamp: { name: 'O=Example Time, CN=Stamps', isChecked: true },
      mismatches: [],
    });
    expect(Date.parse(stamped.timestamp?.at ?? '')).toBeGreaterThan(before);
    expect(await check(seal, {})).toMatchObject({ timestamp: { isChecked: false }, mismatches: [] });
    // It says that it was made when the certificate was valid. The service says when it was signed.
    const over = authority.issue('over', '/CN=Over', { seed, until: '20250101000000Z' });
    const backdated = await made([over.der], { timestamp: stampBy('tsa') });
    const at = '2024-12-01T00:00:00.000Z';
    const all = { authorities: [root], timestampAuthorities: [root] };
    expect((await check(backdated, all, at)).mismatches).toMatchObject([{ field: 'signature.x5c' }]);
    expect((await check(backdated, { authorities: [root] }, at)).mismatches).toEqual([]);
  });

  test('a time-stamp that is not of this signature, or not by a time-stamp service, is named', async () => {
    const faultOf = async (timestamp: string | null) => {
      const seal = await made([leaf.der], { timestamp: async () => timestamp });
      const { mismatches } = await check(seal, { timestampAuthorities: [root] });
      return mismatches.map((each) => each.found).join();
    };
    const good = await made([leaf.der], { timestamp: stampBy('tsa') });
    expect(await faultOf(String(good.timestamp))).toBe('');
    expect(await faultOf(null)).toContain('none');
    expect(await faultOf(await stampBy('tsa')('of.another.pack'))).toBe('a time-stamp over something else');
    expect(await faultOf(btoa('no time-stamp'))).toBe('what is no time-stamp');
    const stranger = new Authority();
    stranger.issue('tsa', '/CN=Stranger', { extensions: stampExtensions });
    const foreign = stranger.stamp(await stampRequest(good.jws, nonce), 'tsa');
    const token = await tokenIn(new Uint8Array(foreign), good.jws, nonce);
    stranger.remove();
    expect(await faultOf('token' in token ? token.token : '')).toContain('leads to none of the authorities');
  });

  test('a certificate for anything else stamps nothing, and neither does one that is not named in what is signed', async () => {
    authority.issue('clerk', '/CN=Clerk', { extensions: signerExtensions });
    const good = await made([leaf.der], { timestamp: stampBy('tsa') });
    const reply = authority.stamp(await stampRequest(good.jws, nonce), 'tsa');
    const faultsBy = async (signer: string, isNamed: boolean) => {
      const seal = { ...good, timestamp: authority.signAnew(reply, signer, isNamed) };
      const { mismatches } = await check(seal, { timestampAuthorities: [root] });
      return mismatches.map((each) => each.found).join();
    };
    expect(await faultsBy('tsa', true)).toBe('');
    const expected = 'a time-stamp by a certificate that is not for time-stamps, or is another than it names';
    expect(await faultsBy('tsa', false)).toBe(expected);
    expect(await faultsBy('clerk', true)).toBe(expected);
  });

  test('no byte of a time-stamp can be changed in what it says', async () => {
    const good = await made([leaf.der], { timestamp: stampBy('tsa') });
    const der = Buffer.from(String(good.timestamp), 'base64');
    const says = JSON.stringify((await check(good, { timestampAuthorities: [root] })).timestamp);
    for (let at = 0; at < der.length; at += 31) {
      const changed = Buffer.from(der);
      changed[at] = Number(changed[at]) ^ 1;
      const seal = { ...good, timestamp: changed.toString('base64') };
      const { mismatches, timestamp } = await check(seal, { timestampAuthorities: [root] });
      if (mismatches.length === 0) expect(JSON.stringify(timestamp)).toBe(says);
    }
  });

  test('a reply to another request is not taken', async () => {
    const reply = new Uint8Array(authority.stamp(await stampRequest('a.jws', nonce), 'tsa'));
    expect(await tokenIn(reply, 'a.jws', nonce)).toHaveProperty('token');
    expect(await tokenIn(reply, 'a.jws', nonce.toReversed())).toEqual({ fault: expect.stringContaining('nonce') });
    expect(await tokenIn(reply, 'b.jws', nonce)).toEqual({ fault: 'a time-stamp over something else' });
    const refused = Uint8Array.from([0x30, 0x05, 0x30, 0x03, 0x02, 0x01, 0x02]);
    expect(await tokenIn(refused, 'a.jws', nonce)).toEqual({ fault: 'a refusal, with status 2' });
    expect(await tokenIn(new TextEncoder().encode('<html>'), 'a.jws', nonce)).toHaveProperty('fault');
  });
});
