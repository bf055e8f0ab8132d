import { expect, test } from 'vitest';
import { z } from 'zod';
import { errorCatalogue } from '../error-catalogue.ts';
import { routes } from '../routes.ts';
import { openApiDocument } from './openapi.ts';

const document = openApiDocument('https://gw.example');

/** Every `$ref` in the document. */
function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => (key === '$ref' ? [String(child)] : references(child)));
}

const resolve = (reference: string): unknown =>
  reference
    .replace('#/', '')
    .split('/')
    .map((key) => key.replaceAll('~1', '/'))
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);

test('every public route is in the document, with its scope, and nothing else is', () => {
  const listed = Object.entries(document.paths as Record<string, Record<string, { 'x-scope'?: string }>>).flatMap(
    ([path, item]) => Object.entries(item).map(([method, op]) => `${method} ${path} ${op['x-scope'] ?? null}`),
  );
  expect(listed.sort()).toEqual(routes.map((r) => `${r.method.toLowerCase()} ${r.path} ${r.scope}`).sort());
});

test('every reference in the document leads somewhere', () => {
  const all = new Set(references(document));
  expect(all.size).toBeGreaterThan(20);
  for (const reference of all) expect(resolve(reference), reference).toBeTypeOf('object');
});

test('the receipt is described once and referred to, not copied', () => {
  const schemas = (document.components as { schemas: Record<string, unknown> }).schemas;
  expect(references(schemas.ChatCompletion)).toContain('#/components/schemas/ShownReceipt');
  expect(references(schemas.ReceiptList)).toContain('#/components/schemas/Receipt');
  expect(schemas.Receipt).toMatchObject({ additionalProperties: false, properties: { energy_wh: {} } });
});

test('the error catalogue of the document holds every code', () => {
  expect(Object.keys(document['x-error-catalogue'] as object)).toEqual([
    ...Object.keys(errorCatalogue),
    'invalid_field',
  ]);
});

test('a refusal that can come behind the limits may have all of their headers', () => {
  const { responses } = document.components as { responses: Record<string, { headers: Record<string, object> }> };
  const limits = (name: string) => name.startsWith('x-ratelimit-');
  for (const [name, { headers }] of Object.entries(responses)) {
    const isBefore = /Error40[15]$/.test(name);
    expect(Object.keys(headers).filter(limits), name).toHaveLength(isBefore ? 0 : 12);
  }
});

test('the document is plain JSON', () => {
  expect(JSON.parse(JSON.stringify(document))).toEqual(document);
});

/** The schemas of the document as one JSON schema, so that each can refer to the others. */
const definitions = JSON.parse(
  JSON.stringify((document.components as { schemas: unknown }).schemas).replaceAll('#/components/schemas/', '#/$defs/'),
);
const schemaOf = (name: string) =>
  z.fromJSONSchema({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $ref: `#/$defs/${name}`,
    $defs: definitions,
  });
const described = Object.entries(definitions as Record<string, { examples?: unknown[] }>);

test('examples are what the schemas of the document accept, and nothing else is', () => {
  const examples = described.flatMap(([name, schema]) => (schema.examples ?? []).map((example) => ({ name, example })));
  expect(examples.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['Receipt', 'RoutingTrace', 'ChatCompletion', 'ChatCompletionChunk', 'ReceiptLineage']),
  );
  for (const { name, example } of examples) {
    expect(schemaOf(name).safeParse(example), name).toMatchObject({ success: true });
    expect(schemaOf(name).safeParse([example]), name).toMatchObject({ success: false });
  }
});

test('every error of the document has an example in the shape of its API', () => {
  const { responses } = document.components as { responses: Record<string, { content: Record<string, unknown> }> };
  for (const [name, { content }] of Object.entries(responses)) {
    const { example } = content['application/json'] as { example: unknown };
    expect(schemaOf(name.replace(/\d+$/, '')).safeParse(example), name).toMatchObject({ success: true });
  }
});

test('each event of a stream has a schema', () => {
  const reply = resolve('#/paths/~1v1~1chat~1completions/post/responses/200/content/text~1event-stream/schema');
  expect(references(reply)).toEqual(['#/components/schemas/ChatCompletionChunk', '#/components/schemas/Error']);
});
