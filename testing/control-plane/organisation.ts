/** Customers with a key, and a person who looks after their account, for tests of `/organisation/v1`. */
import { scopes } from '@gw/contract/access';
import type { LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import { Browser, type Method, withToken } from './access.ts';
import { identified, type TestApp } from './app.ts';

export type Tier = 'audit' | 'audit_plus';
type Headers = Readonly<Record<string, string>>;

export interface Organisation {
  readonly accountId: string;
  readonly keyId: string;
  readonly adminId: string;
  /** Is logged in. */
  readonly admin: Browser;
  /** The same account asks the public port, with a key that may do everything. */
  byKey(
    method: Method,
    url: string,
    options?: { payload?: object; headers?: Headers },
  ): Promise<LightMyRequestResponse>;
}

/** Returns what makes a new one. `adminToken` is that of an operator with the role admin. */
export function openOrganisations(running: TestApp, adminToken: string) {
  let count = 0;
  return async (tier: Tier = 'audit_plus'): Promise<Organisation> => {
    count += 1;
    const [accountId, email] = [`acct_org_${count}`, `a${count}@exa.example`];
    const keyId = `keyoforg${String(count).padStart(4, '0')}`;
    const { db } = running.stores;
    await db.account.create({ data: { id: accountId, name: accountId, tier } });
    await db.apiKey.create({
      data: { publicId: keyId, accountId, name: 'key', hash: new Uint8Array(32), scopes: [...scopes] },
    });
    const operator = withToken(running.operator, adminToken);
    const made = await operator('POST', `/operator/v1/accounts/${accountId}/admins`, { name: 'Ada', email });
    const { credential, id: adminId } = made.json();
    const admin = new Browser(running.operator, `192.0.2.${count}`);
    expect((await admin.logIn(email, credential, 'organisation_admin')).statusCode).toBe(200);
    const identity = {
      'x-gw-account-id': accountId,
      'x-gw-key-id': keyId,
      'x-gw-tier': tier,
      'x-gw-scopes': scopes.join(' '),
    };
    return {
      accountId,
      keyId,
      adminId,
      admin,
      byKey: async (method, url, { headers = {}, payload } = {}) =>
        running.app.inject({
          method,
          url,
          headers: identified({ ...identity, ...headers }),
          ...(payload && { payload }),
        }),
    };
  };
}
