import { randomUUID } from 'node:crypto';

/** Makes a UUIDv7 with a prefix: the time in its first 48 bits is the receipt's `created_at`, the rest is random. */
export function newReceiptId(nowMs: number): string {
  const time = nowMs.toString(16).padStart(12, '0');
  // Node buffers the random bytes of UUIDs; asking for 16 bytes alone takes some 40 µs.
  return `rcpt_${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
