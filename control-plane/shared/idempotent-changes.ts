/**
 * Changes that come with an idempotency key: the second one with the key gets the reply of the first, and changes nothing.
 *
 * Invariants: a key is claimed behind everything that decides who may do what, so that nobody learns of the keys of others or
 * holds them up; and whoever gets a reply again may have it at that moment. Fails closed: where nobody knows whether a change
 * was made, nothing is changed. A request without the header costs and risks nothing of this.
 */
import { type ApiError, apiError } from '@gw/contract/errors';
import {
  bodySha256,
  idempotencyKeyHeader,
  isIdempotencyKey,
  reexecutedChange,
  reexecutedHeader,
  replayedHeader,
} from '@gw/contract/internal/idempotency-key';
import type { Claim, ClaimResult, Idempotency, StoredReply } from '@gw/service/idempotency';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from './context.ts';
import { refuse, whenOver } from './replies.ts';

/** A reply that may be given again. */
export interface MadeReply {
  readonly text: string;
  /** Who made the change: what `stampOf` returned then. */
  readonly stamp: string;
}

/** Who asks for changes on a listener. */
export interface Actors {
  /** Names whose keys are told apart from those of others. */
  scopeOf(request: FastifyRequest): string;
  /** Is kept with a reply, for `refusal` to compare with whoever wants it again. */
  stampOf(request: FastifyRequest): string;
  /** Looks anew whether the request may be carried out, or, with a reply of before, be answered with it. */
  refusal(request: FastifyRequest, made: MadeReply | null): Promise<ApiError | null>;
}

export type Idempotent = Pick<Idempotency, 'claim'>;

export interface IdempotentOptions {
  readonly idempotency: Idempotent;
  readonly actors: Actors;
}

interface Keyed {
  readonly key: string;
  /** The digest of body and query as they came, since a schema may turn them into values without a canonical form. */
  readonly request: string;
  claim: Claim | null;
  /** Whether the change may have begun. */
  mayRun: boolean;
}

/** A larger reply is not kept: the replies of changes are small, but for that of a whole catalogue. */
const maxKeptBytes = 2 * 1024 * 1024;
const waitMs = 20_000;
const retryAfterS = { waited: 1, crowded: 5 } as const;
const param = 'Idempotency-Key';
/** The headers of the first reply that are repeated; the others are new with each reply. */
const keptHeaders = ['content-type', 'cache-control', 'location', reexecutedHeader] as const;
/** Never reaches a client. */
const stampHeader = 'x-gw-stamp';
const readMethods = ['GET', 'HEAD', 'OPTIONS'];

/** Logins and logouts take none, nor does what Envoy asks for. */
export const takesIdempotencyKey = (method: string, path: string): boolean =>
  !readMethods.includes(method) && /^\/(v1|operator\/v1|organisation\/v1)\//.test(path);

