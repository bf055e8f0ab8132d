/** People who log in on the operator listener, for tests. */

import { emailDigestOf, hidePerson } from '@gw/control-plane/internals/people/access/hidden-person';
import { hashToken, makeOperatorToken } from '@gw/control-plane/internals/people/access/token-hash';
import type { Context } from '@gw/control-plane/internals/shared/context';
import type { Subject } from '@gw/control-plane/internals/shared/names/names';
import { type OperatorRole, operatorRoles } from '@gw/control-plane/internals/shared/principal';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';

/** A person as the gateway stores them, found by their e-mail. */
export async function storedPerson(db: Context['db'], subject: Subject, person: { name: string; email: string }) {
  return { ...(await hidePerson(db, subject, person)), emailDigest: await emailDigestOf(db, person.email) };
}

/** Makes one operator per role, and returns their tokens. Each is called `op_<role>`. */
export async function seedOperators({ db }: Pick<Context, 'db'>): Promise<Record<OperatorRole, string>> {
  const tokens = { viewer: makeOperatorToken(), support: makeOperatorToken(), admin: makeOperatorToken() };
  for (const role of operatorRoles) {
    const operatorId = `op_${role}`;
    const person = await storedPerson(db, `operator:${operatorId}`, {
      name: `The ${role}`,
      email: `${role}@ops.example`,
    });
    await db.operator.create({ data: { ...person, id: operatorId, role } });
    const data = { id: `optk_${role}`, operatorId, name: 'test', createdAt: new Date(0) };
    await db.operatorToken.create({ data: { ...data, tokenHash: hashToken(tokens[role]) } });
  }
  return tokens;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A call with an operator token. */
export const withToken =
  (app: FastifyInstance, token: string) =>
  (method: Method, url: string, payload?: object): Promise<LightMyRequestResponse> =>
    app.inject({ method, url, headers: { authorization: `Bearer ${token}` }, ...(payload ? { payload } : {}) });

/** A browser of one person: keeps the cookie, and sends what a page of the same origin sends. */
export class Browser {
  readonly #app: FastifyInstance;
  readonly #address: string;
  cookie: string | null = null;

  constructor(app: FastifyInstance, address = '192.0.2.1') {
    this.#app = app;
    this.#address = address;
  }

  async call(
    method: Method,
    url: string,
    payload?: object,
    more: Readonly<Record<string, string>> = {},
  ): Promise<LightMyRequestResponse> {
    const reply = await this.#app.inject({
      method,
      url,
      remoteAddress: this.#address,
      headers: { 'x-gw-csrf': '1', ...(this.cookie === null ? {} : { cookie: this.cookie }), ...more },
      ...(payload ? { payload } : {}),
    });
    const [set] = [reply.headers['set-cookie']].flat();
    if (set !== undefined) this.cookie = /Expires=Thu, 01 Jan 1970/.test(set) ? null : (set.split(';', 1)[0] ?? null);
    return reply;
  }

  logIn(email: string, credential: string, as = 'operator'): Promise<LightMyRequestResponse> {
    return this.call('POST', '/session', { email, credential, as });
  }
}
