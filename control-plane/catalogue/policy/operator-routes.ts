/**
 * `/operator/v1/policy`: the rules that requests are screened by, as operators look after them. Not the use policy that
 * applicants declare against: that one is a file (customers/screening/use-policy.ts).
 *
 * Invariant: samples of a dry run are neither stored nor logged, and no reply but that of the dry run shows anything of
 * them.
 */
import { policyRulesSchema, rulesSha256 } from '@gw/contract/internal/policy-rules';
import { pageOf, pageSchema } from '@gw/contract/list';
import { actionSchema, ruleIdSchema } from '@gw/contract/use-policy';
import { defaultRules } from '@gw/policy/default-rules';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answer, changeOf } from '../../people/access/change.ts';
import { idSchema, nameSchema, noBody } from '../../people/access/fields.ts';
import { notFound } from '../../people/access/refusals.ts';
import type { Context } from '../../shared/context.ts';
import { refuse } from '../../shared/replies.ts';
import { dryRunBodySchema, dryRunSchema, openDryRun } from './dry-run.ts';
import { exemptionSchema, openExemptions, removedExemptionSchema } from './exemptions.ts';
import {
  becomeRules,
  becomeVersion,
  becomeWithRule,
  listedVersionSchema,
  noRulesYet,
  openVersions,
  versionSchema,
} from './versions.ts';

const support = (reply: z.ZodType) => ({ access: { kind: 'operator', role: 'support' }, reply }) as const;
const admin = (reply: z.ZodType) => ({ access: { kind: 'operator', role: 'admin' }, reply }) as const;

/** Bytes of a body: enough for any set of rules within its bounds, in any script, and for samples of some length. */
const bodyLimit = 8 * 1024 * 1024;
const numberSchema = z.coerce.number().int().min(1).max(2_147_483_647);
const publishBody = z
  .strictObject({
    /** The version that the new rules were made from. */
    based_on: z.int().min(1),
    note: nameSchema,
    rules: policyRulesSchema.exactOptional(),
    /** The rules of an older version, in place of `rules`. */
    version: z.int().min(1).max(2_147_483_647).exactOptional(),
  })
  .refine(({ rules, version }) => (rules === undefined) !== (version === undefined), 'takes either rules or a version');
const ruleBody = z
  .strictObject({
    enabled: z.boolean().exactOptional(),
    action: actionSchema.exactOptional(),
    note: nameSchema,
  })
  .refine(({ note: _, ...change }) => Object.keys(change).length > 0, 'names nothing to change');
const exemptionBody = z.strictObject({ account_id: idSchema, rule_id: ruleIdSchema, reason: nameSchema });
const versionsQuery = z.object({
  /** The version that the page before ended with. */
  after: numberSchema.optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});
const exemptionsQuery = z.object({
  account_id: idSchema.optional(),
  /** `<account>/<rule>`: the `last_id` of the page before. */
  after: z
    .string()
    .regex(/^[\w.-]{1,100}\/[a-z0-9-]{1,64}$/)
    .optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
});
const defaultsSchema = z.strictObject({
  object: z.literal('policy_rules'),
  sha256: z.string(),
  rules: policyRulesSchema,
});
const path = '/operator/v1/policy';

export function policyOperatorRoutes(base: FastifyInstance, context: Context): void {
  versionRoutes(base, context);
  exemptionRoutes(base, context);
  const dryRun = openDryRun(context);
  base
    .withTypeProvider<ZodTypeProvider>()
    .post(
      `${path}/dry-run`,
      { config: support(dryRunSchema), bodyLimit, schema: { body: dryRunBodySchema } },
      async (request, reply) => answer(reply, await dryRun(request.body), context),
    );
}

function versionRoutes(base: FastifyInstance, context: Context): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  const versions = openVersions(context);
  const params = z.object({ version: numberSchema });
  const publishing = { config: admin(versionSchema), bodyLimit, schema: { body: publishBody } };
  const page = { config: support(pageSchema(listedVersionSchema)), schema: { querystring: versionsQuery } };

  app.get(path, { config: support(versionSchema) }, async (_request, reply) => {
    return (await versions.inForce()) ?? refuse(reply, noRulesYet(), context.addresses);
  });

  app.get(`${path}/defaults`, { config: support(defaultsSchema) }, async () => ({
    object: 'policy_rules',
    sha256: rulesSha256(defaultRules),
    rules: defaultRules,
  }));

  app.get(`${path}/versions`, page, async ({ query }) => {
    const found = await versions.list(query.limit + 1, query.after);
    return pageOf(found.slice(0, query.limit), ({ version }) => String(version), found.length > query.limit);
  });

  app.get(
    `${path}/versions/:version`,
    { config: support(versionSchema), schema: { params } },
    async (request, reply) => {
      const version = await versions.read(request.params.version);
      return version ?? refuse(reply, notFound('policy_version'), context.addresses);
    },
  );

  app.post(`${path}/versions`, publishing, async (request, reply) => {
    const { based_on: basedOn, note, rules, version = 0 } = request.body;
    const become = rules === undefined ? becomeVersion(version) : becomeRules(rules);
    return answer(reply, await versions.publish(changeOf(request, context), { basedOn, note, become }), context);
  });

  const rule = z.object({ rule: ruleIdSchema });
  app.patch(
    `${path}/rules/:rule`,
    { config: admin(versionSchema), schema: { params: rule, body: ruleBody } },
    async (request, reply) => {
      const { note, ...changes } = request.body;
      const become = becomeWithRule(request.params.rule, changes);
      const publication = { basedOn: null, note, become };
      return answer(reply, await versions.publish(changeOf(request, context), publication), context);
    },
  );
}

function exemptionRoutes(base: FastifyInstance, context: Context): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  const exemptions = openExemptions(context);
  const list = `${path}/exemptions`;
  const params = z.object({ accountId: idSchema, rule: ruleIdSchema });

  const page = { config: support(pageSchema(exemptionSchema)), schema: { querystring: exemptionsQuery } };
  app.get(list, page, async ({ query }) => {
    const { account_id: accountId, limit } = query;
    const [afterAccount, afterRule] = query.after?.split('/') ?? [];
    const after =
      afterAccount === undefined || afterRule === undefined ? undefined : ([afterAccount, afterRule] as const);
    const found = await exemptions.list({ accountId, after, limit: limit + 1 });
    return pageOf(found.slice(0, limit), ({ account_id, rule_id }) => `${account_id}/${rule_id}`, found.length > limit);
  });

  app.post(list, { config: admin(exemptionSchema), schema: { body: exemptionBody } }, async (request, reply) => {
    const { account_id, reason, rule_id } = request.body;
    return answer(reply, await exemptions.add(changeOf(request, context), account_id, rule_id, reason), context);
  });

  app.delete(
    `${list}/:accountId/:rule`,
    { config: admin(removedExemptionSchema), schema: { params, body: noBody } },
    async (request, reply) => {
      const { accountId, rule } = request.params;
      return answer(reply, await exemptions.remove(changeOf(request, context), accountId, rule), context);
    },
  );
}
