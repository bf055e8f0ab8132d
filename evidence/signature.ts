/** Makes and checks detached signatures (RFC 7797, Ed25519) over JSON by RFC 8785. */
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import { isPublicKey, type PublicJwk, publicJwkOf } from '@gw/contract/internal/public-jwk';
import { base64url, errors, flattenedVerify, importJWK } from 'jose';
import { canonicalText } from './canonical.ts';
import { isNode } from './receipt-node.ts';

/**
 * The keys to trust: published keys, or the thumbprint of one (RFC 7638). Without either a signature proves only that the signer
 * has the key that the pack names.
 */
export interface Trust {
  /** The `keys` of a JSON Web Key Set that came from the gateway. */
  readonly keys?: readonly unknown[];
  readonly thumbprint?: string;
}

/** `unauthenticated`: it fits the key in the pack, and nobody said which keys to trust. `unknown_key`: it is by none of the trusted keys. */
export type SignatureCheck = 'trusted' | 'unauthenticated' | 'unknown_key' | 'invalid';

export interface Signed {
  /** The signer's key. It can be trusted only if it is known from elsewhere. */
  readonly key: PublicJwk;
  /** Detached, compact form, over the value as JSON by RFC 8785. */
  readonly jws: string;
  /** Only of a seal (seal.ts): a time-stamp (RFC 3161) over `jws`, DER in base64. */
  readonly timestamp?: string;
}

/** A signature that has the one form of ours. */
export interface StatedSignature {
  readonly signer: PublicJwk;
  readonly jws: string;
  /** `x5c` of the header; null: it has none. */
  readonly certificates: readonly string[] | null;
  readonly timestamp: string | null;
}

const headOf = (kid: string, certificates: readonly string[] | null): string => {
  const head = { alg: 'EdDSA', kid, b64: false, crit: ['b64'], ...(certificates !== null && { x5c: certificates }) };
  return base64url.encode(JSON.stringify(head));
};

/** `certificates`: DER in base64, the leaf first; null: the header has none. */
export async function signed(
  value: unknown,
  key: SigningKey,
  certificates: readonly string[] | null = null,
): Promise<Signed> {
  const head = headOf(key.publicJwk.kid, certificates);
  const signature = await key.sign(new TextEncoder().encode(`${head}.${canonicalText(value)}`));
  return { key: key.publicJwk, jws: `${head}..${base64url.encode(signature)}` };
}

const xOf = (key: unknown): string[] => {
  const { crv, x } = isNode(key) ? key : {};
  return crv === 'Ed25519' && typeof x === 'string' && isPublicKey(x) ? [x] : [];
};

/** 64 bytes. Only the first two bits of the last character count, so other characters in its place would stand for the same bytes. */
const signatureForm = /^[A-Za-z0-9_-]{85}[AQgw]$/;

/** The public key that a signature brings along; null: it is none, or says more than a key. */
export function signerIn(key: unknown): PublicJwk | null {
  const [x] = xOf(key);
  const signer = x === undefined ? null : publicJwkOf(x);
  // Nothing else may stand in it, because it would not be signed.
  return signer !== null && canonicalText(key) === canonicalText(signer) ? signer : null;
}

/** Says what a signature by a key is worth that fits it. */
export function trusted({ kid }: PublicJwk, trust: Trust): SignatureCheck {
  if (trust.keys === undefined && trust.thumbprint === undefined) return 'unauthenticated';
  const known = (trust.keys ?? []).flatMap(xOf).map((each) => publicJwkOf(each).kid);
  return kid === trust.thumbprint || known.includes(kid) ? 'trusted' : 'unknown_key';
}

/** Base64 in its one form, of 100,000 bytes at most. */
const isBase64 = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= 134_000 && encodedAgain(value) === value;

function encodedAgain(text: string): string | null {
  try {
    return btoa(atob(text));
  } catch {
    return null;
  }
}

const mostCertificates = 8;

/** `x5c` of any header; undefined: it is in no form of ours. */
function certificatesIn(head: string): readonly string[] | null | undefined {
  try {
    const { x5c = null } = JSON.parse(new TextDecoder().decode(base64url.decode(head)));
    if (x5c === null) return null;
    return Array.isArray(x5c) && x5c.length > 0 && x5c.length <= mostCertificates && x5c.every(isBase64)
      ? x5c
      : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the parts of any `signature`; null: it is not in the one form of ours. */
export function statedSignature(signature: unknown): StatedSignature | null {
  const { jws, key, timestamp, ...rest } = isNode(signature) ? signature : {};
  const signer = signerIn(key);
  // Nothing else may stand in it, because it would not be signed.
  if (signer === null || typeof jws !== 'string' || Object.keys(rest).length > 0) return null;
  if (!(timestamp === undefined || isBase64(timestamp))) return null;
  const [head = '', tail = ''] = jws.split('..');
  const certificates = certificatesIn(head);
  if (certificates === undefined) return null;
  const isOurs = jws === `${headOf(signer.kid, certificates)}..${tail}` && signatureForm.test(tail);
  return isOurs ? { signer, jws, certificates, timestamp: timestamp ?? null } : null;
}

/** Says what a signature is worth. Rejects only for an error of the program or of the platform. */
export async function checkStated(value: unknown, stated: StatedSignature, trust: Trust): Promise<SignatureCheck> {
  const { jws, signer } = stated;
  const [head = '', signature = ''] = jws.split('..');
  const flattened = { protected: head, payload: canonicalText(value ?? null), signature };
  return (await fits(signer, flattened)) ? trusted(signer, trust) : 'invalid';
}

/** Says the same of any `signature` without certificates and without a time-stamp, as all have but those of packs and tables. */
export async function checkSignature(value: unknown, signature: unknown, trust: Trust): Promise<SignatureCheck> {
  const stated = statedSignature(signature);
  if (stated === null || stated.certificates !== null || stated.timestamp !== null) return 'invalid';
  return checkStated(value, stated, trust);
}

async function fits(signer: PublicJwk, stated: Parameters<typeof flattenedVerify>[0]): Promise<boolean> {
  try {
    await flattenedVerify(stated, await importJWK({ ...signer }), { algorithms: ['EdDSA'] });
    return true;
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return false;
    throw error;
  }
}
