/**
 * The OpenAPI document of the running gateway, as a judge of replies.
 *
 * Invariant: the judge knows nothing of the product's own schemas: what it holds replies against is what clients can read.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Reply } from '../input/ask.ts';

const headerSchema = z.looseObject({ required: z.boolean().optional(), schema: z.looseObject({}) });
const responseSchema = z.looseObject({
  headers: z.record(z.string(), z.union([headerSchema, z.object({ $ref: z.string() })])).optional(),
  // A 304 has no body, and bytes have no schema.
  content: z.record(z.string(), z.looseObject({ schema: z.looseObject({}).optional() })).default({}),
});
const documentSchema = z.looseObject({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.looseObject({ responses: z.record(z.string(), z.union([z.object({ $ref: z.string() }), responseSchema])) }),
    ),
  ),
  components: z.looseObject({
    responses: z.record(z.string(), responseSchema),
    headers: z.record(z.string(), headerSchema),
  }),
  'x-error-catalogue': z.record(z.string(), z.unknown()),
});

const error = z.strictObject({
  code: z.string().regex(/^[a-z][A-Za-z0-9_]*$/),
  type: z.string(),
  message: z.string().min(1),
  param: z.string().nullable(),
  doc_url: z.url(),
});
const errorObject = z.strictObject({ error });
const messagesError = z.strictObject({ type: z.literal('error'), error, request_id: z.string().nullable() });
export type ErrorBody = z.infer<typeof error>;

/** Errors on the paths of Anthropic's API have another form. */
const isOfMessages = (path: string): boolean => /^\/+v1\/messages(?:[/?]|$)/.test(path);
/** Whether an error is to have that form: not if it was made before the path is known. */
const hasMessagesForm = (path: string, code: string): boolean =>
  isOfMessages(path) && code !== 'invalid_request' && code !== 'invalid_content_type';

export interface Judge {
  /**
   * Fails unless the reply is one of those that the document has for the route, or, for what names no route of the
   * document, one of its error replies.
   */
  judge(method: string, path: string, reply: Reply): void;
  /** The same for an error, which besides has the five fields and no other, and a `doc_url` that leads to its code. */
  judgeError(method: string, path: string, reply: Reply): ErrorBody;
}

export async function readDocument(publicUrl: string): Promise<Judge> {
  const raw: unknown = await (await fetch(`${publicUrl}/openapi.json`)).json();
  return makeJudge(raw, publicUrl);
}

function makeJudge(raw: unknown, publicUrl: string): Judge {
  const document = documentSchema.parse(raw);
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(raw as object, 'openapi');
  const compiled = new Map<string, ValidateFunction>();
  /** `pointer`: of a schema within the document, whose references lead on within it. */
  const validatorOf = (pointer: string): ValidateFunction => {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi#${pointer}` });
    compiled.set(pointer, known);
    return known;
  };

  const responseOf = (method: string, path: string, status: number) => {
    const route = routeOf(Object.keys(document.paths), path.split('?', 1)[0] ?? '');
    const operation = route === null ? undefined : document.paths[route]?.[method.toLowerCase()];
    // A request that the document does not know is refused with one of the errors that it has.
    if (route === null || operation === undefined)
      return named(`${isOfMessages(path) ? 'MessagesError' : 'Error'}${status}`);
    const found = operation.responses[String(status)];
    expect(found, `${status} of ${method} ${route}`).toBeDefined();
    if (found !== undefined && '$ref' in found) return named(String(found.$ref).split('/').at(-1) ?? '');
    const pointer = `/paths/${escaped(route)}/${method.toLowerCase()}/responses/${status}`;
    return { pointer, response: responseSchema.parse(found) };
  };
  const named = (name: string) => ({
    pointer: `/components/responses/${name}`,
    response: responseSchema.parse(document.components.responses[name]),
  });

  const judge: Judge['judge'] = (method, path, reply) => {
    const { pointer, response } = responseOf(method, path, reply.status);
    const type = String(reply.headers['content-type']).split(';', 1)[0] ?? '';
    expect(Object.keys(response.content), reply.text.slice(0, 300)).toContain(type);
    if (/^application\/(ld\+)?json$/.test(type)) {
      const validate = validatorOf(`${pointer}/content/${escaped(type)}/schema`);
      expect(validate(JSON.parse(reply.text)), ajv.errorsText(validate.errors)).toBe(true);
    }
    for (const name of Object.keys(reply.headers).filter((each) => each.startsWith('x-ratelimit-')))
      expect(Object.keys(response.headers ?? {}), `${reply.status} of ${method} ${path}`).toContain(name);
    for (const [name, header] of Object.entries(response.headers ?? {})) {
      const known =
        '$ref' in header ? document.components.headers[String(header.$ref).split('/').at(-1) ?? ''] : header;
      const value = reply.headers[name];
      if (value === undefined) expect(known?.required ?? false, `${name} is missing`).toBe(false);
      else expect(ajv.validate(known?.schema ?? {}, typed(String(value))), `${name}: ${value}`).toBe(true);
    }
  };

  return {
    judge,
    judgeError: (method, path, reply) => {
      judge(method, path, reply);
      const body = JSON.parse(reply.text);
      const ofMessages = 'request_id' in body;
      const { error } = (ofMessages ? messagesError : errorObject).parse(body);
      if (hasMessagesForm(path, error.code)) expect(ofMessages, reply.text).toBe(true);
      const code = error.doc_url.replace(`${publicUrl}/errors/`, '');
      const entry = document['x-error-catalogue'][code];
      expect(entry, error.doc_url).toBeDefined();
      const status = z.union([z.literal(reply.status), z.number()]);
      const {
        type,
        status: usual,
        pathStatus,
      } = z.looseObject({ type: z.string(), status, pathStatus: z.number().optional() }).parse(entry);
      // Anthropic's types are in the schema of the replies alone.
      expect([ofMessages ? error.type : type, [usual, pathStatus].includes(reply.status)]).toEqual([error.type, true]);
      return error;
    },
  };
}

/** A header's text as the JSON value that its schema speaks of. */
const typed = (value: string): unknown => (/^\d+(\.\d+)?$/.test(value) ? Number(value) : value);

const escaped = (part: string): string => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

function routeOf(routes: readonly string[], path: string): string | null {
  const fits = (route: string) =>
    new RegExp(`^${route.replace(/\{model_id\}/, '.+').replace(/\{\w+\}/g, '[A-Za-z0-9._~-]+')}$`).test(path);
  return routes.find((route) => route === path) ?? routes.find(fits) ?? null;
}
