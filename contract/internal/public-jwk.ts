/**
 * Public Ed25519 keys as JSON Web Keys (RFC 7517, 8037). This module also runs in browsers.
 *
 * Invariant: the id of a key is its thumbprint (RFC 7638), which cannot be chosen.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';

export interface PublicJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  /** 32 bytes in base64url. */
  readonly x: string;
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: 'EdDSA';
}

/** `x`: 32 bytes in base64url. */
export const publicJwkOf = (x: string): PublicJwk => ({
  kty: 'OKP',
  crv: 'Ed25519',
  x,
  kid: base64url(sha256(utf8ToBytes(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x })))),
  use: 'sig',
  alg: 'EdDSA',
});

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');

/** Only the first four bits of the last character count; other characters would encode the same bytes. */
const form = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;
export const isPublicKey = (x: string): boolean => form.test(x);
