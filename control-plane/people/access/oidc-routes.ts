/**
 * `GET /session/oidc`: login of operators with an identity provider, where one is configured.
 *
 * A second factor of the gateway is not asked for here: the provider has its own.
 *
 * Invariant: it lets in only operators whom an admin has made. The first login binds the provider's subject to the
 * operator with that verified e-mail; from then on the subject alone decides, whatever the e-mail becomes.
 */
import { errorText } from '@gw/contract/internal/error-text';
import { jsonIn } from '@gw/contract/internal/json-in';
import type { Prisma } from '@gw/prisma/client';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../../shared/context.ts';
import type { OperatorPrincipal } from '../../shared/principal.ts';
import { refuse } from '../../shared/replies.ts';
import { type Attempt, networkOf } from './attempts.ts';
import { answer } from './change.ts';
import { emailDigestOf } from './hidden-person.ts';
import { auditPerson } from './login.ts';
import { callbackPath, flowSchema, type Oidc, type OidcFlow, type OidcIdentity } from './oidc.ts';
import { identityProviderAway, loginFailed, type Refusal, slowDown } from './refusals.ts';
import type { AccessServices } from './services.ts';
import { sessionIdOf, startSession } from './sessions.ts';

type Tx = Prisma.TransactionClient;

// A redirect, and a page for people.
const config = { access: { kind: 'public' }, reply: null } as const;
const flowMaxAgeS = 600;
/** The way here began on another site, which a strict cookie does not follow; from this page on it is our own. */
const welcomePage =
  '<!doctype html><meta charset="utf-8"><title>Logged in</title><meta http-equiv="refresh" content="0;url=/"><p>You are logged in. <a href="/">Go on</a></p>';

export function oidcRoutes(app: FastifyInstance, context: Context, access: AccessServices, oidc: Oidc): void {
  const { addresses, db, log, now } = context;
  const secure = access.settings.controlUrl.startsWith('https:');
  const cookieName = secure ? '__Host-gw_oidc' : 'gw_oidc';
  // Lax: the browser comes back from another site.
  const cookie = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const;

  app.get('/session/oidc', { config }, async (_request, reply) => {
    try {
      const { flow, url } = await oidc.begin();
      void reply.setCookie(cookieName, JSON.stringify(flow), { ...cookie, maxAge: flowMaxAgeS });
      return reply.redirect(url);
    } catch (error) {
      log.warn({ err: error }, 'the identity provider does not answer');
      return refuse(reply, identityProviderAway(), addresses);
    }
  });

  // Providers may add parameters of their own.
  app.get(callbackPath, { config: { ...config, anyQuery: true } }, async (request, reply) => {
    const flow = readFlow(app.parseCookie(request.headers.cookie ?? '')[cookieName]);
    // One try: what was begun cannot be finished twice.
    void reply.clearCookie(cookieName, cookie);
    const token = flow && (await logInWith(request, flow));
    if (token !== null && typeof token === 'object') return answer(reply, token, context);
    if (token === null) {
      access.failedLogins.note(null, request.ip);
      return refuse(reply, loginFailed(), addresses);
    }
    access.cookie.set(reply, token);
    return reply.type('text/html; charset=utf-8').send(welcomePage);
  });

  /** The token of a new session, or null. Each try asks the provider, so that made-up ones are slowed down. */
  async function logInWith({ id, ip, url }: FastifyRequest, flow: OidcFlow): Promise<string | Refusal | null> {
    const attempt = attemptOf(ip);
    const { waitMs } = await access.attempts.admit(attempt);
    if (waitMs > 0) return slowDown(waitMs);
    const identity = await finish(url, flow);
    const token = identity && (await db.$transaction((tx) => logIn(tx, identity, now(), id)));
    if (token !== null) await access.attempts.succeeded(attempt);
    return token;
  }

  async function finish(url: string, flow: OidcFlow): Promise<OidcIdentity | null> {
    try {
      return await oidc.finish(url.slice(url.indexOf('?')), flow);
    } catch (error) {
      // Without its causes: of a reply that is not JSON they quote the beginning, which may be that of a token.
      log.info({ reason: errorText(error) }, 'a login with the identity provider failed');
      return null;
    }
  }
}

/**
 * Nobody is named yet, so that the address stands for the person too. With counters of its own: logins that fail because
 * the provider is away must not keep anybody there from logging in with a credential, which is to stand in for it.
 */
function attemptOf(address: string): Attempt {
  const network = `oidc ${networkOf(address)}`;
  return { subject: network, address: network };
}

const readFlow = (text: string | undefined): OidcFlow | null =>
  text === undefined ? null : (flowSchema.safeParse(jsonIn(text)).data ?? null);

/** The token of a new session, or null: no enabled operator belongs to this identity. */
async function logIn(tx: Tx, identity: OidcIdentity, at: Date, requestId: string): Promise<string | null> {
  const principal = await findOrBind(tx, identity, at, requestId);
  if (principal === null) return null;
  const token = await startSession(tx, principal, at);
  const person = { ...principal, proof: { kind: 'session', id: sessionIdOf(token) } as const };
  await auditPerson(tx, person, { action: 'session.started', at, requestId, after: { by: 'oidc' } });
  return token;
}

async function findOrBind(
  tx: Tx,
  { email, issuer, subject }: OidcIdentity,
  at: Date,
  requestId: string,
): Promise<OperatorPrincipal | null> {
  const where = { oidcIssuer_oidcSubject: { oidcIssuer: issuer, oidcSubject: subject } };
  // Held until the session is there: whoever disables or unbinds the operator at this moment finds it, or it is not made.
  await tx.$executeRaw`
    SELECT 1 FROM operators WHERE oidc_issuer = ${issuer} AND oidc_subject = ${subject} FOR UPDATE`;
  const bound = await tx.operator.findUnique({ where });
  if (bound !== null) return bound.disabledAt === null ? principalFrom(bound) : null;
  if (email === null) return null;
  const free = { emailDigest: await emailDigestOf(tx, email), disabledAt: null, oidcSubject: null };
  const { count } = await tx.operator.updateMany({ where: free, data: { oidcIssuer: issuer, oidcSubject: subject } });
  if (count === 0) return null;
  const principal = principalFrom(await tx.operator.findUniqueOrThrow({ where }));
  const after = { issuer, subject };
  await auditPerson(tx, principal, { action: 'operator.identity_bound', at, requestId, after });
  return principal;
}

const principalFrom = ({ id, name, role }: Prisma.OperatorGetPayload<object>): OperatorPrincipal => ({
  kind: 'operator',
  id,
  name,
  role,
  proof: null,
});
