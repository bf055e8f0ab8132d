/**
 * Turns an Authorization header into a verified key, or the reason for its refusal.
 *
 * Invariant: the checksum refuses malformed keys before any lookup, and hashes are compared in constant time. A key whose pepper is only
 * configured on another instance is a fault of ours and not a wrong key.
 */
import { timingSafeEqual } from 'node:crypto';
import type { CatalogueCode } from '@gw/contract/error-catalogue';
import { hashApiKey, parseApiKey } from '@gw/contract/internal/api-key';
import { isRetired, type Peppers, pepperOf } from '@gw/contract/internal/pepper';
import { err, ok, type Result } from '@gw/contract/internal/result';
import type { FoundKey } from '@gw/prisma/find-key';
import type { KeyCache } from './key-cache.ts';

type Code = Extract<CatalogueCode, 'invalid_api_key' | 'revoked_api_key' | 'expired_api_key'>;

interface NotVerified {
  readonly code: Code;
  /** The key that failed, or why there is none. */
  readonly whose: FoundKey | 'unknown' | 'malformed' | 'missing';
}

export interface AuthenticateContext {
  readonly cache: KeyCache;
  readonly peppers: Peppers;
  /** False if the pepper of this version is known to be another one than the keys were hashed with. */
  readonly fits: (version: number) => boolean;
  /** Called for a key that was verified with an older pepper. */
  readonly renew: (key: FoundKey, plaintext: string) => void;
  /** Wall clock, ms since 1970. */
  readonly now: () => number;
}

/** A fault of the configuration, which no later try mends. */
export class PepperMissingError extends Error {}

const refused = (code: Code, whose: NotVerified['whose']): Result<never, NotVerified> => err({ code, whose });

export async function authenticate(
  authorization: string | undefined,
  context: AuthenticateContext,
): Promise<Result<FoundKey, NotVerified>> {
  const [scheme, text, ...more] = (authorization ?? '').trim().split(/\s+/, 3);
  if (scheme?.toLowerCase() !== 'bearer' || text === undefined) return refused('invalid_api_key', 'missing');
  const parsed = more.length === 0 ? parseApiKey(text) : null;
  if (!parsed) return refused('invalid_api_key', 'malformed');
  const key = await context.cache.find(parsed.publicId);
  if (!key) return refused('invalid_api_key', 'unknown');
  if (!isGenuine(key, parsed.secretAndAll, context)) return refused('invalid_api_key', key);
  if (key.state === 'revoked') return refused('revoked_api_key', key);
  if (key.expiresAt && key.expiresAt.getTime() <= context.now()) return refused('expired_api_key', key);
  const { version } = context.peppers.current;
  if (key.pepperVersion < version && context.fits(version)) context.renew(key, parsed.secretAndAll);
  return ok(key);
}

function isGenuine(
  { hash, pepperVersion }: FoundKey,
  plaintext: string,
  { fits, peppers }: Pick<AuthenticateContext, 'fits' | 'peppers'>,
): boolean {
  if (!hash) return false;
  const pepper = pepperOf(peppers, pepperVersion);
  // A key that verifies is genuine, whatever the stored digest of the pepper says.
  if (pepper && timingSafeEqual(hashApiKey(plaintext, pepper.secret), hash)) return true;
  if (!fits(pepperVersion))
    throw new PepperMissingError(
      `The pepper of version ${pepperVersion} is not the one that the keys were hashed with.`,
    );
  if (pepper) return false;
  if (isRetired(peppers, pepperVersion)) return false;
  throw new PepperMissingError(
    `A key was hashed with the pepper of version ${pepperVersion}, which is not configured here.`,
  );
}
