/** Callers who send idempotency keys to the applications of the control plane. */
import { randomUUID } from 'node:crypto';
import { scopes } from '@gw/contract/access';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { identified, type TestApp } from './app.ts';

export type Reply = LightMyRequestResponse;

export interface Account {
  readonly id: string;
  readonly keyId: string;
  /** Asks with the first key of the account, or with another one of it. Null as `key` sends no header. */
  ask(url: string, key: string | null, body?: object, by?: string, app?: FastifyInstance): Promise<Reply>;
  /** Makes a further key that may do the same. */
  furtherKey(data?: object): Promise<string>;
  /** How many keys there are beside those that the test has put there. */
  made(): Promise<number>;
}

const hex = (length: number) => randomUUID().replaceAll('-', '').slice(0, length);

export function openKeyedAccounts(running: TestApp) {
  const { db } = running.stores;
  return async (tier: 'audit_plus' | 'enterprise' = 'audit_plus'): Promise<Account> => {
    const id = `acct_idem_${hex(12)}`;
    await db.account.create({ data: { id, name: 'Test', tier, ...(tier === 'enterprise' ? limits : {}) } });
    let given = 0;
    const furtherKey = async (data: object = {}) => {
      const publicId = hex(12);
      given += 1;
      const key = { publicId, accountId: id, name: 'root', hash: new Uint8Array(32), scopes: [...scopes] };
      await db.apiKey.create({ data: { ...key, ...data } });
      return publicId;
    };
    const keyId = await furtherKey();
    return {
      id,
      keyId,
      furtherKey,
      made: async () => (await db.apiKey.count({ where: { accountId: id } })) - given,
      ask: async (url, key, body, by = keyId, app = running.app) =>
        app.inject({
          method: 'POST',
          url,
          headers: {
            ...identified({ 'x-gw-account-id': id, 'x-gw-key-id': by, 'x-gw-tier': tier }),
            'x-gw-scopes': scopes.join(' '),
            ...(key === null ? {} : { 'idempotency-key': key }),
          },
          ...(body && { payload: body }),
        }),
    };
  };
}

const limits = { limitPerS: 100, limitBurst: 100, limitPerDay: 1000 };

export const codeOf = (reply: Reply) => [reply.statusCode, reply.json().error?.code, reply.json().error?.param];
export const replayed = ({ headers }: Reply) => headers['idempotent-replayed'];
export const reexecuted = ({ headers }: Reply) => headers['idempotent-reexecuted'];
/** The parts of a reply that its replay repeats. */
export const shown = ({ headers, rawPayload, statusCode }: Reply) => [
  ...[statusCode, rawPayload.toString('hex')],
  ...[headers['content-type'], headers['cache-control']],
];
