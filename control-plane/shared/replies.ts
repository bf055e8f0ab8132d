/**
 * How the control plane says no.
 *
 * Invariant: every refusal and every fault leaves as the error object of the contract; a fault shows no cause.
 */
import type { IncomingMessage } from 'node:http';
import { heldBodyBytes } from '@gw/contract/access';
import { type Addresses, type ApiError, apiError, errorBody, errorHeaders, fieldError } from '@gw/contract/errors';
import { elementAt } from '@gw/contract/internal/defined';
import { KeyAwayError } from '@gw/contract/internal/evidence-keys';
import { routes } from '@gw/contract/routes';
import { slashError, withMoreSlashes } from '@gw/contract/slashes';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { ObjectsUnavailableError } from './objects/objects.ts';
import { isStoreAway } from './store-away.ts';

const jsonType = 'application/json; charset=utf-8';

/** Sends the error object, with its status and its headers. */
export function refuse(reply: FastifyReply, error: ApiError, addresses: Addresses): FastifyReply {
  return reply
    .code(error.status)
    .headers(Object.fromEntries(errorHeaders(error)))
    .send(errorBody(error, addresses));
}

/** Sends a body that is JSON text already. */
export const sendJson = (reply: FastifyReply, text: string, status = 200): FastifyReply =>
  reply.code(status).type(jsonType).send(text);

/** When its client has it, or has gone; at once if it has gone already. */
export const whenOver = ({ raw }: FastifyReply, then: () => void): void => {
  if (raw.closed) then();
  else raw.once('close', then);
};

/** A hook (onSend) for a reply that holds something until its client has it: it is broken off if nothing of it moves for so long. */
export const endIfStalled =
  (stalledMs: number) =>
  async (_request: FastifyRequest, { raw }: FastifyReply) => {
    raw.setTimeout(stalledMs, () => raw.destroy());
  };

/** Makes `app` answer exceptions, unknown paths and wrong methods with the error object. What is 5xx is logged. */
export function handleErrors(app: FastifyInstance, addresses: Addresses): void {
  const slashed = new Map<string, RegExp>();
  app.addHook('onRoute', ({ url }) => {
    const path = url.replace(/:(\w+)/g, '{$1}');
    if (/^[\w/{}.-]+$/.test(path))
      slashed.set(path, new RegExp(`^${withMoreSlashes(path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+'))}$`));
  });
  app.setErrorHandler(async (cause, request, reply) => {
    const error = errorOf(cause, request);
    if (error.status >= 500) request.log.error({ err: cause }, 'a request failed');
    // A reply before the end of the body breaks the connection under whoever still writes, and is never read.
    if (error.code === 'request_too_large') await drained(request.raw);
    return refuse(reply, error, addresses);
  });
  const refuseUnknown = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = elementAt(request.url.split('?', 1), 0);
    const allowed = methodsOf(path);
    // A path that takes this method, but not here, is one of another listener.
    if (allowed.length > 0 && !allowed.includes(request.method))
      return refuse(reply.header('allow', allowed.join(', ')), apiError('method_not_allowed'), addresses);
    const [meant] = [...slashed].find(([, pattern]) => pattern.test(path)) ?? [];
    return refuse(reply, meant === undefined ? apiError('unknown_endpoint') : slashError(meant), addresses);
  };
  app.setNotFoundHandler(refuseUnknown);
  app.addHook('onRequest', async (request, reply) => {
    // The router takes `/keys/` for the path of a key whose id is empty.
    const isEmpty = Object.entries(request.params as object).some(([name, value]) => name !== '*' && value === '');
    return isEmpty ? refuseUnknown(request, reply) : undefined;
  });
}

function errorOf(error: unknown, { body, method, routeOptions }: FastifyRequest): ApiError {
  if (hasZodFastifySchemaValidationErrors(error)) return invalidField(error, body);
  if (error instanceof ObjectsUnavailableError)
    return apiError('overloaded', {
      retryAfterS: 10,
      message:
        'The object store, which has archived receipts and long evidence packs, does not answer at the moment. Try again after the time in Retry-After.',
    });
  if (error instanceof KeyAwayError)
    return apiError('overloaded', {
      retryAfterS: 10,
      message:
        'The service that keeps the key of evidence packs does not sign at the moment. Try again after the time in Retry-After.',
    });
  const status = typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : 500;
  if (status === 413)
    return apiError('request_too_large', { message: `The body is larger than ${routeOptions.bodyLimit / 1024} KiB.` });
  if (status === 415) return apiError('invalid_content_type', { param: 'Content-Type' });
  if (typeof status === 'number' && status >= 400 && status < 500) return apiError('invalid_request');
  // A change may have begun; a read can be asked for again.
  if ((method === 'GET' || method === 'HEAD') && isStoreAway(error)) return apiError('overloaded');
  return apiError('internal_error');
}

/** Until the body has been read and thrown away; what is longer than Envoy holds is broken off. */
async function drained(body: IncomingMessage): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += (chunk as Buffer).length;
      if (bytes > heldBodyBytes) return;
    }
  } catch {
    // Nobody waits for the reply any more.
  }
}

interface InvalidRequest {
  readonly validation: readonly {
    readonly instancePath: string;
    readonly keyword: string;
    readonly message?: string;
    readonly params: Readonly<Record<string, unknown>>;
  }[];
  readonly validationContext?: string;
}

/** The first problem, in the order of the schema: one error names one field. */
function invalidField({ validation, validationContext }: InvalidRequest, body: unknown): ApiError {
  const first = validation[0];
  const path = first?.instancePath.split('/').filter(Boolean) ?? [];
  const [unknown] = first?.keyword === 'unrecognized_keys' ? (first.params.keys as string[]) : [];
  if (unknown !== undefined) path.push(unknown.slice(0, 64));
  // Else the code, which is stable, would hold words of the client.
  if (unknown !== undefined && !/^[a-z_]+$/.test(unknown))
    return apiError('invalid_json', { message: 'The body holds an unknown field.' });
  const param = path.map((part, at) => (/^\d+$/.test(part) ? `[${part}]` : at === 0 ? part : `.${part}`)).join('');
  if (validationContext === 'body') {
    if (path.length === 0) return apiError('invalid_json', { message: 'The body has to be a JSON object.' });
    if (unknown === undefined && valueAt(body, path) === undefined)
      return apiError('missing_required_parameter', { message: `\`${param}\` is required.`, param });
  }
  return fieldError(param, `${param}: ${first?.message ?? 'not valid'}.`);
}

const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, part) => (at as Record<string, unknown> | null | undefined)?.[part], value);

/** The public routes that are answered here. */
const answered = routes
  .filter((route) => route.handler === 'control')
  .map(({ method, path }) => {
    const pattern = path.replace(/\{(\w+)\}/g, (_, name) => (name === 'model_id' ? '.+' : '[^/]+'));
    return { method, pattern: new RegExp(`^${pattern}$`) };
  });

const methodsOf = (path: string): string[] =>
  answered.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
