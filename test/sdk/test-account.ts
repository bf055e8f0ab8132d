/**
 * Accounts and keys that no other test knows: what their ledger holds, and which limit they reach, is up to one test.
 *
 * They are written where the operator API would write them, so that a test needs no state of the shared demo accounts.
 */
import { randomBytes } from 'node:crypto';
import { defaultScopes, type Scope, type ShadowLimit } from '@gw/contract/access';
import { generateApiKey, hashApiKey } from '@gw/contract/internal/api-key';
import { keyChangedChannel } from '@gw/contract/internal/redis';
import { type Database, openDatabase } from '@gw/prisma/client';
import { loadSecrets } from '@gw/stack/secrets';
import { Redis } from 'ioredis';
import { afterAll } from 'vitest';
import { stack as shared } from '../shared-stack.ts';

export interface AccountOptions {
  /** Requests a day; default: the tier's. With any limit of its own the account is of the tier Enterprise. */
  readonly perDay?: number;
  /** Requests a second, and as many at once unless `burst` says otherwise. */
  readonly perS?: number;
  readonly burst?: number;
  /** Open streams. */
  readonly streams?: number;
  /** Tokens of prompts and answers, in any tier. */
  readonly tokensPerMinute?: number;
  readonly tokensPerDay?: number;
  /** Limits that are counted and refuse nothing. */
  readonly shadow?: readonly ShadowLimit[];
  readonly state?: 'active' | 'suspended';
  readonly models?: readonly string[];
}

export interface KeyOptions {
  readonly scopes?: readonly Scope[];
  readonly revokedAt?: Date;
  readonly expiresAt?: Date;
  /** The part of the account's open streams that it may have. */
  readonly keyStreams?: number;
}

export interface TestAccounts {
  /** A new account with one key; returns the key. Audit, unless its scopes or its expiry need Audit Plus. */
  create(account?: AccountOptions, key?: KeyOptions): Promise<string>;
  readonly db: Database;
  close(): Promise<void>;
}

interface AccountStack {
  readonly databaseUrl: string;
  readonly dir: string;
  /** Absent: nobody is told of new keys, and only twenty a second work at once (docs/decisions/0007-list-of-key-ids.md). */
  readonly redisUrl?: string;
}

/** `stack`: default the shared one. */
export function openTestAccounts(stack: AccountStack = shared): TestAccounts {
  const db = openDatabase(stack.databaseUrl, { connections: 1 });
  const redis = stack.redisUrl === undefined ? null : new Redis(stack.redisUrl);
  const pepper = Buffer.from(loadSecrets(stack.dir).pepper, 'hex');
  return {
    db,
    close: async () => {
      redis?.disconnect();
      await db.$disconnect();
    },
    async create(account = {}, key = {}) {
      const { burst, perDay, perS, streams, shadow, state, models, tokensPerMinute, tokensPerDay } = account;
      const { scopes = defaultScopes, revokedAt, expiresAt, keyStreams } = key;
      const { plaintext, publicId } = generateApiKey(randomBytes);
      const accountId = `acct_test_${publicId}`;
      const isDefault = expiresAt === undefined && scopes.every((scope) => defaultScopes.includes(scope));
      // Limits of its own are Enterprise's; there all are negotiated together.
      const negotiated = [burst, perDay, perS, streams, shadow, keyStreams].some((limit) => limit !== undefined);
      const tier = negotiated ? 'enterprise' : isDefault ? 'audit' : 'audit_plus';
      await db.account.create({
        data: {
          id: accountId,
          name: 'Test',
          tier,
          ...(state && { state }),
          ...(models && { models: [...models] }),
          ...(negotiated && {
            limitPerDay: perDay ?? 100_000,
            limitPerS: perS ?? 50,
            limitBurst: burst ?? perS ?? 200,
          }),
          ...(streams !== undefined && { limitStreams: streams }),
          ...(tokensPerMinute !== undefined && { tokensPerMinute }),
          ...(tokensPerDay !== undefined && { tokensPerDay }),
          ...(shadow && { limitShadow: [...shadow] }),
        },
      });
      await db.apiKey.create({
        data: {
          publicId,
          accountId,
          name: 'Test',
          hash: new Uint8Array(hashApiKey(plaintext, pepper)),
          scopes: [...scopes],
          ...(revokedAt && { revokedAt }),
          ...(expiresAt && { expiresAt }),
          ...(keyStreams !== undefined && { limitStreams: keyStreams }),
        },
      });
      // As the control plane does when it has issued one.
      await redis?.publish(keyChangedChannel, publicId);
      return plaintext;
    },
  };
}

/** Accounts on the shared stack, and its Redis, until the tests of the file are over. */
export function accountsForFile(): TestAccounts & { readonly redis: Redis } {
  const accounts = openTestAccounts();
  const redis = new Redis(shared.redisUrl, { lazyConnect: true });
  afterAll(async () => {
    redis.disconnect();
    await accounts.close();
  });
  return { ...accounts, redis };
}
