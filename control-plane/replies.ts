/**
 * How the control plane says no.
 *
 * Invariant: every refusal and every fault leaves as the error object of the contract; a fault shows no cause.
 */
import { routes } from '@gw/contract/access';
import { type Addresses, type ApiError, apiError, errorBody, fieldError } from '@gw/contract/errors';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { messageOf } from './repeat.ts';

const jsonType = 'application/json; charset=utf-8';

export function refuse(reply: FastifyReply, error: ApiError, addresses: Addresses): FastifyReply {
  if (error.status === 401) void reply.header('www-authenticate', 'Bearer');
  return reply.code(error.status).type(jsonType).send(errorBody(error, addresses));
}

/** For bodies that are JSON text already. */
export const sendJson = (reply: FastifyReply, text: string, status = 200): FastifyReply =>
  reply.code(status).type(jsonType).send(text);

export function handleErrors(app: FastifyInstance, addresses: Addresses): void {
  app.setErrorHandler((fault, request, reply) => {
    const error = errorOf(fault);
    if (error.status >= 500) request.log.error({ fault: messageOf(fault) }, 'a request failed');
    return refuse(reply, error, addresses);
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const known = request.method !== 'GET' && readable.some((pattern) => pattern.test(path));
    if (known) void reply.header('allow', 'GET');
    return refuse(reply, apiError(known ? 'method_not_allowed' : 'unknown_endpoint'), addresses);
  });
}

function errorOf(fault: unknown): ApiError {
  if (hasZodFastifySchemaValidationErrors(fault)) {
    const first = fault.validation[0];
    const path = first?.instancePath.split('/').filter(Boolean).join('.') ?? '';
    return fieldError(path, `${path}: ${first?.message ?? 'not valid'}.`);
  }
  const status = typeof fault === 'object' && fault !== null && 'statusCode' in fault ? fault.statusCode : 500;
  if (status === 413) return apiError('request_too_large');
  if (status === 415) return apiError('invalid_content_type', { param: 'Content-Type' });
  if (typeof status === 'number' && status >= 400 && status < 500) return apiError('invalid_request');
  return apiError('internal_error');
}

/** Paths of the public routes that are answered here; all of them take GET alone. */
const readable = routes
  .filter((route) => route.handler === 'control')
  .map(({ path }) => {
    const pattern = path.replace(/\{(\w+)\}/g, (_, name) => (name === 'model_id' ? '.+' : '[^/]+'));
    return new RegExp(`^${pattern}$`);
  });
