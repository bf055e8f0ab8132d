/**
 * Tokens that prove who somebody is: 256 random bits each.
 *
 * Invariant: only the SHA-256 is stored. A plain hash is enough here, as nobody can guess 256 bits; argon2id is for
 * what people choose.
 */
import { createHash, randomBytes } from 'node:crypto';

const operatorTokenPrefix = 'gwop_';

/** Returns the SHA-256 of a token, by which it is stored and found. */
export const hashToken = (token: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash('sha256').update(token, 'utf8').digest());

export const makeSessionToken = (): string => randomBytes(32).toString('base64url');

export const makeOperatorToken = (): string => `${operatorTokenPrefix}${randomBytes(32).toString('base64url')}`;

/** Whether the text has the form of an operator token; it need not be a valid one. */
export const isOperatorToken = (text: string): boolean => /^gwop_[A-Za-z0-9_-]{43}$/.test(text);

/** Whether the text has the form of a session token; it need not be a valid one. */
export const isSessionToken = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);
