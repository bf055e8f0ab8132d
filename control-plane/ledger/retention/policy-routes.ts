/** `/operator/v1/retention`: how long each kind is kept, for all accounts and for single ones. */
import { fieldError } from '@gw/contract/errors';
import { listSchema } from '@gw/contract/list';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answer, changeOf } from '../../people/access/change.ts';
import { idSchema } from '../../people/access/fields.ts';
import type { Context } from '../../shared/context.ts';
import { refuse } from '../../shared/replies.ts';
import {
  changePolicy,
  kindsOfRetention,
  mostKept,
  type PolicyChange,
  type Retention,
  type RetentionKind,
  retentionKinds,
  retentionOf,
} from './policy.ts';

const path = '/operator/v1/retention';
const kind = z.enum(retentionKinds);
const keep = z.int().nullable().describe('In `unit`; null: forever');
const retentionSchema = z
  .strictObject({
    object: z.literal('retention'),
    kind,
    what: z.string(),
    unit: z.enum(['days', 'months']),
    default: keep,
    keep: keep.describe('For accounts without a policy of their own, in `unit`; null: forever'),
    accounts: z.array(z.strictObject({ account: z.string(), keep })),
  })
  .meta({ id: 'Retention' });
const account = idSchema.nullable().default(null).describe('Null: all accounts without a policy of their own');
const setBody = z.strictObject({ account, keep });

export function policyRoutes(base: FastifyInstance, context: Context): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  const admin = { access: { kind: 'operator', role: 'admin' }, reply: retentionSchema } as const;
  const viewer = { access: { kind: 'operator', role: 'viewer' }, reply: listSchema(retentionSchema) } as const;
  const params = z.object({ kind });

  app.get(path, { config: viewer }, async () => {
    const data: z.infer<typeof retentionSchema>[] = [];
    for (const name of retentionKinds) data.push(viewOf(name, await retentionOf(context.db, name)));
    return { object: 'list', data };
  });

  app.put(`${path}/:kind`, { config: admin, schema: { params, body: setBody } }, async (request, reply) => {
    const { account: accountId, keep } = request.body;
    const { kind } = request.params;
    const { least, unit } = kindsOfRetention[kind];
    if (keep !== null && (keep < least || keep > mostKept))
      return refuse(
        reply,
        fieldError('keep', `keep: must be from ${least} to ${mostKept} ${unit} for ${kind}, or null for forever.`),
        context.addresses,
      );
    return changed({ kind, accountId, keep }, changeOf(request, context), reply);
  });

  const resetBody = z.strictObject({ account });
  app.post(`${path}/:kind/reset`, { config: admin, schema: { params, body: resetBody } }, (request, reply) =>
    changed({ kind: request.params.kind, accountId: request.body.account }, changeOf(request, context), reply),
  );

  async function changed(
    wanted: PolicyChange,
    change: ReturnType<typeof changeOf>,
    reply: Parameters<typeof answer>[0],
  ) {
    const outcome = await changePolicy(context, change, wanted);
    return answer(reply, outcome.ok ? { ...outcome, value: viewOf(wanted.kind, outcome.value) } : outcome, context);
  }
}

function viewOf(kind: RetentionKind, { accounts, everybody }: Retention): z.infer<typeof retentionSchema> {
  const { default: usual, unit, what } = kindsOfRetention[kind];
  return {
    object: 'retention',
    kind,
    what,
    unit,
    default: usual,
    keep: everybody,
    accounts: [...accounts].sort().map(([account, keep]) => ({ account, keep })),
  };
}
