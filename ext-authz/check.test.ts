import { randomBytes } from 'node:crypto';
import { generateApiKey, hashApiKey } from '@gw/contract/internal/api-key';
import { callerField } from '@gw/contract/internal/identity';
import type { ICheckResponse } from '@gw/grpc/service';
import type { FoundKey } from '@gw/prisma/find-key';
import { drawnLimits } from '@gw/service/limits/drawn-limits';
import { storedKey } from '@gw/testing/ext-authz/stored-key';
import { describe, expect, it } from 'vitest';
import { limitsText } from './caller.ts';
import { makeCheck } from './check.ts';
import { PepperMissingError } from './keys/authenticate.ts';
import { KeyCache } from './keys/key-cache.ts';
import type { Admission } from './limits/admission.ts';

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

/** A check whose keys come from `find`, and that leaves limits to the next step unless `letIn` says otherwise. */
const checkOf = (find: () => Promise<FoundKey | null>, letIn: Admission['letIn'] = async () => null) =>
  makeCheck({
    cache: new KeyCache({ find }, { now: () => 0, capacity: 10, graceMs: 1000, admit: () => 'look_up' }),
    peppers: { current: { version: 1, secret: pepper }, other: null },
    fits: () => true,
    renew: () => {},
    notes: silentNotes,
    now: () => now,
    addresses,
    errors: { note: () => {} },
    admission: { letIn },
  });

interface CheckCase {
  readonly found?: Partial<FoundKey> | null | Error;
  readonly authorization?: string;
  readonly scope?: string;
  readonly handler?: string;
  readonly openTo?: string;
  readonly limit?: string;
}

/** `[status, code]` of the refusal, or `ok`. */
async function ask({
  found = {},
  authorization = `Bearer ${plaintext}`,
  scope = 'inference:write',
  handler = 'sidecar',
  openTo = 'active',
  limit = 'calls',
}: CheckCase) {
  const find = async () => {
    if (found instanceof Error) throw found;
    return found === null ? null : { ...stored, ...found };
  };
  const answer = await checkOf(find)({
    attributes: {
      contextExtensions: { scope, handler, open_to: openTo, limit },
      request: { http: { headers: { authorization } } },
    },
  });
  const { deniedResponse } = answer;
  if (!deniedResponse) return 'ok';
  return [deniedResponse.status?.code, JSON.parse(String(deniedResponse.body)).error.code];
}

const noLimits = {
  ratePerS: null,
  burst: null,
  perDay: null,
  streams: null,
  tokensPerMinute: null,
  tokensPerDay: null,
};

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

  it('fails closed: when no store answers, and on a route that names no scope or no limit', async () => {
    expect(await ask({ found: new Error('away') })).toEqual([503, 'overloaded']);
    expect(await ask({ found: new PepperMissingError('unknown') })).toEqual([500, 'internal_error']);
    expect(await ask({ found: new TypeError('x is undefined') })).toEqual([500, 'internal_error']);
    expect(await ask({ scope: '' })).toEqual([500, 'internal_error']);
    expect(await ask({ limit: '' })).toEqual([500, 'internal_error']);
  });
});

const textsOf = (metadata: ICheckResponse['dynamicMetadata']) => (metadata ?? {}) as Record<string, string>;

describe('what a verified call tells those behind Envoy', () => {
  const fieldsOf = async (found: Partial<FoundKey>) => {
    const key = { ...stored, ...found };
    const check = checkOf(async () => key);
    const headers = { authorization: `Bearer ${plaintext}` };
    const contextExtensions = { scope: 'inference:write', handler: 'sidecar', limit: 'calls' };
    const answer = await check({ attributes: { contextExtensions, request: { http: { headers } } } });
    const { [callerField]: text = '', ...others } = textsOf(answer.dynamicMetadata);
    // The rest is for the access log and for the step that decides limits.
    expect(others).toEqual({ account_id: key.accountId, key_id: key.publicId, limits: expect.any(String) });
    return JSON.parse(text);
  };

  it('is one text, which is all that the sidecar is told', async () => {
    const account = { ...stored.account, models: ['a', 'b'] };
    const told = { account_id: stored.accountId, project: 'Köln', models: '["a","b"]' };
    expect(await fieldsOf({ account, project: 'Köln' })).toMatchObject(told);
  });

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
    const limits = { ...noLimits, streams: 3 };
    expect(await fieldsOf({ limits })).toMatchObject({ streams: '25', key_streams: '3' });
  });

  it('says if replies are to state the impacts', async () => {
    expect(await fieldsOf({})).not.toHaveProperty('usage_impacts');
    const account = { ...stored.account, usageImpacts: true };
    expect(await fieldsOf({ account })).toMatchObject({ usage_impacts: '1' });
  });

  it('names the limits in tokens where there are some, for the sidecar', async () => {
    expect(Object.keys(await fieldsOf({}))).not.toContain('tokens');
    const account = { ...stored.account, tokens: { perMinute: 1000, perDay: null } };
    expect(await fieldsOf({ account })).toMatchObject({ tokens: '1000/' });
    const shadowed = { ...account, shadow: ['tokens'] as const };
    const limits = { ...noLimits, tokensPerDay: 70 };
    expect(await fieldsOf({ account: shadowed, limits })).toMatchObject({ tokens: '1000/:shadow', key_tokens: '/70' });
    expect(await fieldsOf({ limits })).toMatchObject({ tokens: '', key_tokens: '/70' });
  });
});

