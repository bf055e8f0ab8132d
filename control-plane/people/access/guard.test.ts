import { Readable } from 'node:stream';
import cookies from '@fastify/cookie';
import { addresses } from '@gw/testing/control-plane/fixtures';
import Fastify, { type FastifyInstance } from 'fastify';
import { beforeEach, expect, test } from 'vitest';
import { operatorRoles, type Principal, principalOf } from '../../shared/principal.ts';
import { type Access, guardRoutes, type Identified } from './guard.ts';

const people = {
  viewer: { kind: 'operator', id: 'op_v', name: 'V', role: 'viewer', proof: null },
  support: { kind: 'operator', id: 'op_s', name: 'S', role: 'support', proof: null },
  admin: { kind: 'operator', id: 'op_a', name: 'A', role: 'admin', proof: null },
  organisation: { kind: 'organisation_admin', id: 'oa_1', name: 'O', accountId: 'acct_1', proof: null },
} satisfies Record<string, Principal>;
type Who = keyof typeof people;

const accesses: Record<string, Access> = {
  public: { kind: 'public' },
  person: { kind: 'person' },
  ...Object.fromEntries(operatorRoles.map((role) => [role, { kind: 'operator', role } as const])),
  organisation: { kind: 'organisation_admin' },
};

let app: FastifyInstance;
/** The header `who` says who it is, `by` by which means. */
beforeEach(async () => {
  app = Fastify();
  await app.register(cookies, { hook: false });
  guardRoutes(app, {
    addresses,
    controlUrl: 'https://ops.example',
    identify: async ({ headers }) =>
      typeof headers.who === 'string'
        ? { principal: people[headers.who as Who], by: headers.by as Identified['by'] }
        : null,
  });
  for (const [name, access] of Object.entries(accesses))
    app.route({
      method: ['GET', 'POST'],
      url: `/${name}`,
      config: { access },
      handler: async (request) => (access.kind === 'public' ? 'all' : principalOf(request).id),
    });
});

const call = async (method: 'GET' | 'POST', url: string, headers: Record<string, string>) =>
  (await app.inject({ method, url, headers: { host: 'ops.example', ...headers } })).statusCode;

const letIn: Record<string, readonly (Who | 'nobody')[]> = {
  public: ['nobody', 'viewer', 'support', 'admin', 'organisation'],
  person: ['viewer', 'support', 'admin', 'organisation'],
  viewer: ['viewer', 'support', 'admin'],
  support: ['support', 'admin'],
  admin: ['admin'],
  organisation: ['organisation'],
};

test.each(Object.keys(letIn))('a route for "%s" lets in exactly those who may', async (route) => {
  const all = ['nobody', ...Object.keys(people)];
  const statuses = await Promise.all(
    all.map((who) => call('GET', `/${route}`, who === 'nobody' ? {} : { who, by: 'bearer' })),
  );
  const expected = all.map((who) => (letIn[route]?.includes(who as Who) ? 200 : who === 'nobody' ? 401 : 403));
  expect(statuses).toEqual(expected);
});

test('a route that does not state who may call it cannot be registered', () => {
  expect(() => app.get('/open', async () => 'x')).toThrow('does not state who may call it');
});

test('a path that is not there is 404, for people who are not logged in too', async () => {
  expect(await call('GET', '/nowhere', {})).toBe(404);
});

const byCookie = { who: 'admin', by: 'cookie' };
const foreign: [string, Record<string, string>][] = [
  ['without the header', {}],
  ['of another origin', { 'x-gw-csrf': '1', origin: 'https://evil.example' }],
  ['of the same host without TLS', { 'x-gw-csrf': '1', origin: 'http://ops.example' }],
  [
    'of a name that was made to point here',
    { 'x-gw-csrf': '1', host: 'evil.example', origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
  ],
  ['of another port', { 'x-gw-csrf': '1', origin: 'https://ops.example:8443' }],
  ['of an opaque origin', { 'x-gw-csrf': '1', origin: 'null' }],
  ['of another site', { 'x-gw-csrf': '1', 'sec-fetch-site': 'cross-site' }],
  ['of a sibling on the same site', { 'x-gw-csrf': '1', 'sec-fetch-site': 'same-site' }],
];
test.each(foreign)('a change by cookie %s is refused', async (_, headers) => {
  expect(await call('POST', '/admin', { ...byCookie, ...headers })).toBe(403);
  // A read changes nothing, and its reply is out of the reach of the other site.
  expect(await call('GET', '/admin', { ...byCookie, ...headers })).toBe(200);
});

test('a change by cookie from the same origin is let in, and one by bearer token needs no header', async () => {
  const own = { 'x-gw-csrf': '1', origin: 'https://ops.example', 'sec-fetch-site': 'same-origin' };
  expect(await call('POST', '/admin', { ...byCookie, ...own })).toBe(200);
  expect(await call('POST', '/admin', { who: 'admin', by: 'bearer', origin: 'https://evil.example' })).toBe(200);
});

test('another site cannot log somebody in: public routes refuse its changes', async () => {
  expect(await call('POST', '/public', { origin: 'https://evil.example' })).toBe(403);
  expect(await call('POST', '/public', { origin: 'https://ops.example' })).toBe(200);
});

test('on this machine every name of it is the same origin, but only at the same port', async () => {
  const local = Fastify();
  guardRoutes(local, { addresses, controlUrl: 'http://127.0.0.1:8081', identify: async () => null });
  local.post('/x', { config: { access: { kind: 'public' } } }, async () => 'x');
  const from = async (origin: string) =>
    (await local.inject({ method: 'POST', url: '/x', headers: { origin } })).statusCode;
  for (const name of ['127.0.0.1', 'localhost', '[::1]']) expect(await from(`http://${name}:8081`)).toBe(200);
  for (const origin of ['http://localhost:8082', 'https://localhost:8081', 'http://localhost.evil.example:8081', 'x'])
    expect([origin, await from(origin)]).toEqual([origin, 403]);
});

test('when it cannot be found out who calls, nobody gets in', async () => {
  const broken = Fastify();
  guardRoutes(broken, {
    addresses,
    controlUrl: 'https://ops.example',
    identify: () => Promise.reject(new Error('the database is away')),
  });
  broken.get('/x', { config: { access: { kind: 'person' } } }, async () => 'x');
  expect((await broken.inject('/x')).statusCode).toBe(500);
});

test.each([
  ['disabled', null, 401],
  ['demoted', people.support, 403],
] as const)('who is %s while the body comes makes no change with it', async (_, after, status) => {
  const slow = Fastify();
  let principal: Principal | null = people.admin;
  let changes = 0;
  guardRoutes(slow, {
    addresses,
    controlUrl: 'https://ops.example',
    identify: async () => principal && { principal, by: 'bearer' },
  });
  slow.post('/x', { config: { access: { kind: 'operator', role: 'admin' } } }, async () => {
    changes += 1;
    return 'x';
  });
  const ask = (lose: () => void) => {
    const parts = async function* () {
      yield '{"a":';
      lose();
      yield '1}';
    };
    return slow.inject({
      method: 'POST',
      url: '/x',
      headers: { 'content-type': 'application/json' },
      payload: Readable.from(parts()),
    });
  };
  expect((await ask(() => {})).statusCode).toBe(200);
  const reply = await ask(() => {
    principal = after;
  });
  expect([reply.statusCode, changes]).toEqual([status, 1]);
});
