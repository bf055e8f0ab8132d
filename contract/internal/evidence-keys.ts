/**
 * The Ed25519 keys (RFC 8032) that evidence is signed with.
 *
 * Invariant: the public part of a former key stays published, so that its signatures can always be verified.
 */
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { readList, type SettingReader } from './environment.ts';
import { isPublicKey, type PublicJwk, publicJwkOf } from './public-jwk.ts';

export const keySetPath = '/.well-known/jwks.json';

/** The private part of a key cannot be reached. `isTemporary`: it may be there in a moment, without anybody's help. */
export class KeyAwayError extends Error {
  readonly isTemporary: boolean;

  constructor(message: string, { isTemporary }: { readonly isTemporary: boolean }) {
    super(message);
    this.isTemporary = isTemporary;
  }
}

/** A key, wherever its private part is. */
export interface SigningKey {
  readonly publicJwk: PublicJwk;
  /** Former keys, whose signatures stay valid. */
  readonly former?: readonly PublicJwk[];
  /** Resolves with the 64 bytes of a signature by Ed25519 over `bytes`. Rejects with a KeyAwayError while the private key cannot be reached. */
  sign(bytes: Uint8Array): Promise<Uint8Array>;
}

/** PKCS #8 prefix of the 32 key bytes (RFC 8410). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');

/** `seed`: 32 bytes, the private key of RFC 8032, as 64 hexadecimal digits. */
export function signingKeyOf(seed: string): SigningKey {
  const key = Buffer.concat([pkcs8Head, Buffer.from(seed, 'hex')]);
  const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { publicJwk: publicJwkOf(x), sign: async (bytes) => sign(null, bytes, privateKey) };
}

/** Reads `GW_EVIDENCE_PUBLIC_KEYS`: `<key>,<key>`, the current one first. */
export function readPublicKeys(settings: SettingReader): string[] {
  const keys = readList(settings, 'GW_EVIDENCE_PUBLIC_KEYS');
  if (!keys.every(isPublicKey))
    settings.problem(
      'GW_EVIDENCE_PUBLIC_KEYS is not a list of public Ed25519 keys (32 bytes in base64url, 43 characters each). The control plane logs its own at startup.',
    );
  return keys;
}
