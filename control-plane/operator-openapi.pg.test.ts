import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { operatorDocument } from './operator-document.ts';

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
  // Browsers are led there and away again.
  const pages = /^GET \/(dashboard.*|session\/oidc.*)?$/;
  const routes = routesOfTheApp().filter((route) => !pages.test(route));
  expect(routes.map(asPath).sort()).toEqual(described.sort());
});

test('it says who may call a route, and what a request takes', () => {
  const suspend = document.paths['/operator/v1/accounts/{accountId}/suspend']?.post;
  expect(suspend).toMatchObject({
    'x-access': { kind: 'operator', role: 'support' },
    parameters: [
      { name: 'accountId', in: 'path' },
      { name: 'Idempotency-Key', in: 'header', required: false },
    ],
    responses: { '2XX': { headers: { 'idempotent-replayed': {}, 'idempotent-reexecuted': {} } } },
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { required: ['reason'], additionalProperties: false } } },
    },
  });
  const list = document.paths['/operator/v1/accounts']?.get;
  expect(list?.parameters?.map(({ name }) => name)).toEqual(['state', 'tier', 'search', 'after', 'limit']);
  expect(document.paths['/healthz']?.get?.security).toEqual([]);
  expect(document.paths['/session']?.post?.parameters).toBeUndefined();
});

test('each reference leads to a schema of the document', () => {
  const text = JSON.stringify(document);
  for (const [, name = ''] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
    expect(Object.keys(document.components.schemas)).toContain(name);
  expect([...text.matchAll(/"\$ref":"(?!#\/components\/schemas\/)/g)]).toEqual([]);
});

test('each operation has a name of its own', () => {
  const names = Object.values(document.paths).flatMap((path) => Object.values(path).map((each) => each.operationId));
  expect(new Set(names).size).toBe(names.length);
});

test('the document that the build makes the types of the pages of is the one that a gateway serves', async () => {
  expect(JSON.parse(await operatorDocument())).toEqual(document);
});
