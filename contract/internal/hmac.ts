/** HMAC-SHA-256 (RFC 2104) from two one-shot hashes, because `createHmac` in Node 24 takes five times as long for an API key. */
import { hash } from 'node:crypto';

const blockBytes = 64;

/** Encodes `text` as UTF-8. Returns 32 bytes. */
export function hmacSha256(secret: Uint8Array, text: string): Buffer {
  const key = secret.length > blockBytes ? hash('sha256', secret, 'buffer') : secret;
  const inner = Buffer.alloc(blockBytes + Buffer.byteLength(text));
  const outer = Buffer.alloc(blockBytes + 32);
  for (let at = 0; at < blockBytes; at += 1) {
    const byte = key[at] ?? 0;
    inner[at] = byte ^ 0x36;
    outer[at] = byte ^ 0x5c;
  }
  inner.write(text, blockBytes);
  outer.write(hash('sha256', inner), blockBytes, 'hex');
  return hash('sha256', outer, 'buffer');
}
