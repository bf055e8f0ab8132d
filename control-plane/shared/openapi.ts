/**
 * The OpenAPI document of an application, made from the routes that it has and from their schemas.
 *
 * Invariant: nobody lists routes for it, so that it is never behind the product.
 */
import { errorSchema, headers, idempotencyParameter, type Json, jsonBody, ref } from '@gw/contract/openapi-replies';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { z } from 'zod';
import { takesIdempotencyKey } from './idempotent-changes.ts';
import type {} from './reply-schemas.ts';

export interface DocumentOptions {
  readonly title: string;
  readonly description: string;
  readonly url: string;
  readonly securitySchemes: Json;
  /** Returns the fields that say who may call a route; they are added to its operation. */
  readonly accessOf: (route: RouteOptions) => Json;
  /** Further fields of the document itself. */
  readonly more: Json;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False for what people look at: it is in no document. */
    described?: false;
  }
}

/** Call it before the routes are registered, and the function that it returns after all of them are. */
export function describeRoutes(app: FastifyInstance, options: DocumentOptions): () => Json {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    if (route.config?.described !== false) routes.push(route);
  });
  return () => documentOf(routes, options);
}

function documentOf(routes: readonly RouteOptions[], options: DocumentOptions): Json {
  const { accessOf, description, more, securitySchemes, title, url } = options;
  const paths: Record<string, Json> = {};
  const named: Json = {};
  for (const route of routes) {
    const path = pathOf(route.url);
    for (const method of [route.method].flat())
      paths[path] = {
        ...paths[path],
        [method.toLowerCase()]: { ...operation(route, method, named), ...accessOf(route) },
      };
  }
  const document = {
    openapi: '3.1.0',
    info: { title, version: '1', description },
    servers: [{ url }],
    paths,
    components: { schemas: { ...named, Error: errorSchema }, securitySchemes },
    ...more,
  };
  return JSON.parse(JSON.stringify(document).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

/** `:id` is `{id}`; a wildcard stands for an id that may hold slashes. */
const pathOf = (url: string): string => url.replace(/:(\w+)/g, '{$1}').replace(/\*$/, '{id}');

function operation(route: RouteOptions, method: string, named: Json): Json {
  const { body, querystring } = (route.schema ?? {}) as { body?: z.ZodType; querystring?: z.ZodType };
  const path = pathOf(route.url);
  const takesKey = takesIdempotencyKey(method, route.url);
  const parameters = [
    ...pathParameters(route, path, named),
    ...parametersOf(querystring, 'query', named),
    ...(takesKey ? [idempotencyParameter] : []),
  ];
  return {
    operationId: [method.toLowerCase(), ...path.split(/[^a-z0-9]+/i).filter(Boolean)].join('_'),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: jsonBody(jsonSchema(body, 'input', named)),
      },
    }),
    responses: {
      '2XX': { ...successOf(route, named), ...(takesKey && { headers: replayHeaders }) },
      default: { description: 'Refused', content: jsonBody(ref('schemas', 'Error')) },
    },
  };
}

const { 'idempotent-replayed': replayed, 'idempotent-reexecuted': reexecuted } = headers;
const replayHeaders: Json = { 'idempotent-replayed': replayed, 'idempotent-reexecuted': reexecuted };

function successOf({ config }: RouteOptions, named: Json): Json {
  const reply = config?.reply;
  if (!reply) return { description: 'Success' };
  return { description: 'Success', content: jsonBody(jsonSchema(reply, 'output', named)) };
}

function pathParameters({ schema }: RouteOptions, path: string, named: Json): Json[] {
  const known = parametersOf(schema?.params as z.ZodType | undefined, 'path', named);
  return [...path.matchAll(/\{(\w+)\}/g)].map(
    ([, name]) => known.find((parameter) => parameter.name === name) ?? { ...inPath, name, schema: { type: 'string' } },
  );
}

const inPath = { in: 'path', required: true };

function parametersOf(schema: z.ZodType | undefined, place: 'path' | 'query', named: Json): Json[] {
  if (schema === undefined) return [];
  const { properties = {} } = jsonSchema(schema, 'input', named) as { properties?: Json };
  return Object.entries(properties).map(([name, each]) => ({
    ...(place === 'path' ? inPath : { in: place, required: false }),
    name,
    schema: each,
  }));
}

/**
 * Leaves out checks that JSON Schema cannot express, such as those in code. Named parts of the schema go to `named`.
 */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output', named: Json): Json {
  const { $schema: _, $defs = {}, id: __, ...converted } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  for (const [name, { id: ___, ...definition }] of Object.entries($defs)) named[name] = definition;
  return converted;
}