describe('the limits of a verified call', () => {
  const headers = [
    { key: 'x-ratelimit-remaining-requests', value: '7' },
    { key: 'x-ratelimit-remaining-day', value: '99' },
  ];
  const asked = (context: Record<string, string>, letIn: Admission['letIn'], length?: string) =>
    askedOf(
      checkOf(async () => stored, letIn),
      context,
      length,
    );
  const askedOf = async (check: ReturnType<typeof checkOf>, context: Record<string, string>, length?: string) => {
    const http = { headers: { authorization: `Bearer ${plaintext}`, ...(length && { 'content-length': length }) } };
    const contextExtensions = { scope: 'inference:write', handler: 'sidecar', ...context };
    const { deniedResponse, dynamicMetadata, okResponse } = await check({
      attributes: { contextExtensions, request: { http } },
    });
    const shown = (okResponse?.responseHeadersToAdd ?? []).map(({ header }) => header);
    const added = (okResponse?.headers ?? []).map(({ header }) => header?.key);
    return { status: deniedResponse?.status?.code ?? 200, fields: textsOf(dynamicMetadata), shown, added };
  };

  it('that are decided with room are shown, kept for replies of Envoy, and said to be decided', async () => {
    const { added, fields, shown, status } = await asked({ limit: 'calls' }, async () => headers);
    expect(status).toBe(200);
    expect(shown).toEqual(headers);
    expect(added).toEqual(['x-gw-limits-decided']);
    expect(fields).toMatchObject({
      account_id: stored.accountId,
      'x-ratelimit-remaining-requests': '7',
      'x-ratelimit-remaining-day': '99',
    });
    expect(fields).not.toHaveProperty('limits');
  });

  it('that have no room are named for the step that refuses', async () => {
    const { added, fields, shown, status } = await asked({ limit: 'calls' }, async () => null);
    expect(status).toBe(200);
    expect([shown, added]).toEqual([[], []]);
    expect(drawnLimits('calls', stored.accountId, fields.limits ?? '', 1)).toEqual(
      drawnLimits('calls', stored.accountId, limitsText(stored), 1),
    );
  });

  it('are drawn on by the length of a body where bytes count, and by a call alone elsewhere', async () => {
    const seen: unknown[] = [];
    const letIn: Admission['letIn'] = async ({ accountId, drawn, kind }) => {
      seen.push([accountId, kind, drawn.body?.kib ?? null, drawn.levels.length]);
      return headers;
    };
    const { accountId } = stored;
    await asked({ limit: 'calls', body: 'counts' }, letIn, '1048576');
    // Small ones are taken together.
    const check = checkOf(async () => stored, letIn);
    for (const length of ['10', '64512']) await askedOf(check, { limit: 'calls', body: 'counts' }, length);
    await asked({ limit: 'calls', body: 'counts' }, letIn);
    await asked({ limit: 'calls' }, letIn, '1048576');
    await asked({ limit: 'management' }, letIn, '1048576');
    expect(seen).toEqual([
      [accountId, 'calls', 1024, 1],
      [accountId, 'calls', null, 1],
      [accountId, 'calls', 64, 1],
      [accountId, 'calls', 10_240, 1],
      [accountId, 'calls', null, 1],
      [accountId, 'management', null, 1],
    ]);
  });

  it('are drawn on for all small bodies by the next call that is let in, if the one that was to pay for them is not', async () => {
    const seen: (number | null)[] = [];
    let isLetIn = true;
    const check = checkOf(
      async () => stored,
      async ({ drawn }) => {
        seen.push(drawn.body?.kib ?? null);
        return isLetIn ? headers : null;
      },
    );
    const ask = (kib: number) => askedOf(check, { limit: 'calls', body: 'counts' }, String(kib * 1024));
    await ask(40);
    isLetIn = false;
    for (const _ of [1, 2]) await ask(50);
    isLetIn = true;
    await ask(30);
    expect(seen).toEqual([null, 90, 90, 70]);
  });

  it('that nobody can decide refuse the call, since the check then fails', async () => {
    await expect(asked({ limit: 'calls' }, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });
});
