/**
 * `GET /session/oidc`: login with an identity provider, of operators and, with `?domain=`, of the admins of the account whose issuer has
 * that domain. Whatever goes wrong leads back to the page of the login, which says why.
 *
 * A second factor of the gateway is not asked for here: the provider has its own.
 *
 * Invariant: each issuer has a callback of its own, and a code goes only to the issuer that the browser began with and that this callback
 * belongs to. So no issuer gets, or can pass off as its own, what another one has sent (RFC 9700, 4.4).
 */
import { jsonIn } from '@gw/contract/internal/json-in';
import { ok, type Result } from '@gw/contract/internal/result';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import { type Attempt, networkOf } from './attempts.ts';
import { idSchema } from './fields.ts';
import { flowSchema } from './oidc.ts';
import { failedLoginPage, type OidcFailure, type OidcKind, oidcFailed } from './oidc-failure.ts';
import { logInAs } from './oidc-login.ts';
import { callbackPathOf } from './oidc-providers.ts';
import type { AccessServices } from './services.ts';

/** Redirects, and a page for people; providers may add parameters of their own. */
const config = { access: { kind: 'public' }, reply: null, anyQuery: true, described: false } as const;
const flowMaxAgeS = 600;
/** The way here began on another site, which a strict cookie does not follow; from this page on it is our own. */
const welcomePage =
  '<!doctype html><meta charset="utf-8"><title>Logged in</title><meta http-equiv="refresh" content="0;url=/"><p>You are logged in. <a href="/">Go on</a></p>';

const begunSchema = flowSchema.extend({ account: z.string().nullable() });
const query = z.object({ domain: z.string().trim().toLowerCase().min(1).max(253).optional() });
const params = z.object({ accountId: idSchema });

export function oidcRoutes(base: FastifyInstance, context: Context, access: AccessServices): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  const { accountIssuers, oidc: providers, oidcLogins } = access;
  const secure = access.settings.controlUrl.startsWith('https:');
  const cookieName = secure ? '__Host-gw_oidc' : 'gw_oidc';
  // Lax: the browser comes back from another site.
  const cookie = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const;
  const told = teller(context, access);

  app.get('/session/oidc', { config, schema: { querystring: query } }, (request, reply) => {
    const { domain } = request.query;
    const isForeign = ['cross-site', 'same-site'].includes(String(request.headers['sec-fetch-site']));
    // Another site could have the browser log in with an issuer of its own, to an account of its own.
    if (domain !== undefined && isForeign) return reply.redirect('/dashboard/');
    return told(request, reply, domain === undefined ? 'operator' : 'organisation_admin', async () => {
      const issuer = domain === undefined ? null : await accountIssuers.ofDomain(domain);
      const oidc = domain !== undefined && issuer === null ? null : providers.of(issuer);
      if (oidc === null) return oidcFailed('no_provider', 'none is set up');
      const begun = await oidc.begin();
      if (!begun.ok) return begun;
      const flow = { ...begun.value.flow, account: issuer?.accountId ?? null };
      void reply.setCookie(cookieName, JSON.stringify(flow), { ...cookie, maxAge: flowMaxAgeS });
      return ok(reply.redirect(begun.value.url));
    });
  });

  const finish = (request: FastifyRequest, reply: FastifyReply, accountId: string | null) => {
    const flow = readFlow(app.parseCookie(request.headers.cookie ?? '')[cookieName]);
    // One try: what was begun cannot be finished twice.
    void reply.clearCookie(cookieName, cookie);
    const kind = accountId === null ? 'operator' : 'organisation_admin';
    return told(request, reply, kind, async () => {
      if (flow === null || flow.account !== accountId)
        return oidcFailed('expired', 'this browser has not begun a login with this issuer, or too long ago');
      const token = await logInWith(context, access, request, flow);
      if (!token.ok) return token;
      oidcLogins.inc({ kind, outcome: 'logged_in' });
      access.cookie.set(reply, token.value);
      return ok(reply.type('text/html; charset=utf-8').send(welcomePage));
    });
  };
  app.get(callbackPathOf(null), { config }, (request, reply) => finish(request, reply, null));
  app.get(callbackPathOf(':accountId'), { config, schema: { params } }, (request, reply) =>
    finish(request, reply, request.params.accountId),
  );
}

/**
 * Leads from a login that failed to its page, which tells the reason in words of its own: nothing of the request goes there. Fail-closed:
 * an error of a store is such a reason.
 */
const teller =
  ({ log }: Context, { failedLogins, oidcLogins }: AccessServices) =>
  async (
    request: FastifyRequest,
    reply: FastifyReply,
    kind: OidcKind,
    work: () => Promise<Result<FastifyReply, OidcFailure>>,
  ): Promise<FastifyReply> => {
    const outcome = await work().catch((error: unknown) => {
      log.error({ err: error, requestId: request.id }, 'a login with an identity provider failed with an error');
      return oidcFailed('unavailable', 'see the error that was logged with it');
    });
    if (outcome.ok) return outcome.value;
    const { detail, reason } = outcome.error;
    oidcLogins.inc({ kind, outcome: reason });
    log.warn({ kind, reason, detail, requestId: request.id }, 'a login with an identity provider failed');
    failedLogins.note(null, request.ip);
    return reply.redirect(failedLoginPage(kind, reason));
  };

type Begun = z.infer<typeof begunSchema>;

/** The token of a new session. Each try asks the provider, so that made-up ones are slowed down. */
async function logInWith(
  { db, now }: Context,
  { accountIssuers, attempts, oidc: providers }: AccessServices,
  { id, ip, url }: FastifyRequest,
  flow: Begun,
): Promise<Result<string, OidcFailure>> {
  const { account } = flow;
  const issuer = account === null ? null : await accountIssuers.ofAccount(account);
  const oidc = account !== null && issuer === null ? null : providers.of(issuer);
  if (oidc === null) return oidcFailed('no_provider', 'it was removed meanwhile');
  const attempt = attemptOf(ip);
  const { waitMs } = await attempts.admit(attempt);
  if (waitMs > 0) return oidcFailed('too_many_logins', `the next one is heard in ${Math.ceil(waitMs / 1000)} s`);
  const identity = await oidc.finish(url.slice(url.indexOf('?')), flow);
  if (!identity.ok) return identity;
  const token = await db.$transaction(async (tx) => {
    if (issuer !== null && !(await accountIssuers.hold(tx, issuer)))
      return oidcFailed('no_provider', 'it was changed meanwhile');
    return logInAs(tx, identity.value, account, { at: now(), requestId: id, address: ip });
  });
  if (token.ok) await attempts.succeeded(attempt);
  return token;
}

/**
 * Nobody is named yet, so that the address stands for the person too. With counters of its own: logins that fail because
 * the provider is away must not keep anybody there from logging in with a credential, which is to stand in for it.
 */
function attemptOf(address: string): Attempt {
  const network = `oidc ${networkOf(address)}`;
  return { subject: network, address: network };
}

const readFlow = (text: string | undefined): Begun | null =>
  text === undefined ? null : (begunSchema.safeParse(jsonIn(text)).data ?? null);
