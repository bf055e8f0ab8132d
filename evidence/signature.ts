/** Signatures over JSON: detached (RFC 7797), Ed25519, over RFC 8785; and who has signed. */
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import { isPublicKey, type PublicJwk, publicJwkOf } from '@gw/contract/internal/public-jwk';
import { decodeProtectedHeader, FlattenedSign, flattenedVerify, importJWK } from 'jose';
import { canonicalText } from './canonical.ts';

/**
 * Whom to believe: published keys, or the thumbprint of one (RFC 7638). Without either a signature proves only that whoever
 * has signed has the key that the pack names.
 */
export interface Trust {
  /** Of a JSON Web Key Set, as it was had from the gateway. */
  readonly keys?: readonly unknown[];
  readonly thumbprint?: string;
}

/** `unauthenticated`: it fits the key in the pack, which nobody here knows. `unknown_key`: it is by none of the trusted ones. */
export type SignatureCheck = 'trusted' | 'unauthenticated' | 'unknown_key' | 'invalid';

export interface Signed {
  /** Of the one who signed; only whoever knows it from elsewhere can trust it. */
  readonly key: PublicJwk;
  /** Detached and compact: over the value, as JSON by RFC 8785. */
  readonly jws: string;
}

export async function signed(value: unknown, { privateKey, publicJwk }: SigningKey): Promise<Signed> {
  const { protected: head, signature } = await new FlattenedSign(new TextEncoder().encode(canonicalText(value)))
    .setProtectedHeader({ alg: 'EdDSA', kid: publicJwk.kid, b64: false, crit: ['b64'] })
    .sign(privateKey);
  return { key: publicJwk, jws: `${head}..${signature}` };
}

const xOf = (key: unknown): string[] => {
  const { crv, x } = (key ?? {}) as { readonly crv?: unknown; readonly x?: unknown };
  return crv === 'Ed25519' && typeof x === 'string' && isPublicKey(x) ? [x] : [];
};

/** 64 bytes. Of the last character only the first two bits count; others of it would stand for the same bytes. */
const signatureForm = /^[A-Za-z0-9_-]{85}[AQgw]$/;

/** Never rejects. */
export async function checkSignature(value: unknown, signature: unknown, trust: Trust): Promise<SignatureCheck> {
  try {
    const { jws, key } = signature as Signed;
    const signer = publicJwkOf(key.x);
    // Nothing beside it: what is not signed must say nothing.
    if (canonicalText(signature) !== canonicalText({ key: signer, jws })) return 'invalid';
    const [head = '', payload, tail = '', ...more] = jws.split('.');
    if (payload !== '' || more.length > 0 || decodeProtectedHeader({ protected: head }).kid !== signer.kid)
      return 'invalid';
    const signed = { protected: head, payload: canonicalText(value), signature: tail };
    await flattenedVerify(signed, await importJWK({ ...signer }), { algorithms: ['EdDSA'] });
    if (!signatureForm.test(tail)) return 'invalid';
    if (trust.keys === undefined && trust.thumbprint === undefined) return 'unauthenticated';
    const known = (trust.keys ?? []).flatMap(xOf).map((x) => publicJwkOf(x).kid);
    return signer.kid === trust.thumbprint || known.includes(signer.kid) ? 'trusted' : 'unknown_key';
  } catch {
    return 'invalid';
  }
}
