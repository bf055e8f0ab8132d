/**
 * Certificates (X.509, RFC 5280) that name the organisation behind a key. The module is loaded only where there is one, because the parser is long.
 *
 * Invariant: a chain holds only as a whole: each signature, the time, the use of each key, the depth that an authority may have. What this
 * program does not know and a certificate calls critical, constraints of names among it, makes a chain fail. Nobody is asked whether a
 * certificate was revoked, because a pack is checked without a network.
 */
import { BasicConstraints, Certificate, type Extension, ExtKeyUsage } from 'pkijs';

export type { Certificate } from 'pkijs';

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));

/** `base64`: of DER. Null: no certificate can be read there. */
export function certificateOf(base64: string): Certificate | null {
  try {
    return Certificate.fromBER(bytesOf(base64));
  } catch {
    return null;
  }
}

const attributes = { organisation: '2.5.4.10', commonName: '2.5.4.3' };

const valuesOf = ({ subject }: Certificate, wanted: string): string[] =>
  subject.typesAndValues.filter(({ type }) => type === wanted).map(({ value }) => String(value.valueBlock.value));

/** The organisation and the common name of its holder, as far as it has them. */
export function nameOf(certificate: Certificate): string {
  const of = (wanted: string) => valuesOf(certificate, wanted).join(' + ');
  const [organisation, commonName] = [of(attributes.organisation), of(attributes.commonName)];
  const parts = [organisation && `O=${organisation}`, commonName && `CN=${commonName}`].filter(Boolean);
  return parts.join(', ') || 'nobody';
}

const extensions = {
  subjectKey: '2.5.29.14',
  keyUsage: '2.5.29.15',
  otherNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  policies: '2.5.29.32',
  authorityKey: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
};
const known: readonly string[] = Object.values(extensions);

const extensionOf = (certificate: Certificate, wanted: string): Extension | undefined =>
  certificate.extensions?.find(({ extnID }) => extnID === wanted);

/** Bits of the first byte of the key usage. */
const uses = { sign: 0x80, commit: 0x40, certify: 0x04 };

/** Whether its key may be used so. Without the extension it may be used for anything. */
function mayBeUsed(certificate: Certificate, bits: number): boolean {
  const usage = extensionOf(certificate, extensions.keyUsage);
  if (usage === undefined) return true;
  const [first = 0] = usage.parsedValue?.valueBlock?.valueHexView ?? [];
  return (first & bits) !== 0;
}

/** Whether an authority may have `below` further authorities between itself and the leaf. */
function isAuthority(certificate: Certificate, below: number): boolean {
  const constraints = extensionOf(certificate, extensions.basicConstraints)?.parsedValue;
  if (!(constraints instanceof BasicConstraints) || !constraints.cA) return false;
  const most = constraints.pathLenConstraint;
  return (most === undefined || below <= Number(most)) && mayBeUsed(certificate, uses.certify);
}

/** It stands for Ed25519 (RFC 8410), in signatures and keys. pkijs does not know it. */
const ed25519 = '1.3.101.112';
const weak: readonly string[] = ['1.2.840.113549.1.1.4', '1.2.840.113549.1.1.5', '1.2.840.10045.4.1'];

const keyOf = ({ subjectPublicKeyInfo }: Certificate): Uint8Array<ArrayBuffer> =>
  new Uint8Array(subjectPublicKeyInfo.subjectPublicKey.valueBlock.valueHexView);

/** Whether it is a certificate for this public Ed25519 key, 32 bytes in base64url. */
export function isOfKey(certificate: Certificate, x: string): boolean {
  const stated = btoa(String.fromCharCode(...keyOf(certificate)));
  const isEd25519 = certificate.subjectPublicKeyInfo.algorithm.algorithmId === ed25519;
  return isEd25519 && stated.replace(/=+$/, '') === x.replaceAll('-', '+').replaceAll('_', '/');
}

