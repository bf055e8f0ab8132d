/**
 * `/operator/v1/applications`: the onboarding of customers by the platform team.
 *
 * Support takes applications in and declarations down; what lets a customer further by judgement or contract, and the
 * key, needs an admin.
 */
import { fieldError } from '@gw/contract/errors';
import { mapStrings } from '@gw/contract/internal/hidden-names';
import { keyCreateSchema } from '@gw/contract/keys';
import { pageOf, pageSchema } from '@gw/contract/list';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { grantOf } from '../../people/access/change.ts';
import { invalidTransition, notFound } from '../../people/access/refusals.ts';
import type { Caller } from '../../people/keys/caller.ts';
import { peopleError } from '../../people/keys/refusals.ts';
import type { Context } from '../../shared/context.ts';
import { openedRecords } from '../../shared/names/hidden-values.ts';
import { openNames } from '../../shared/names/names.ts';
import { actorOf, type OperatorRole } from '../../shared/principal.ts';
import { refuse } from '../../shared/replies.ts';
import { type UsePolicy, usePolicySchema } from '../screening/use-policy.ts';
import {
  type ApplicationObject,
  applicationObject,
  findApplication,
  listApplications,
  readSteps,
} from './application.ts';
import { applicationViewSchema, applicationWithStepsSchema, firstKeySchema } from './application-schemas.ts';
import {
  applicationQuerySchema,
  applicationSchema,
  contractSchema,
  decisionSchema,
  declarationSchema,
  isSignedLater,
} from './input.ts';
import type { OnboardingServices } from './services.ts';
import type { Decision } from './steps.ts';
import type { OnboardingRefusal, StepResult } from './take-step.ts';

const params = z.object({ account_id: z.string().max(100) });
const path = '/operator/v1/applications';
const config = (role: OperatorRole, reply: z.ZodType = applicationViewSchema) =>
  ({ access: { kind: 'operator', role }, reply }) as const;

const decisions: Readonly<Record<string, Decision>> = {
  'clear-match': 'clear_match',
  'reject-match': 'reject_match',
  'approve-review': 'approve_review',
  'reject-review': 'reject_review',
};

export function onboardingOperatorRoutes(
  app: FastifyInstance,
  context: Pick<Context, 'db' | 'addresses' | 'now'>,
  { onboarding, policy }: Pick<OnboardingServices, 'onboarding' | 'policy'>,
): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const { addresses } = context;
  const callerOf = (request: FastifyRequest): Caller => {
    const grant = grantOf(request, context);
    return { actor: actorOf(grant.principal), requestId: request.id, grant };
  };
  const answer = <T>(reply: FastifyReply, result: StepResult<T>) =>
    result.ok ? result.value : refuse(reply, errorOf(result.error), addresses);
  readRoutes(app, context, policy);

  typed.post(path, { config: config('support'), schema: { body: applicationSchema } }, async (request, reply) => {
    void reply.code(201);
    return onboarding.create(request.body, callerOf(request));
  });

  typed.post(
    `${path}/:account_id/declaration`,
    { config: config('support'), schema: { params, body: declarationSchema } },
    async (request, reply) => {
      const { body } = request;
      if (!policy.industries.some(({ id }) => id === body.industry))
        return refuse(reply, fieldError('industry', 'industry: is not in the use policy.'), addresses);
      return answer(reply, await onboarding.declare(request.params.account_id, body, callerOf(request)));
    },
  );

  for (const [name, action] of Object.entries(decisions))
    typed.post(
      `${path}/:account_id/${name}`,
      { config: config('admin'), schema: { params, body: decisionSchema } },
      async (request, reply) => {
        const { account_id } = request.params;
        return answer(reply, await onboarding.decide(account_id, action, request.body.reason, callerOf(request)));
      },
    );

  typed.post(
    `${path}/:account_id/contract`,
    { config: config('admin'), schema: { params, body: contractSchema } },
    async (request, reply) => {
      if (isSignedLater(request.body, context.now()))
        return refuse(
          reply,
          fieldError('signed_at', 'signed_at: lies in the future; a contract counts once it is signed.'),
          addresses,
        );
      return answer(reply, await onboarding.signContract(request.params.account_id, request.body, callerOf(request)));
    },
  );

  typed.post(
    `${path}/:account_id/key`,
    { config: config('admin', firstKeySchema), schema: { params, body: keyCreateSchema } },
    async (request, reply) => {
      const result = await onboarding.issueKey(request.params.account_id, request.body, callerOf(request));
      if (result.ok) void reply.code(201).header('cache-control', 'no-store');
      return answer(reply, result);
    },
  );
}

function readRoutes(
  app: FastifyInstance,
  { db, addresses }: Pick<Context, 'db' | 'addresses'>,
  policy: UsePolicy,
): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get('/operator/v1/use-policy', { config: config('viewer', usePolicySchema) }, () => policy);

  const page = {
    config: config('viewer', pageSchema(applicationViewSchema)),
    schema: { querystring: applicationQuerySchema },
  };
  typed.get(path, page, async (request, reply) => {
    const page = await listApplications(db, request.query);
    if (page === null) return refuse(reply, fieldError('after', 'after: there is no such application.'), addresses);
    return pageOf(page.rows.map(applicationObject), (application) => application.account_id, page.hasMore);
  });

  const whole = { ...config('viewer', applicationWithStepsSchema), keepsHiddenNames: true };
  typed.get(`${path}/:account_id`, { config: whole, schema: { params } }, async (request, reply) => {
    const row = await findApplication(db, request.params.account_id);
    if (row === null) return refuse(reply, notFound('application'), addresses);
    // The steps are shown as they were hashed too, so that nothing here is opened behind this.
    const open = await openNames(db, [JSON.stringify(row)]);
    const application = mapStrings(applicationObject(row), (text) => open(text)) as ApplicationObject;
    return { ...application, steps: await openedRecords(db, await readSteps(db, row.account_id)) };
  });
}

function errorOf(refusal: OnboardingRefusal) {
  switch (refusal.why) {
    case 'caller':
      return refusal.error;
    case 'unknown_application':
      return notFound('application');
    case 'invalid_transition':
      return invalidTransition(`The application is in the stage ${refusal.stage}: ${refusal.action} is not possible.`);
    case 'key_refused':
      return peopleError(refusal.refusal);
  }
}
