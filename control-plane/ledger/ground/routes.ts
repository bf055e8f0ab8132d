/** `/operator/v1/restore`: whether Postgres has gone back in time, what is in doubt since, and the confirmation by an operator. */
import type { GroundAlarm } from '@gw/contract/internal/ground';
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { answer, changeOf } from '../../people/access/change.ts';
import type { Context } from '../../shared/context.ts';
import { type ConfirmServices, confirmGround, readDoubts } from './confirm.ts';
import { readAlarm } from './ground.ts';

const numbers = z.strictObject({ known: z.int(), found: z.int() });
const texts = z.strictObject({ known: z.string(), found: z.string() });
const alarmSchema = z.strictObject({
  id: z.string(),
  found_at: z.iso.datetime(),
  why: z
    .enum(['older', 'empty', 'another'])
    .describe(
      '`older`: Postgres lacks what it had acknowledged; `empty`: it is a new database; `another`: it is another server, timeline or database, and lacks nothing that is known',
    ),
  cause: z.string(),
  heartbeat: numbers.describe('It rises once a second'),
  key_generation: numbers
    .extend({ lost_after: z.int() })
    .describe('Keys and accounts that changed behind `lost_after` are in doubt'),
  batch: numbers.describe('The newest batch of receipts'),
  receipts: numbers.describe('How many versions of receipts the ledger holds'),
  server: texts.describe('System identifier and database'),
  timeline: texts,
  audit_chains: z
    .array(numbers.extend({ chain: z.string() }))
    .describe('The first chains of the audit log that lack entries, or have others'),
}) satisfies z.ZodType<GroundAlarm>;
const inDoubt = z.array(
  z.strictObject({ id: z.string(), closed: z.boolean().describe('Known to be revoked, or suspended') }),
);
const shownSchema = z.strictObject({
  object: z.literal('restore'),
  alarm: alarmSchema.nullable().describe('Null: Postgres has all that is known of it'),
  keys_in_doubt: inDoubt.describe(
    'They are refused until the alarm is confirmed; 1,000 of them and of the accounts at most',
  ),
  accounts_in_doubt: inDoubt,
});
const confirmedSchema = z.strictObject({
  object: z.literal('restore_confirmed'),
  alarm: z.string(),
  revoked_again: z.array(z.string()).describe('Keys whose revocation Postgres had lost'),
  accounts_open_again: z
    .array(z.string())
    .describe('Accounts whose suspension Postgres has lost, as the request has named them'),
  batches_given_up: z.array(z.int()).describe('Batches of receipts that Postgres has lost'),
});
const body = z.strictObject({
  alarm: z.string().max(100).describe('The id of the alarm that you have seen: another one is not confirmed with it'),
  reason: z.string().trim().min(1).max(500),
  open_accounts: z
    .array(z.string().max(100))
    .max(10_000)
    .default([])
    .describe(
      'Accounts that may open although Postgres has lost their suspension. Nothing is confirmed before each is named here, or suspended again',
    ),
});
const path = '/operator/v1/restore';

export function groundRoutes(base: FastifyInstance, context: Context, services: ConfirmServices): void {
  const app = base.withTypeProvider<ZodTypeProvider>();
  const viewer = { access: { kind: 'operator', role: 'viewer' }, reply: shownSchema } as const;
  const admin = { access: { kind: 'operator', role: 'admin' }, reply: confirmedSchema } as const;

  app.get(path, { config: viewer }, async () => {
    const alarm = await readAlarm(context.redis);
    const { accounts, keys } =
      alarm === null ? { accounts: [], keys: [] } : await readDoubts(context.redis, alarm.key_generation.lost_after);
    return { object: 'restore', alarm, keys_in_doubt: keys, accounts_in_doubt: accounts };
  });

  app.post(`${path}/confirm`, { config: admin, schema: { body } }, async (request, reply) =>
    answer(reply, await confirmGround(context, services, request.body, changeOf(request, context)), context),
  );
}
