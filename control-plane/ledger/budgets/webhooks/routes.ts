/** `/operator/v1/accounts/{id}/budget-webhook`: where an account hears of its budgets. Its secret is shown once, when it is set. */
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answer, changeOf } from '../../../people/access/change.ts';
import { idSchema } from '../../../people/access/fields.ts';
import { notFound } from '../../../people/access/refusals.ts';
import type { Context } from '../../../shared/context.ts';
import { refuse } from '../../../shared/replies.ts';
import type { Vault } from '../../../shared/vault.ts';
import { openWebhookEntries, secretOf, type Webhook, webhookInput } from './webhooks.ts';

const access = { kind: 'operator', role: 'admin' } as const;
const path = '/operator/v1/accounts/:accountId/budget-webhook';
const params = z.object({ accountId: idSchema });

const outcomes = ['delivered', 'failed', 'given_up'] as const;
const deliverySchema = z.strictObject({
  at: z.iso.datetime({ precision: 3 }),
  outcome: z.enum(outcomes).describe('failed: it is tried again; given_up: it was tried for 24 hours'),
  status: z.number().nullable().describe('Of HTTP; null: there was no reply'),
  error: z.string().nullable(),
  budget: z.string(),
  month: z.string(),
  threshold: z.number(),
});
const webhookSchema = z.strictObject({
  id: z.string().describe('Of the account'),
  object: z.literal('gw.budget_webhook'),
  url: z.string(),
  set_at: z.iso.datetime({ precision: 3 }),
  readable: z.boolean().describe('False: its secret was set with another GW_CREDENTIALS_KEY, and nothing is sent'),
  waiting: z.number().describe('Events that are still to be delivered'),
  given_up: z.number().describe('Events that never will be'),
  last_delivery: deliverySchema.nullable().describe('The last try since the webhook was set'),
});
const setSchema = webhookSchema.extend({ secret: z.string().describe('Signs what is sent; shown this once') });
const removedSchema = z.strictObject({
  id: z.string(),
  object: z.literal('gw.budget_webhook'),
  deleted: z.literal(true),
});

export function webhookRoutes(base: FastifyInstance, context: Context, vault: Vault | null): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  const { addresses, db } = context;
  const entries = openWebhookEntries(context, vault);

  app.get(path, { config: { access, reply: webhookSchema }, schema: { params } }, async (request, reply) => {
    const { accountId } = request.params;
    const webhook = await db.budgetWebhook.findUnique({ where: { accountId } });
    return webhook === null ? refuse(reply, notFound('budget_webhook'), addresses) : viewOf(context, webhook, vault);
  });

  app.put(
    path,
    { config: { access, reply: setSchema }, schema: { params, body: webhookInput } },
    async (request, reply) => {
      const { body, params: at } = request;
      const outcome = await entries.set(changeOf(request, context), at.accountId, body.url);
      if (!outcome.ok) return refuse(reply, outcome.error, addresses);
      const { secret, webhook } = outcome.value;
      return { ...(await viewOf(context, webhook, vault)), secret };
    },
  );

  app.delete(path, { config: { access, reply: removedSchema }, schema: { params } }, async (request, reply) => {
    const { accountId: id } = request.params;
    const removed = await entries.remove(changeOf(request, context), id);
    const gone = removed.ok
      ? { ok: true as const, value: { id, object: 'gw.budget_webhook', deleted: true } }
      : removed;
    return answer(reply, gone, context);
  });
}

async function viewOf({ db }: Context, webhook: Webhook, vault: Vault | null): Promise<z.infer<typeof webhookSchema>> {
  const { accountId, setAt, url } = webhook;
  const [waiting, givenUp, last] = await Promise.all([
    db.budgetEvent.count({ where: { accountId, nextAt: { not: null } } }),
    db.budgetEvent.count({ where: { accountId, outcome: 'given_up' } }),
    db.budgetEvent.findFirst({ where: { accountId, triedAt: { gte: setAt } }, orderBy: { triedAt: 'desc' } }),
  ]);
  const outcome = outcomes.find((each) => each === last?.outcome);
  const triedAt = last?.triedAt?.toISOString();
  return {
    id: accountId,
    object: 'gw.budget_webhook',
    url,
    set_at: setAt.toISOString(),
    readable: secretOf(vault, webhook) !== null,
    waiting,
    given_up: givenUp,
    last_delivery:
      last && triedAt && outcome
        ? {
            at: triedAt,
            outcome,
            status: last.status,
            error: last.error,
            budget: last.budgetId,
            month: last.month,
            threshold: last.threshold,
          }
        : null,
  };
}
