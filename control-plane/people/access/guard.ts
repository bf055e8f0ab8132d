/**
 * Decides on each request of the operator listener whether it may be answered.
 *
 * Invariant: a route that does not state who may call it cannot be registered, so nothing is open by oversight. Whoever
 * is let in is known again on every request, with the rights of this moment: before the body is read, so that strangers
 * send none, and for a change once more behind it. What waits then looks again by `reauthorize`.
 */
import type { Addresses, ApiError } from '@gw/contract/errors';
import { isLoopback } from '@gw/contract/internal/loopback';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { hasRole, type OperatorRole, type Principal } from '../../shared/principal.ts';
import { refuse } from '../../shared/replies.ts';
import { crossSite, notLoggedIn, organisationAdminNeeded, roleNeeded } from './refusals.ts';

/** Who may call a route. */
export type Access =
  /** Anybody, logged in or not. */
  | { readonly kind: 'public' }
  /** Anybody who is logged in. */
  | { readonly kind: 'person' }
  /** Operators of at least this role. */
  | { readonly kind: 'operator'; readonly role: OperatorRole }
  | { readonly kind: 'organisation_admin' };

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
  }
}

/** Who makes a request, and how the request shows it. */
export interface Identified {
  readonly principal: Principal;
  /** A browser sends a cookie by itself, even when another site asks it to; a bearer token it never does. */
  readonly by: 'cookie' | 'bearer';
}

export interface GuardOptions {
  /** Returns null if the request proves nobody. Throws if that cannot be found out; then nobody is let in. */
  readonly identify: (request: FastifyRequest) => Promise<Identified | null>;
  readonly addresses: Addresses;
  /** Where people reach the port: `https://ops.example`. */
  readonly controlUrl: string;
}

export type LookAgain = (request: FastifyRequest) => Promise<ApiError | null>;

/** The header that a change with a session cookie needs, with any value: forms and links cannot set it. */
export const csrfHeader = 'x-gw-csrf';

/**
 * Makes `app` check every request. Call it before the routes are registered; from then on it throws for a route that
 * does not state its `access`. Returns what looks once more at whom it has let in, where a request has waited since: why
 * they may no longer do it, or null if they may.
 */
export function guardRoutes(app: FastifyInstance, { identify, addresses, controlUrl }: GuardOptions): LookAgain {
  const isSameOrigin = sameOriginAs(controlUrl);
  app.decorateRequest('principal', null);
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.access === undefined)
      throw new Error(`The route ${String(method)} ${url} does not state who may call it.`);
  });
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404) return;
    const access = request.routeOptions.config.access;
    if (access?.kind === 'public') return isSameOrigin(request) ? undefined : refuse(reply, crossSite(), addresses);
    const identified = await identify(request);
    const refusal = refusalOf(access, identified, isOwnRequest(request, isSameOrigin));
    if (refusal !== null) return refuse(reply, refusal, addresses);
    request.principal = identified?.principal ?? null;
  });
  const lookAgain = async (request: FastifyRequest): Promise<ApiError | null> => {
    const access = request.routeOptions.config.access;
    if (request.is404 || isRead(request) || access === undefined || access.kind === 'public') return null;
    const identified = await identify(request);
    const refusal = identified === null ? notLoggedIn() : refusalOfRole(access, identified.principal);
    if (refusal === null) request.principal = identified?.principal ?? null;
    return refusal;
  };
  // A body may come slowly, and its sender lose the right meanwhile.
  app.addHook('preHandler', async (request, reply) => {
    const refusal = await lookAgain(request);
    if (refusal !== null) return refuse(reply, refusal, addresses);
  });
  return lookAgain;
}

function refusalOf(access: Access | undefined, identified: Identified | null, isOwn: boolean): ApiError | null {
  if (identified === null) return notLoggedIn();
  if (identified.by === 'cookie' && !isOwn) return crossSite();
  return access === undefined ? notLoggedIn() : refusalOfRole(access, identified.principal);
}

/** Returns why a principal of this kind and role may not, or null if it may. */
export function refusalOfRole(access: Access, principal: Principal): ApiError | null {
  switch (access.kind) {
    case 'public':
    case 'person':
      return null;
    case 'operator':
      return principal.kind === 'operator' && hasRole(principal.role, access.role) ? null : roleNeeded(access.role);
    case 'organisation_admin':
      return principal.kind === 'organisation_admin' ? null : organisationAdminNeeded();
  }
}

const isRead = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD';

/**
 * The header cannot be set by a form or a link, and by a script of another origin only with our consent, which it
 * lacks.
 */
const isOwnRequest = (request: FastifyRequest, isSameOrigin: (request: FastifyRequest) => boolean): boolean =>
  isRead(request) || (request.headers[csrfHeader] !== undefined && isSameOrigin(request));

/**
 * Judged by the address that was set, not by `Host`: a name of somebody else's that is made to point here makes both
 * say the same. Old browsers and programs say neither; then the other walls have to hold.
 */
function sameOriginAs(controlUrl: string): (request: FastifyRequest) => boolean {
  const own = new URL(controlUrl);
  // All names of this machine are one, at the same port.
  const names = isLoopback(own.hostname) ? ['localhost', '127.0.0.1', '[::1]', own.hostname] : [own.hostname];
  const origins = new Set(names.map((name) => new URL(`${own.protocol}//${name}:${own.port}`).origin));
  return (request) => {
    if (isRead(request)) return true;
    const { origin, 'sec-fetch-site': site } = request.headers;
    if (site !== undefined && site !== 'same-origin') return false;
    return origin === undefined || origins.has(origin);
  };
}
