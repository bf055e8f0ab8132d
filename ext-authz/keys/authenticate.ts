/**
 * From the Authorization header to an identity, or to the reason why not.
 *
 * Invariant: malformed keys are refused by their checksum, before any look-up; hashes are compared in constant time.
 */
import { timingSafeEqual } from 'node:crypto';
import type { CatalogueCode } from '@gw/contract/error-catalogue';
import { hashApiKey, parseApiKey } from '@gw/contract/internal/api-key';
import type { FoundKey } from '@gw/prisma/find-key';
import type { KeyCache } from './key-cache.ts';

export type Authentication =
  | { readonly ok: true; readonly key: FoundKey }
  | {
      readonly ok: false;
      readonly code: Extract<CatalogueCode, 'invalid_api_key' | 'revoked_api_key' | 'expired_api_key'>;
    };

export interface AuthenticateContext {
  readonly cache: KeyCache;
  readonly pepper: Buffer;
  /** Wall-clock time, ms since 1970: an expiry holds at its second. */
  readonly now: () => number;
}

const invalid: Authentication = { ok: false, code: 'invalid_api_key' };

export async function authenticate(
  authorization: string | undefined,
  context: AuthenticateContext,
): Promise<Authentication> {
  const [scheme, text] = (authorization ?? '').trim().split(/\s+/, 2);
  if (scheme?.toLowerCase() !== 'bearer' || text === undefined) return invalid;
  const parsed = parseApiKey(text);
  if (!parsed) return invalid;
  const key = await context.cache.find(parsed.publicId);
  if (!key?.hash || !timingSafeEqual(hashApiKey(parsed.secretAndAll, context.pepper), key.hash)) return invalid;
  if (key.state === 'revoked') return { ok: false, code: 'revoked_api_key' };
  if (key.expiresAt && key.expiresAt.getTime() <= context.now()) return { ok: false, code: 'expired_api_key' };
  return { ok: true, key };
}
