/** Accounts of their own for tests of keys. */
import { type Scope, scopes } from '@gw/contract/access';
import { issuedKeySchema } from '@gw/contract/keys';
import { readAudit } from '@gw/control-plane/internals/people/audit/read';
import { internalToken, type TestApp } from './app.ts';

/** Returns what makes a new account with one key that may do everything. */
export function openAccounts(running: TestApp) {
  let count = 0;
  return async (tier: 'audit' | 'audit_plus' = 'audit_plus') => {
    const id = `acct_keys_${++count}`;
    const keyId = `Admin${String(count).padStart(7, '0')}`;
    const { db } = running.stores;
    await db.account.create({ data: { id, name: 'Test', tier } });
    await db.apiKey.create({
      data: { publicId: keyId, accountId: id, name: 'root', hash: new Uint8Array(32), scopes: [...scopes] },
    });
    const ask = async (method: 'GET' | 'POST', url: string, body?: unknown) => {
      const reply = await running.app.inject({
        method,
        url,
        headers: {
          'x-gw-internal-token': `Bearer ${internalToken}`,
          'x-gw-account-id': id,
          'x-gw-key-id': keyId,
          'x-gw-tier': tier,
          'x-gw-scopes': scopes.join(' '),
          'x-request-id': 'req-1',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      return { status: reply.statusCode, body: reply.json(), headers: reply.headers };
    };
    const refusal = async (...call: Parameters<typeof ask>) => {
      const { status, body } = await ask(...call);
      return [status, body.error?.code, body.error?.param];
    };
    const issue = async (wanted: { name?: string; scopes?: Scope[]; expires_at?: string } = {}) =>
      issuedKeySchema.parse((await ask('POST', '/v1/keys', { name: 'a key', ...wanted })).body);
    const actions = async () =>
      (await readAudit(db, id, { order: 'asc', limit: 100 })).map(({ action, target }) => `${action} ${target}`);
    return { id, keyId, ask, refusal, issue, actions };
  };
}
