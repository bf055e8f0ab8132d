/** Who has signed a manifest. */
import { isPublicKey, publicJwkOf } from '@gw/contract/internal/evidence-keys';
import { decodeProtectedHeader, flattenedVerify, importJWK } from 'jose';
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

interface Signature {
  readonly key: { readonly x: string };
  readonly jws: string;
}

const xOf = (key: unknown): string[] => {
  const { crv, x } = (key ?? {}) as { readonly crv?: unknown; readonly x?: unknown };
  return crv === 'Ed25519' && typeof x === 'string' && isPublicKey(x) ? [x] : [];
};

/** Never rejects. */
export async function checkSignature(manifest: unknown, signature: unknown, trust: Trust): Promise<SignatureCheck> {
  try {
    const { jws, key } = signature as Signature;
    const signer = publicJwkOf(key.x);
    // Nothing beside it: what is not signed must say nothing.
    if (canonicalText(signature) !== canonicalText({ key: signer, jws })) return 'invalid';
    const [head = '', payload, tail = '', ...more] = jws.split('.');
    if (payload !== '' || more.length > 0 || decodeProtectedHeader({ protected: head }).kid !== signer.kid)
      return 'invalid';
    const signed = { protected: head, payload: canonicalText(manifest), signature: tail };
    await flattenedVerify(signed, await importJWK({ ...signer }), { algorithms: ['EdDSA'] });
    // Others of the last character stand for the same bytes.
    if (Buffer.from(tail, 'base64url').toString('base64url') !== tail) return 'invalid';
    if (trust.keys === undefined && trust.thumbprint === undefined) return 'unauthenticated';
    const known = (trust.keys ?? []).flatMap(xOf).map((x) => publicJwkOf(x).kid);
    return signer.kid === trust.thumbprint || known.includes(signer.kid) ? 'trusted' : 'unknown_key';
  } catch {
    return 'invalid';
  }
}
