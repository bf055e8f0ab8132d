/** `/session`: log in, who am I, log out. For operators and for the admins of organisations alike. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import { opened } from '../../shared/names/names.ts';
import { operatorRoles, type Principal, principalOf } from '../../shared/principal.ts';
import { answer } from './change.ts';
import { maxCredentialLength, minCredentialLength } from './credential.ts';
import { auditPerson, changeCredential, logIn } from './login.ts';
import type { Claim } from './prove.ts';
import type { AccessServices } from './services.ts';
import { endSession, endSessionsOf, findSession, sessionMs } from './sessions.ts';

/** As authenticators show it, in groups or not. */
export const codeSchema = z
  .string()
  .transform((text) => text.replaceAll(/\s/g, ''))
  .pipe(z.string().regex(/^[0-9]{6}$/, 'must be the 6 digits that the authenticator shows'))
  .describe('Of the second factor: 6 digits');
export const credentialSchema = z.string().min(1).max(maxCredentialLength);
const loginBody = z.strictObject({
  email: z.string().trim().toLowerCase().min(1).max(254),
  credential: credentialSchema,
  as: z.enum(['operator', 'organisation_admin']).default('operator'),
  code: codeSchema.optional(),
});
const credentialBody = z.strictObject({
  current: credentialSchema,
  next: credentialSchema.min(minCredentialLength, `must have at least ${minCredentialLength} characters`),
  code: codeSchema.optional(),
});

const anybody = { access: { kind: 'public' } } as const;
const person = { access: { kind: 'person' } } as const;
const ended = { ...person, reply: null };

const who = { object: z.literal('session'), id: z.string(), name: z.string() };
const operatorFields = { ...who, kind: z.literal('operator'), role: z.enum(operatorRoles) };
const adminFields = { ...who, kind: z.literal('organisation_admin'), account_id: z.string() };
const sessionSchema = z.union([z.strictObject(operatorFields), z.strictObject(adminFields)]);
const until = { expires_at: z.iso.datetime() };
const startedSchema = z.union([
  z.strictObject({ ...operatorFields, ...until }),
  z.strictObject({ ...adminFields, ...until }),
]);

export function sessionRoutes(base: FastifyInstance, context: Context, access: AccessServices): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  const { db, now } = context;
  const { cookie } = access;

  app.post(
    '/session',
    { config: { ...anybody, reply: startedSchema }, schema: { body: loginBody } },
    async (request, reply) => {
      const { as: kind, code = null, credential, email } = request.body;
      const login = { kind, email, credential, code, address: request.ip, requestId: request.id };
      const shown = cookie.read(request);
      const before = shown === null ? null : await findSession(db, shown, now());
      const replaced = shown === null || before === null ? null : { token: shown, principal: before };
      const outcome = await logIn(context, access, login, replaced);
      if (!outcome.ok) return answer(reply, outcome, context);
      const { token, principal } = outcome.value;
      cookie.set(reply, token);
      return { ...viewOf(principal), expires_at: new Date(now().getTime() + sessionMs).toISOString() };
    },
  );

  app.get('/session', { config: { ...person, reply: sessionSchema } }, async (request) => viewOf(principalOf(request)));

  app.delete('/session', { config: ended }, async (request, reply) => {
    const principal = principalOf(request);
    // Beside an operator token a cookie was not looked at: it may be anybody's.
    const token = principal.proof?.kind === 'session' ? cookie.read(request) : null;
    if (token !== null)
      await db.$transaction(async (tx) => {
        await endSession(tx, token);
        await auditPerson(tx, principal, { action: 'session.ended', at: now(), requestId: request.id });
      });
    cookie.clear(reply);
    return reply.code(204).send();
  });

  app.delete('/session/all', { config: ended }, async (request, reply) => {
    const principal = principalOf(request);
    await db.$transaction(async (tx) => {
      const after = { sessions_ended: await endSessionsOf(tx, principal) };
      await auditPerson(tx, principal, { action: 'session.all_ended', at: now(), requestId: request.id, after });
    });
    cookie.clear(reply);
    return reply.code(204).send();
  });

  app.put('/session/credential', { config: ended, schema: { body: credentialBody } }, async (request, reply) => {
    const { current: credential, code, next } = request.body;
    const claim = await ownClaim(context, request, credential, code);
    const outcome = await changeCredential(context, access, claim, next);
    if (!outcome.ok) return answer(reply, outcome, context);
    cookie.clear(reply);
    return reply.code(204).send();
  });
}

/** Returns the claim with which a person who is logged in proves who they are once more. */
export async function ownClaim(
  { db }: Pick<Context, 'db'>,
  request: FastifyRequest,
  credential: string,
  code: string | null = null,
): Promise<Claim> {
  const { kind, id } = principalOf(request);
  const where = { id };
  const { email } =
    kind === 'operator'
      ? await db.operator.findUniqueOrThrow({ where })
      : await db.organisationAdmin.findUniqueOrThrow({ where });
  return { kind, email: await opened(db, email), credential, code, address: request.ip, requestId: request.id };
}

function viewOf(principal: Principal): z.infer<typeof sessionSchema> {
  const { id, name } = principal;
  return principal.kind === 'operator'
    ? { object: 'session', kind: principal.kind, id, name, role: principal.role }
    : { object: 'session', kind: principal.kind, id, name, account_id: principal.accountId };
}