async function isSignedBy(certificate: Certificate, issuer: Certificate): Promise<boolean> {
  const { algorithmId } = certificate.signatureAlgorithm;
  if (algorithmId !== certificate.signature.algorithmId || weak.includes(algorithmId)) return false;
  if (!certificate.issuer.isEqual(issuer.subject)) return false;
  try {
    if (algorithmId !== ed25519) return await certificate.verify(issuer);
    const key = await crypto.subtle.importKey('raw', keyOf(issuer), 'Ed25519', false, ['verify']);
    const signature = new Uint8Array(certificate.signatureValue.valueBlock.valueHexView);
    return await crypto.subtle.verify('Ed25519', key, signature, new Uint8Array(certificate.tbsView));
  } catch {
    return false;
  }
}

async function issuerOf(certificate: Certificate, among: readonly Certificate[]): Promise<Certificate | null> {
  for (const each of among) if (await isSignedBy(certificate, each)) return each;
  return null;
}

const isSame = (one: Certificate, other: Certificate): boolean =>
  btoa(String.fromCharCode(...one.tbsView)) === btoa(String.fromCharCode(...other.tbsView));

/** More authorities than any chain has. */
const mostAuthorities = 8;

/** Returns the certificates from the leaf to one of `roots`; null: none of them has issued it. */
async function pathTo(
  roots: readonly Certificate[],
  [leaf, ...others]: readonly [Certificate, ...Certificate[]],
): Promise<readonly Certificate[] | null> {
  const path = [leaf];
  for (let last = leaf; path.length <= mostAuthorities; ) {
    const root = await issuerOf(last, roots);
    if (root !== null) return [...path, root];
    const next = await issuerOf(
      last,
      others.filter((each) => !path.some((before) => isSame(before, each))),
    );
    if (next === null) return null;
    path.push(next);
    last = next;
  }
  return null;
}

/**
 * Returns why the chain does not hold, in words that follow "a chain that holds"; null: it holds. `chain`: the leaf, then in any order what leads
 * to one of `roots`. `at`: when it has to be valid.
 */
export async function chainFault(
  chain: readonly [Certificate, ...Certificate[]],
  roots: readonly Certificate[],
  at: Date,
): Promise<string | null> {
  const path = await pathTo(roots, chain);
  if (path === null) return 'one that leads to none of the authorities that you trust';
  for (const [place, each] of path.entries()) {
    const name = nameOf(each);
    if (!(each.notBefore.value <= at && at <= each.notAfter.value))
      return `${name}, which was not valid at ${at.toISOString()}`;
    const unknown = each.extensions?.find(({ critical, extnID }) => critical && !known.includes(extnID));
    if (unknown !== undefined) return `${name} with a critical extension that is not known, ${unknown.extnID}`;
    if (place > 0 && !isAuthority(each, place - 1)) return `${name}, which may not issue such a certificate`;
  }
  return mayBeUsed(chain[0], uses.sign | uses.commit) ? null : `${nameOf(chain[0])}, whose key may not sign`;
}

const purposesOf = (certificate: Certificate): readonly string[] | null => {
  const usage = extensionOf(certificate, extensions.extendedKeyUsage);
  if (usage === undefined) return null;
  return usage.parsedValue instanceof ExtKeyUsage ? usage.parsedValue.keyPurposes : [];
};

/** RFC 9336, and RFC 5280, 4.2.1.12. */
const signingPurposes: readonly string[] = ['1.3.6.1.5.5.7.3.36', '2.5.29.37.0'];

/** Returns why a leaf may not sign packs, in words that follow "a certificate that is for signing"; null: it may. */
export function signerFault(leaf: Certificate): string | null {
  const constraints = extensionOf(leaf, extensions.basicConstraints);
  // If it cannot be read, it might say that it is one.
  if (constraints && !(constraints.parsedValue instanceof BasicConstraints && !constraints.parsedValue.cA))
    return `that of an authority, ${nameOf(leaf)}`;
  const purposes = purposesOf(leaf);
  return purposes === null || purposes.some((each) => signingPurposes.includes(each))
    ? null
    : `one for other purposes, ${nameOf(leaf)}`;
}

export const namesOrganisation = (certificate: Certificate, organisation: string): boolean =>
  valuesOf(certificate, attributes.organisation).includes(organisation);

/** Whether it is for time-stamps and nothing else (RFC 3161, 2.3). */
export function isForTimestamps(certificate: Certificate): boolean {
  const usage = extensionOf(certificate, extensions.extendedKeyUsage);
  return usage?.critical === true && purposesOf(certificate)?.join() === '1.3.6.1.5.5.7.3.8';
}
