import { type Method, seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { z } from 'zod';
import { buildOperatorApp } from './operator-app.ts';

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly 'x-access'?: object;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: object }[];
  readonly requestBody?: { readonly required: boolean; readonly content: object };
}
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: object };
};

/** The schema of the replies of the route that answers. */
const schemaOf = (method: Method, url: string): z.ZodType => {
  const found = replies.get(`${method} ${url}`);
  if (!found) throw new Error(`${method} ${url} was not answered by a route with a schema of its replies`);
  return found;
};
const replies = new Map<string, z.ZodType | null | undefined>();

let running: TestApp;
let document: Document;
beforeAll(async () => {
  running = await startTestApp();
  document = (await running.operator.inject('/openapi.json')).json();
}, 120_000);
afterAll(() => running?.stop());

/** As the router prints them: what it would find. */
function routesOfTheApp(): string[] {
  const stack: string[] = [];
  return running.operator
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods] = /^([\s│├└─]*)(\S+)(?: \(([^)]+)\))?/.exec(line) ?? [];
      if (part === '') return [];
      const depth = indent.length / 4 - 1;
      stack.splice(depth, Number.POSITIVE_INFINITY, part);
      return (methods ?? '')
        .split(', ')
        .filter(Boolean)
        .map((method) => `${method} ${stack.join('')}`);
    });
}

const asPath = (route: string) => route.replace(/:(\w+)/g, '{$1}').replace(/\/?\*$/, '/{id}');

test('each route of the running app is in the document, and the other way round', () => {
  const described = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(described.length).toBeGreaterThan(50);
  expect(routesOfTheApp().map(asPath).sort()).toEqual(described.sort());
});

test('it says who may call a route, and what a request takes', () => {
  const suspend = document.paths['/operator/v1/accounts/{accountId}/suspend']?.post;
  expect(suspend).toMatchObject({
    'x-access': { kind: 'operator', role: 'support' },
    parameters: [{ name: 'accountId', in: 'path' }],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { required: ['reason'], additionalProperties: false } } },
    },
  });
  const list = document.paths['/operator/v1/accounts']?.get;
  expect(list?.parameters?.map(({ name }) => name)).toEqual(['state', 'tier', 'search', 'after', 'limit']);
  expect(document.paths['/healthz']?.get?.security).toEqual([]);
});

test('each reference leads to a schema of the document', () => {
  const text = JSON.stringify(document);
  for (const [, name = ''] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
    expect(Object.keys(document.components.schemas)).toContain(name);
  expect([...text.matchAll(/"\$ref":"(?!#\/components\/schemas\/)/g)]).toEqual([]);
});

test('real replies are what the schemas of their routes say', async () => {
  const tokens = await seedOperators(running.context);
  const app = buildOperatorApp(running.context, running.services);
  app.addHook('onResponse', async ({ method, routeOptions, url }) => {
    replies.set(`${method} ${url}`, routeOptions.config.reply);
  });
  const ask = withToken(app, tokens.admin);
  const expectReply = async (method: Method, url: string, body?: object) => {
    const reply = await ask(method, url, body);
    expect([url, reply.statusCode]).toEqual([url, 200]);
    schemaOf(method, url).parse(reply.json());
    return reply.json();
  };
  const operators = '/operator/v1/operators';
  await expectReply('GET', '/session');
  await expectReply('GET', operators);
  const ada = await expectReply('POST', operators, { name: 'Ada', email: 'ada@ops.example', role: 'viewer' });
  for (const verb of ['disable', 'enable', 'reset-credential'])
    await expectReply('POST', `${operators}/${ada.id}/${verb}`);
  const token = await expectReply('POST', `${operators}/op_admin/tokens`, { name: 'nightly' });
  await expectReply('GET', `${operators}/op_admin/tokens`);
  await expectReply('DELETE', `${operators}/op_admin/tokens/${token.id}`);
  const account = '/operator/v1/accounts/acct_demo_audit';
  await expectReply('GET', '/operator/v1/accounts');
  await expectReply('GET', '/operator/v1/audit');
  await expectReply('GET', '/operator/v1/audit/heads');
  await expectReply('GET', '/operator/v1/receipts/verify');
  await expectReply('GET', account);
  const key = await expectReply('POST', `${account}/keys`, { name: 'a key' });
  await expectReply('GET', `${account}/keys`);
  await expectReply('POST', `${account}/keys/${key.id}/revoke`);
  const admin = await expectReply('POST', `${account}/admins`, { name: 'Lin', email: 'lin@customer.example' });
  await expectReply('GET', `${account}/admins`);
  await expectReply('POST', `${account}/admins/${admin.id}/disable`);
  await expectReply('POST', `${account}/suspend`, { reason: 'a test' });
  await expectReply('POST', `${account}/reinstate`, { reason: 'a test' });
  await app.close();
});

test('each operation has a name of its own', () => {
  const names = Object.values(document.paths).flatMap((path) => Object.values(path).map((each) => each.operationId));
  expect(new Set(names).size).toBe(names.length);
});
