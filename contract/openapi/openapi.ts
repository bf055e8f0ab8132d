/**
 * The OpenAPI 3.1 document, made from the table of routes, the schemas and the error catalogue.
 *
 * Invariant: a public route without an entry in `operations` throws, so that the document cannot miss one.
 */
import { z } from 'zod';
import { errorCatalogue, fieldErrors } from '../error-catalogue.ts';
import { packJobSchema } from '../evidence.ts';
import { defined } from '../internal/defined.ts';
import { takesApiKey } from '../messages-errors.ts';
import { operatorErrorCatalogue } from '../operator-errors.ts';
import { receiptSchema } from '../receipt.ts';
import { type Route, routes } from '../routes.ts';
import examples from './openapi-examples.json' with { type: 'json' };
import { type Operation, operations } from './openapi-operations.ts';
import {
  errorName,
  errorResponses,
  errorSchema,
  eventSchema,
  headers,
  idempotencyParameter,
  type Json,
  jsonBody,
  messagesErrorSchema,
  pageBody,
  ref,
  successHeaders,
  takesIdempotencyKey,
} from './openapi-replies.ts';

/** Returns the OpenAPI 3.1 document as JSON. `baseUrl` becomes its only server. */
export function openApiDocument(baseUrl: string): Json {
  const all = Object.values(operations);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Inference gateway',
      version: '1',
      description:
        'An inference gateway that speaks the OpenAI API and attaches an environmental receipt to every call. A parameter of the query that is not listed is 400 and named.',
    },
    servers: [{ url: baseUrl }],
    paths: paths(),
    components: {
      schemas: {
        // Requests may have unknown fields and lack those with a default.
        ...jsonSchemas(
          all.flatMap(({ request }) => request ?? []),
          'input',
        ),
        ...jsonSchemas(
          [...all.flatMap(({ chunk, response }) => [response ?? [], chunk ?? []].flat()), packJobSchema],
          'output',
        ),
        Error: errorSchema,
        MessagesError: messagesErrorSchema,
      },
      headers,
      responses: errorResponses(),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'The API key' },
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The API key' },
      },
    },
    'x-error-catalogue': { ...errorCatalogue, ...fieldErrors },
    // For clients of the operators' port.
    'x-operator-error-catalogue': operatorErrorCatalogue,
  };
}

const nameOf = (schema: z.ZodType): string => defined(schema.meta()?.id, 'The id of a schema');
const schemaRef = (schema: z.ZodType): Json => ref('schemas', nameOf(schema));

/** Converts schemas to JSON Schema; nested schemas that have an id become references. */
function jsonSchemas(schemas: readonly z.ZodType[], io: 'input' | 'output'): Json {
  const registry = z.registry<{ id: string }>();
  for (const schema of schemas) registry.add(schema, { id: nameOf(schema) });
  const uri = (id: string) => `#/components/schemas/${id}`;
  const { __shared: shared, ...converted } = z.toJSONSchema(registry, { io, uri }).schemas;
  const all = { ...shared?.$defs, ...converted } as Record<string, object>;
  const named = JSON.parse(JSON.stringify(all).replaceAll(`${uri('__shared')}#/$defs/`, uri(''))) as typeof all;
  return Object.fromEntries(
    Object.entries(named).map(([id, schema]) => [id, { ...withoutIdentity(schema), ...exampleOf(id) }]),
  );
}

const exampleOf = (id: string): Json => {
  const found = Object.entries(examples).find(([name]) => name === id);
  return found === undefined ? {} : { examples: [found[1]] };
};

/** `$id` would change the base of the references; `id` is not a keyword of JSON Schema. */
function withoutIdentity(schema: object): Json {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !['$id', 'id', '$schema'].includes(key)));
}

function paths(): Json {
  const result: Record<string, Json> = {};
  for (const route of routes) {
    result[route.path] = { ...result[route.path], [route.method.toLowerCase()]: operation(route) };
  }
  return result;
}

