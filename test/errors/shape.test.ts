/** Every route, asked wrongly in every way, refuses in the one shape and as the document says, whatever part says no. */
import { describe, expect, test } from 'vitest';
import { type Sent, send, stack } from '../input/ask.ts';
import { accountsForFile } from '../sdk/test-account.ts';
import { readDocument } from './document.ts';
import { type RouteRequest, routeRequests } from './requests.ts';

const accounts = accountsForFile();
const judge = await readDocument(stack.publicUrl);

const keys = {
  unscoped: await accounts.create({}, { scopes: [] }),
  revoked: await accounts.create({}, { revokedAt: new Date() }),
  suspended: await accounts.create(
    { state: 'suspended' },
    { scopes: ['inference:read', 'inference:write', 'gw:read', 'gw:lineage', 'admin:keys'] },
  ),
};
const admin = stack.keys.admin;

interface Trick {
  readonly name: string;
  /** Null: it is none for this route. */
  readonly ask: (request: RouteRequest) => Sent | null;
  readonly code: RegExp;
}

const withBody = ({ body }: RouteRequest) => body !== undefined;
const scoped = ({ route }: RouteRequest) => route.scope !== null;
const when =
  (applies: (request: RouteRequest) => boolean, change: (request: RouteRequest) => Sent) => (request: RouteRequest) =>
    applies(request) ? { ...request, ...change(request) } : null;
const otherMethods = ['DELETE', 'PUT', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'];

const tricks: readonly Trick[] = [
  { name: 'no key', ask: when(scoped, () => ({ key: null })), code: /^invalid_api_key$/ },
  { name: 'another kind of key', ask: when(scoped, () => ({ key: 'sk-abc' })), code: /^invalid_api_key$/ },
  { name: 'a revoked key', ask: when(scoped, () => ({ key: keys.revoked })), code: /^revoked_api_key$/ },
  { name: 'a key without scopes', ask: when(scoped, () => ({ key: keys.unscoped })), code: /^insufficient_scope$/ },
  {
    name: 'a suspended account',
    ask: when(
      ({ route }) => route.needsActive === true,
      () => ({ key: keys.suspended }),
    ),
    code: /^customer_suspended$/,
  },
  {
    name: 'headers too large',
    ask: when(
      () => true,
      () => ({ headers: { 'x-large': 'a'.repeat(40_000) } }),
    ),
    code: /^invalid_request$/,
  },
  { name: 'no JSON', ask: when(withBody, () => ({ body: '{"a"' })), code: /^invalid_json$/ },
  { name: 'JSON, but no object', ask: when(withBody, () => ({ body: '[1]' })), code: /^invalid_json$/ },
  { name: 'no body', ask: when(withBody, () => ({ body: '' })), code: /^invalid_json$/ },
  { name: 'an empty object', ask: when(withBody, () => ({ body: '{}' })), code: /^missing_required_parameter$/ },
  {
    name: 'a body of another type',
    ask: when(withBody, () => ({ headers: { 'content-type': 'text/plain' } })),
    code: /^invalid_content_type$/,
  },
  {
    name: 'a compressed body',
    ask: when(withBody, () => ({ headers: { 'content-encoding': 'gzip' } })),
    code: /^invalid_content_type$/,
  },
  {
    name: 'a body too large',
    ask: when(withBody, () => ({ body: Buffer.alloc(11 * 1024 * 1024, 0x20) })),
    code: /^request_too_large$/,
  },
  {
    name: 'a body too large to be held',
    ask: when(withBody, () => ({ body: Buffer.alloc(17 * 1024 * 1024, 0x20) })),
    code: /^request_too_large$/,
  },
  {
    name: 'a body too large, in chunks',
    ask: when(withBody, () => ({ body: Buffer.alloc(19 * 1024 * 1024, 0x20), chunked: true })),
    code: /^request_too_large$/,
  },
  {
    name: 'gRPC',
    // Envoy's filter for health answers gRPC in its own way.
    ask: when(
      ({ route }) => route.path !== '/readyz',
      () => ({ headers: { 'content-type': 'application/grpc' } }),
    ),
    code: /^invalid_content_type$/,
  },
  {
    name: 'a slash at its end',
    ask: when(
      () => true,
      ({ path }) => ({ path: `${path}/` }),
    ),
    code: /^(unknown_endpoint|invalid_model)$/,
  },
  {
    name: 'a slash within',
    ask: when(
      () => true,
      ({ path }) => ({ path: path.replace('/', '//') }),
    ),
    code: /^unknown_endpoint$/,
  },
  {
    name: 'an encoded slash',
    ask: when(
      () => true,
      ({ path }) => ({ path: `${path}%2f` }),
    ),
    code: /^(unknown_endpoint|invalid_model)$/,
  },
  {
    name: 'a query that is none',
    ask: when(
      ({ route }) => /receipts|usage|audit-log|keys$/.test(route.path) && route.method === 'GET',
      ({ path }) => ({
        path: `${path}?limit=no&version=no&from=no`,
      }),
    ),
    code: /^invalid_(limit|version|from)$/,
  },
  ...otherMethods.map((method) => ({
    name: method,
    ask: ({ route, path }: RouteRequest) =>
      routeRequests.some((each) => each.route.path === route.path && each.method === method) ? null : { path, method },
    code: /^method_not_allowed$/,
  })),
];

describe.each(tricks)('$name', ({ ask, code }) => {
  const asked = routeRequests.flatMap((request) => {
    const sent = ask(request);
    return sent === null
      ? []
      : [[`${request.method} ${request.path}`, { method: 'GET', path: '', key: admin, ...sent }] as const];
  });

  test.each(asked)(
    '%s',
    async (_name, { route: _, ...sent }: Sent & { method: string; path: string; route?: unknown }) => {
      const reply = await send(sent);
      expect(judge.judgeError(sent.method, sent.path, reply).code).toMatch(code);
      expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      if (reply.status === 405)
        expect(reply.headers.allow).toMatch(/^(GET, HEAD|POST|DELETE)(, (GET, HEAD|POST|DELETE))*$/);
    },
  );
});

test('a QUERY without a content type, which Envoy refuses before it looks for a route, is refused in our words', async () => {
  for (const { path } of routeRequests) {
    const reply = await send({ method: 'QUERY', path, key: admin });
    expect(judge.judgeError('QUERY', path, reply).code, path).toBe('invalid_request');
  }
});

test('HEAD is answered where GET is, and refused like any other method elsewhere, each without a body', async () => {
  for (const { route, path } of routeRequests) {
    const [head, get] = [
      await send({ method: 'HEAD', path, key: admin }),
      await send({ method: 'GET', path, key: admin }),
    ];
    expect([head.status, head.headers['content-type'], head.text], path).toEqual([
      get.status,
      get.headers['content-type'],
      '',
    ]);
    if (route.method === 'GET') expect(head.status, path).not.toBe(405);
    else
      expect(head.status, path).toBe(
        routeRequests.some((each) => each.path === path && each.method === 'GET') ? get.status : 405,
      );
  }
});
