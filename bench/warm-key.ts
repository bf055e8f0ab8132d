/** A key that ext-authz has in its memory, and the whole check of a call with it, as the gRPC server calls it. */
import { randomBytes } from 'node:crypto';
import { generateApiKey, hashApiKey } from '@gw/contract/internal/api-key';
import { makeCheck } from '@gw/ext-authz/internals/check';
import { KeyCache } from '@gw/ext-authz/internals/keys/key-cache';
import { openKeyNotes } from '@gw/ext-authz/internals/keys/key-notes';
import { storedKey } from '@gw/testing/ext-authz/stored-key';

/** Returns whether the call was let in; the first run reads the key from its store. */
export function warmKeyCheck(): () => Promise<boolean> {
  const pepper = { version: 1, secret: randomBytes(32) };
  const { plaintext, publicId } = generateApiKey(randomBytes);
  const found = storedKey({
    publicId,
    hash: hashApiKey(plaintext, pepper.secret),
    scopes: ['inference:read', 'inference:write', 'gw:read'],
  });
  const check = makeCheck({
    cache: new KeyCache(
      { find: async () => found },
      { now: () => performance.now(), capacity: 50_000, graceMs: 60_000, admit: () => 'look_up' },
    ),
    peppers: { current: pepper, other: null },
    renew: () => {},
    // Never flushed, so no store is needed.
    notes: openKeyNotes({ redis: undefined as never, now: Date.now }),
    now: Date.now,
    addresses: { baseUrl: '', statusUrl: '', auditEmail: '', securityEmail: '' },
    errors: { note: () => {} },
    admission: { letIn: async () => null },
  });
  const attributes = {
    contextExtensions: { scope: 'inference:write', handler: 'sidecar', open_to: 'active' },
    request: { http: { headers: { authorization: `Bearer ${plaintext}` } } },
  };
  return async () => {
    const { deniedResponse, okResponse } = await check({ attributes });
    return !deniedResponse && okResponse !== undefined;
  };
}
