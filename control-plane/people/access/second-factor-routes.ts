/** `/session/second-factor`: a person sets and removes the second factor of their own login. */
import { err, ok } from '@gw/contract/internal/result';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Context } from '../../shared/context.ts';
import { answer, grantOf } from './change.ts';
import { auditPerson } from './login.ts';
import { principalOf } from './principal.ts';
import { asProven } from './prove.ts';
import { reauthorize } from './reauthorize.ts';
import { invalidTransition } from './refusals.ts';
import { removeSecondFactor, secondFactorSetAt } from './second-factor.ts';
import type { AccessServices } from './services.ts';
import { codeSchema, credentialSchema, ownClaim } from './session-routes.ts';
import { endSessionsOf } from './sessions.ts';

const path = '/session/second-factor';
const person = { access: { kind: 'person' } } as const;
const object = z.literal('second_factor');

const stateSchema = z.strictObject({
  object,
  set_at: z.iso.datetime().nullable().describe('null: logins ask for no code'),
  can_be_set: z.boolean().describe('false: the control plane has no GW_CREDENTIALS_KEY'),
});
const madeSchema = z.strictObject({
  object,
  secret: z.string().describe('Base32, for an authenticator; shown once'),
  uri: z.string().describe('The same as `otpauth://totp/…`, for a QR code'),
});

export function secondFactorRoutes(base: FastifyInstance, context: Context, access: AccessServices): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  const { db, now } = context;
  const { cookie, secondFactors } = access;

  app.get(path, { config: { ...person, reply: stateSchema } }, async (request) => ({
    object: 'second_factor' as const,
    set_at: (await secondFactorSetAt(db, principalOf(request)))?.toISOString() ?? null,
    can_be_set: secondFactors.canBeMade,
  }));

  app.post(
    path,
    { config: { ...person, reply: madeSchema }, schema: { body: z.strictObject({ credential: credentialSchema }) } },
    async (request, reply) => {
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
      const principal = principalOf(request);
      const at = now();
      const outcome = await db.$transaction(async (tx) => {
        const refused = await reauthorize(tx, grantOf(request, context));
        if (refused !== null) return err(refused);
        const confirmed = await secondFactors.confirm(tx, principal, request.body.code, at);
        if (!confirmed.ok) return confirmed;
        const action = `${principal.kind}.second_factor_set`;
        const after = { sessions_ended: await endSessionsOf(tx, principal) };
        await auditPerson(tx, principal, { action, at, requestId: request.id, after });
        return confirmed;
      });
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
