/** `/session/second-factor`: a person sets and removes the second factor of their own login. */
import { err, ok } from '@gw/contract/internal/result';
import type { Database, Prisma } from '@gw/prisma/client';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import { principalOf } from '../../shared/principal.ts';
import { answer, grantOf } from './change.ts';
import { auditPerson } from './login.ts';
import { asProven } from './prove.ts';
import { reauthorize } from './reauthorize.ts';
import { type ChangeResult, invalidTransition } from './refusals.ts';
import { removeSecondFactor, secondFactorSetAt, setAlready } from './second-factor.ts';
import type { AccessServices } from './services.ts';
import { codeSchema, credentialSchema, ownClaim } from './session-routes.ts';
import { endSessionsOf, type Person } from './sessions.ts';

const path = '/session/second-factor';
const person = { access: { kind: 'person' } } as const;
const object = z.literal('second_factor');

const stateSchema = z.strictObject({
  object,
  set_at: z.iso.datetime().nullable().describe('null: logins ask for no code'),
  can_be_set: z
    .boolean()
    .describe('false: the control plane has no GW_CREDENTIALS_KEY, or the person no credential to log in with'),
});
const madeSchema = z.strictObject({
  object,
  secret: z.string().describe('Base32, for an authenticator; shown once'),
  uri: z.string().describe('The same as `otpauth://totp/…`, for a QR code'),
});

export function secondFactorRoutes(base: FastifyInstance, context: Context, access: AccessServices): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  const { db } = context;
  const { cookie, secondFactors } = access;

  app.get(path, { config: { ...person, reply: stateSchema } }, async (request) => ({
    object: 'second_factor' as const,
    set_at: (await secondFactorSetAt(db, principalOf(request)))?.toISOString() ?? null,
    can_be_set: secondFactors.canBeMade && (await hasCredential(db, principalOf(request))),
  }));

  app.post(
    path,
    { config: { ...person, reply: madeSchema }, schema: { body: z.strictObject({ credential: credentialSchema }) } },
    async (request, reply) => {
      if ((await secondFactorSetAt(db, principalOf(request))) !== null)
        return answer(reply, err(setAlready()), context);
      const claim = await ownClaim(context, request, request.body.credential);
      const outcome = await asProven(context, access, claim, (tx, principal, at) =>
        secondFactors.make(tx, principal, claim.email, at),
      );
      return answer(reply, outcome.ok ? ok({ object: 'second_factor', ...outcome.value }) : outcome, context);
    },
  );

  app.put(
    path,
    { config: { ...person, reply: null }, schema: { body: z.strictObject({ code: codeSchema }) } },
    async (request, reply) => {
      const outcome = await confirm(context, access, request, request.body.code);
      if (!outcome.ok) return answer(reply, outcome, context);
      cookie.clear(reply);
      return reply.code(204).send();
    },
  );

  app.post(
    `${path}/remove`,
    {
      config: { ...person, reply: null },
      schema: { body: z.strictObject({ credential: credentialSchema, code: codeSchema }) },
    },
    async (request, reply) => {
      const { code, credential } = request.body;
      const claim = await ownClaim(context, request, credential, code);
      const outcome = await asProven(context, access, claim, async (tx, principal, at) => {
        if (!(await removeSecondFactor(tx, principal))) return err(invalidTransition('No second factor is set.'));
        const action = `${principal.kind}.second_factor_removed`;
        await auditPerson(tx, principal, { action, at, requestId: request.id });
        return ok(null);
      });
      return outcome.ok ? reply.code(204).send() : answer(reply, outcome, context);
    },
  );
}

/** From now on logins ask for codes. Ends all sessions of the person. */
function confirm(
  context: Context,
  { secondFactors }: AccessServices,
  request: FastifyRequest,
  code: string,
): Promise<ChangeResult<null>> {
  const principal = principalOf(request);
  const grant = grantOf(request, context);
  const { at } = grant;
  return context.db.$transaction(async (tx) => {
    await holdPerson(tx, principal);
    const refused = await reauthorize(tx, grant);
    if (refused !== null) return err(refused);
    const confirmed = await secondFactors.confirm(tx, principal, code, at);
    if (!confirmed.ok) return confirmed;
    const after = { sessions_ended: await endSessionsOf(tx, principal) };
    const action = `${principal.kind}.second_factor_set`;
    await auditPerson(tx, principal, { action, at, requestId: request.id, after });
    return confirmed;
  });
}

/** Before what is shared: two who confirm at once would wait for each other. */
const holdPerson = (tx: Prisma.TransactionClient, { id, kind }: Person): Promise<unknown> =>
  kind === 'operator'
    ? tx.$executeRaw`SELECT 1 FROM operators WHERE id = ${id} FOR NO KEY UPDATE`
    : tx.$executeRaw`SELECT 1 FROM organisation_admins WHERE id = ${id} FOR NO KEY UPDATE`;

async function hasCredential(db: Database, { id, kind }: Person): Promise<boolean> {
  const where = { id, credentialHash: { not: null } };
  const count = kind === 'operator' ? db.operator.count({ where }) : db.organisationAdmin.count({ where });
  return (await count) > 0;
}