function operation(route: Route): Json {
  const known = operations[`${route.method} ${route.path}`];
  if (known === undefined) throw new Error(`${route.method} ${route.path} has no entry in the OpenAPI document`);
  const parameters = [
    ...pathParameters(route.path),
    ...(known.query ? queryParameters(known.query) : []),
    ...(takesIdempotencyKey(route) ? [idempotencyParameter] : []),
  ];
  return {
    operationId: known.id,
    summary: route.summary,
    ...(route.scope ? { security: securityOf(route), 'x-scope': route.scope } : { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(known.request && {
      requestBody: { required: !known.requestOptional, content: jsonBody(schemaRef(known.request)) },
    }),
    responses: responses(route, known),
  };
}

const securityOf = ({ path }: Route): Json[] => [{ bearer: [] }, ...(takesApiKey(path) ? [{ apiKey: [] }] : [])];

const parameterTexts: Readonly<Record<string, string>> = {
  model_id: 'May hold slashes, raw or as %2F',
  code: '`code` of an error',
  pack_id: '`id` of the job',
  methodology_hash: 'As in a receipt, `sha256:` and 64 hexadecimal digits, or the digits alone',
};

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    ...(name !== undefined && name in parameterTexts && { description: parameterTexts[name] }),
  }));
}

function queryParameters(query: z.ZodObject): Json[] {
  const { properties = {} } = z.toJSONSchema(query, { io: 'output' });
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', required: false, schema }));
}

const streamText =
  'Success. With `stream: true` server-sent events: each `data:` is one chunk, the last chunk with choices carries `gw` and `routing_trace`, and `[DONE]` ends the stream; a provider that fails midway gives one event with an error instead';

function responses(route: Route, known: Operation): Json {
  const schema = known.response === null ? { type: 'object' } : schemaRef(known.response);
  const content: Json = known.isPage ? { ...pageBody } : jsonBody(schema, known.mediaType);
  if (known.csv) content['text/csv'] = { schema: { type: 'string' } };
  if (known.chunk) content['text/event-stream'] = { schema: eventSchema(schemaRef(known.chunk), route.path) };
  const success = {
    description: known.chunk ? (known.streamText ?? streamText) : 'Success',
    headers: successHeaders(route, known.immutable),
    content,
  };
  const pending = {
    description: 'The call is still running; the receipt has status `pending`',
    headers: successHeaders(route),
    content: jsonBody(schemaRef(receiptSchema)),
  };
  const job = {
    description: 'A job builds it; `Location` is its address, `Retry-After` says when to ask again',
    headers: successHeaders(route),
    content: jsonBody(schemaRef(packJobSchema)),
  };
  return {
    200: success,
    ...(known.mayBePending && { 202: pending }),
    ...(known.mayBeJob && { 202: job }),
    ...(route.hasParts && {
      206: {
        description: 'The bytes that `Range` asks for',
        headers: successHeaders(route),
        content: { '*/*': {} },
      },
    }),
    ...(known.immutable && {
      304: { description: '`If-None-Match` names the current version', headers: successHeaders(route, true) },
    }),
    ...Object.fromEntries(
      errorStatuses(route).map((status) => [status, ref('responses', `${errorName(route.path)}${status}`)]),
    ),
    ...(known.isPage && route.path.includes('{') && { 404: unknownPage(route) }),
  };
}

/** An unknown code gets a page for people; a path that cannot be a code is an unknown path. */
const unknownPage = (route: Route): Json => ({
  description: 'There is no such code; the page lists all codes',
  headers: successHeaders(route),
  content: { ...pageBody, ...jsonBody(ref('schemas', 'Error')) },
});

function errorStatuses(route: Route): number[] {
  // Any route can meet a slow client or a full gateway.
  const statuses = [400, 408, 500, 503];
  if (route.scope !== null) statuses.push(401, 403);
  if (route.limit !== null) statuses.push(429);
  if (route.path.includes('{')) statuses.push(404);
  if (route.hasParts) statuses.push(416);
  if (takesIdempotencyKey(route)) statuses.push(409);
  if (route.handler === 'sidecar') statuses.push(502);
  return statuses.sort();
}