/** Call it behind what decides who may do what, and before the routes are registered. */
export function makeChangesIdempotent(
  app: FastifyInstance,
  { addresses }: Context,
  { actors, idempotency }: IdempotentOptions,
): void {
  const keyed = new WeakMap<FastifyRequest, Keyed>();
  app.addHook('preValidation', async (request, reply) => {
    const key = request.headers[idempotencyKeyHeader];
    if (key === undefined || request.is404 || readMethods.includes(request.method)) return;
    const error = keyError(request, key);
    if (error !== null) return refuse(reply, error, addresses);
    const { body = null, query } = request;
    keyed.set(request, { key: String(key), request: bodySha256({ body, query }), claim: null, mayRun: false });
  });
  app.addHook('preHandler', async (request, reply) => {
    const call = keyed.get(request);
    if (call === undefined) return;
    const found = await idempotency.claim(
      { accountId: actors.scopeOf(request), path: placeOf(request), key: call.key, body: call.request },
      { mostMs: waitMs, bytes: sizeOf(request), onGone: (then) => whenOver(reply, then) },
    );
    if (found.is === 'claimed') return begin(found.claim, call, request, reply);
    if (found.is === 'replay') return replay(found.reply, request, reply);
    return refuse(reply, errorOf(found), addresses);
  });

  const begin = async (claim: Claim, call: Keyed, request: FastifyRequest, reply: FastifyReply) => {
    // From here on each reply ends the claim, also that of an exception.
    call.claim = claim;
    if (claim.mayHaveRun) void reply.header(reexecutedHeader, reexecutedChange);
    // It may have waited.
    const error = await actors.refusal(request, null);
    if (error !== null) return refuse(reply, error, addresses);
    call.mayRun = true;
  };

  const replay = async ({ body, headers, status }: StoredReply, request: FastifyRequest, reply: FastifyReply) => {
    const { [stampHeader]: stamp = '', ...shown } = headers;
    const text = Buffer.concat(body).toString();
    const error = await actors.refusal(request, { text, stamp });
    if (error !== null) return refuse(reply, error, addresses);
    void reply.code(status).headers({ ...shown, [replayedHeader]: 'true' });
    return text === '' ? reply.send() : reply.send(text);
  };

  app.addHook('onSend', async (request, reply, payload) => {
    const call = keyed.get(request);
    const claim = call?.claim;
    if (!call || !claim) return;
    call.claim = null;
    const { statusCode } = reply;
    // A failed change may have failed after its commit; a refused one has changed nothing.
    if (statusCode >= 300) return claim.free(call.mayRun && statusCode >= 500);
    const stored = storedReply(reply, payload, actors.stampOf(request));
    // Stored before it is sent, so that whoever has it gets it again. If it cannot be stored it is sent all the same (open:
    // the change is made); the key is free when its lease is over, and the next one is told.
    const end = await claim.finish(stored && (await claim.seal(stored)), request.id);
    if (end === 'lost') request.log.warn('a reply was not stored for its idempotency key');
  });
}

function keyError({ method, routeOptions }: FastifyRequest, key: string | string[]): ApiError | null {
  if (!takesIdempotencyKey(method, routeOptions.url ?? '')) {
    // Ignored, it would promise that nothing is done twice.
    const message = 'This endpoint takes no Idempotency-Key: sent twice, the request would run twice.';
    return apiError('invalid_idempotency_key', { param, message });
  }
  return typeof key === 'string' && isIdempotencyKey(key) ? null : apiError('invalid_idempotency_key', { param });
}

/** The same for an id that is written raw and encoded. */
const placeOf = ({ method, params, routeOptions }: FastifyRequest): string =>
  `${method} ${routeOptions.url} ${JSON.stringify(params)}`;

const sizeOf = ({ headers, routeOptions }: FastifyRequest): number =>
  headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : routeOptions.bodyLimit;

/** Null if it is not to be kept. */
function storedReply(reply: FastifyReply, payload: unknown, stamp: string): StoredReply | null {
  const text = payload ?? '';
  if (typeof text !== 'string') return null;
  const body = Buffer.from(text);
  if (body.length > maxKeptBytes) return null;
  const headers: Record<string, string> = { [stampHeader]: stamp };
  for (const name of keptHeaders) {
    const value = reply.getHeader(name);
    if (value !== undefined) headers[name] = String(value);
  }
  return { status: reply.statusCode, headers, body: [body] };
}

function errorOf(found: Exclude<ClaimResult, { readonly is: 'claimed' | 'replay' }>): ApiError {
  switch (found.is) {
    case 'reused':
      return apiError('idempotency_key_reused', { param });
    case 'running':
      return apiError('idempotency_in_progress', { retryAfterS: retryAfterS[found.waited ? 'waited' : 'crowded'] });
    case 'unknown':
      return apiError('idempotency_unavailable', { retryAfterS: 1 });
    case 'not_kept': {
      const message = `A request with this Idempotency-Key was carried out, and its reply was not kept. It was the request ${found.reference}: look at what it has changed.`;
      return apiError('idempotency_reply_not_kept', { message, param });
    }
  }
}
