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
}

const headerOf = (kid: string) => ({ alg: 'EdDSA', kid, b64: false, crit: ['b64'] });

export async function signed(value: unknown, key: SigningKey): Promise<Signed> {
  const head = base64url.encode(JSON.stringify(headerOf(key.publicJwk.kid)));
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

/** Says of any `signature` what it is worth. Rejects only for an error of the program or of the platform. */
export async function checkSignature(value: unknown, signature: unknown, trust: Trust): Promise<SignatureCheck> {
  const { jws, key, ...rest } = isNode(signature) ? signature : {};
  const signer = signerIn(key);
  if (signer === null || typeof jws !== 'string' || Object.keys(rest).length > 0) return 'invalid';
  const head = base64url.encode(JSON.stringify(headerOf(signer.kid)));
  const tail = jws.slice(head.length + 2);
  if (jws !== `${head}..${tail}` || !signatureForm.test(tail)) return 'invalid';
  const stated = { protected: head, payload: canonicalText(value ?? null), signature: tail };
  return (await fits(signer, stated)) ? trusted(signer, trust) : 'invalid';
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
