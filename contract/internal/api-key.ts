/**
 * The API key: `gw_` + 12-character public id + `_` + 43-character secret + 6-character checksum.
 *
 * Invariant: the checksum alone refuses a mistyped or made-up key, before any lookup. The public id may be shown and logged,
 * the rest of the key never.
 */
import { crc32 } from 'node:zlib';
import { hmacSha256 } from './hmac.ts';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const publicIdLength = 12;
const secretBytes = 32;
const checksumLength = 6;
const shape = /^gw_([0-9A-Za-z]{12})_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$/;

/** `crypto.randomBytes` outside tests. */
export type RandomBytes = (bytes: number) => Buffer;

export interface NewApiKey {
  readonly plaintext: string;
  readonly publicId: string;
}

export interface ParsedApiKey {
  readonly publicId: string;
  /** The whole key as it was sent, for `hashApiKey`. */
  readonly secretAndAll: string;
}

export function generateApiKey(random: RandomBytes): NewApiKey {
  const publicId = randomPublicId(random);
  const body = `gw_${publicId}_${random(secretBytes).toString('base64url')}`;
  return { plaintext: body + checksum(body), publicId };
}

/** Returns the parts of a key, or null if the text does not have the shape of a key or its checksum is wrong. */
export function parseApiKey(text: string): ParsedApiKey | null {
  const publicId = shape.exec(text)?.[1];
  if (publicId === undefined) return null;
  if (checksum(text.slice(0, -checksumLength)) !== text.slice(-checksumLength)) return null;
  return { publicId, secretAndAll: text };
}

/** Returns the HMAC-SHA-256 (32 bytes) of a key. The pepper is not in the database, so a stolen table verifies nothing. */
export function hashApiKey(plaintext: string, pepper: Buffer): Buffer {
  return hmacSha256(pepper, plaintext);
}

/** CRC-32 detects every error within 32 bits, so every change of one character. */
function checksum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let i = 0; i < checksumLength; i++) {
    digits = base62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

function randomPublicId(random: RandomBytes): string {
  let id = '';
  while (id.length < publicIdLength) {
    for (const byte of random(publicIdLength)) {
      // 248 is the largest multiple of 62 in a byte; bytes above it would favour the first letters.
      if (byte < 248 && id.length < publicIdLength) id += base62.charAt(byte % 62);
    }
  }
  return id;
}
