import { randomBytes } from 'node:crypto';
import { generateApiKey, hashApiKey } from '@gw/contract/internal/api-key';
import type { FoundKey } from '@gw/prisma/find-key';
import { storedKey } from '@gw/testing/ext-authz/stored-key';
import { describe, expect, it } from 'vitest';
import { makeCheck } from './check.ts';
import { KeyCache } from './keys/key-cache.ts';

const pepper = Buffer.alloc(32, 7);
const { plaintext, publicId } = generateApiKey(randomBytes);
const now = Date.parse('2026-11-21T09:00:00Z');
const addresses = { baseUrl: 'http://gw.test', statusUrl: '', auditEmail: '', securityEmail: 'security@gw.test' };
const silentNotes = { used: () => {}, failed: () => {} };

const stored = storedKey({
  publicId,
  hash: hashApiKey(plaintext, pepper),
  scopes: ['inference:read', 'inference:write'],
});

interface CheckCase {
  readonly found?: Partial<FoundKey> | null | Error;
  readonly authorization?: string;
  readonly scope?: string;
  readonly handler?: string;
  readonly openTo?: string;
}

/** `[status, code]` of the refusal, or `ok`. */
async function ask({
  found = {},
  authorization = `Bearer ${plaintext}`,
  scope = 'inference:write',
  handler = 'sidecar',
  openTo = 'active',
}: CheckCase) {
  const find = async () => {
    if (found instanceof Error) throw found;
    return found === null ? null : { ...stored, ...found };
  };
  const cache = new KeyCache({ find }, { now: () => 0, capacity: 10, graceMs: 1000, admit: () => 'look_up' });
  const peppers = { current: { version: 1, secret: pepper }, other: null };
  const context = {
    cache,
    peppers,
    renew: () => {},
    notes: silentNotes,
    now: () => now,
    addresses,
    errors: { note: () => {} },
  };
  const check = makeCheck(context);
  const answer = await check({
    attributes: {
      contextExtensions: { scope, handler, open_to: openTo },
      request: { http: { headers: { authorization } } },
    },
  });
  const { deniedResponse } = answer;
  if (!deniedResponse) return 'ok';
  return [deniedResponse.status?.code, JSON.parse(String(deniedResponse.body)).error.code];
}

describe('the check of a call', () => {
  it('lets a key with the scope in', async () => expect(await ask({})).toBe('ok'));

  it('refuses in the order key, account, scope', async () => {
    const suspended = { account: { ...stored.account, state: 'suspended' as const } };
    expect(await ask({ authorization: 'Bearer nonsense' })).toEqual([401, 'invalid_api_key']);
    expect(await ask({ authorization: plaintext })).toEqual([401, 'invalid_api_key']);
    expect(await ask({ found: null })).toEqual([401, 'invalid_api_key']);
    expect(await ask({ found: { hash: Buffer.alloc(32) } })).toEqual([401, 'invalid_api_key']);
    expect(await ask({ found: { ...suspended, state: 'revoked' } })).toEqual([401, 'revoked_api_key']);
    expect(await ask({ found: { ...suspended, scopes: [] } })).toEqual([403, 'customer_suspended']);
    expect(await ask({ found: { scopes: ['gw:read'] } })).toEqual([403, 'insufficient_scope']);
  });

  it('lets a key expire at its very moment, and says revoked before expired', async () => {
    expect(await ask({ found: { expiresAt: new Date(now + 1) } })).toBe('ok');
    expect(await ask({ found: { expiresAt: new Date(now) } })).toEqual([401, 'expired_api_key']);
    expect(await ask({ found: { expiresAt: new Date(0), state: 'revoked' } })).toEqual([401, 'revoked_api_key']);
  });

  it('leaves the reads of a suspended account open', async () => {
    const found = { account: { ...stored.account, state: 'suspended' as const } };
    expect(await ask({ found, scope: 'inference:read', handler: 'control', openTo: 'all' })).toBe('ok');
    expect(await ask({ found, scope: 'admin:keys', handler: 'control' })).toEqual([403, 'customer_suspended']);
    expect(await ask({ found, scope: 'inference:read', handler: 'control', openTo: '' })).toEqual([
      403,
      'customer_suspended',
    ]);
  });

  it('fails closed: when no store answers, and on a route that names no scope', async () => {
    expect(await ask({ found: new Error('away') })).toEqual([500, 'internal_error']);
    expect(await ask({ scope: '' })).toEqual([500, 'internal_error']);
  });
});

describe('what a verified call tells those behind Envoy', () => {
  const fieldsOf = async (found: Partial<FoundKey>) => {
    const key = { ...stored, ...found };
    const find = async () => key;
    const check = makeCheck({
      cache: new KeyCache({ find }, { now: () => 0, capacity: 10, graceMs: 1000, admit: () => 'look_up' }),
      peppers: { current: { version: 1, secret: pepper }, other: null },
      renew: () => {},
      notes: silentNotes,
      now: () => now,
      addresses,
      errors: { note: () => {} },
    });
    const headers = { authorization: `Bearer ${plaintext}` };
    const contextExtensions = { scope: 'inference:write', handler: 'sidecar' };
    const answer = await check({ attributes: { contextExtensions, request: { http: { headers } } } });
    const fields = Object.entries(answer.dynamicMetadata?.fields ?? {});
    return Object.fromEntries(fields.map(([name, value]) => [name, value.stringValue]));
  };

  it('names the streams of the account, and says if they are in shadow', async () => {
    expect(await fieldsOf({})).toMatchObject({ streams: '25' });
    const account = { ...stored.account, shadow: ['streams'] } as const;
    expect(await fieldsOf({ account })).toMatchObject({ streams: '25:shadow' });
  });

  it('names the project of the key, if it is for one', async () => {
    expect(await fieldsOf({})).not.toHaveProperty('project');
    expect(await fieldsOf({ project: 'Köln' })).toMatchObject({ project: 'Köln' });
  });

  it('names the streams of the key where it has fewer', async () => {
    expect(await fieldsOf({})).not.toHaveProperty('key_streams');
    expect(await fieldsOf({})).not.toHaveProperty('tolerance');
    const account = { ...stored.account, tolerance: { addedLatencyMs: null, addedCostPercent: 10 } };
    expect(await fieldsOf({ account })).toMatchObject({ tolerance: ':10' });
    const limits = { ratePerS: null, burst: null, perDay: null, streams: 3 };
    expect(await fieldsOf({ limits })).toMatchObject({ streams: '25', key_streams: '3' });
  });
});
