import { randomFillSync } from 'node:crypto';

/** The digests of a receipt are made with it, and only the reply has it. */
const saltBytes = 16;
/** Asking for so few bytes alone takes some 40 µs. */
const pool = Buffer.alloc(256 * saltBytes);
let used = pool.length;

/** 32 hexadecimal digits. */
export function newSalt(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const salt = pool.toString('hex', used, used + saltBytes);
  // It is a secret from here on.
  pool.fill(0, used, used + saltBytes);
  used += saltBytes;
  return salt;
}
