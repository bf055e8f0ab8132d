/**
 * Rules that do not hold for an account.
 *
 * Invariant: each change is one transaction with its entry in the account's audit log, reason included, made by whoever
 * still may: the customer may know, and can see, what their own calls are not screened for.
 */
import { fieldError } from '@gw/contract/errors';
import { err, ok } from '@gw/contract/internal/result';
import type { Prisma } from '@gw/prisma/client';
import { z } from 'zod';
import type { ChangeContext } from '../../people/access/change.ts';
import { reauthorize } from '../../people/access/reauthorize.ts';
import { type ChangeResult, notFound } from '../../people/access/refusals.ts';
import { appendAudit } from '../../people/audit/append.ts';
import type { Context } from '../../shared/context.ts';
import { findVersionInForce, lockPolicy } from './versions.ts';

export const exemptionSchema = z.strictObject({
  object: z.literal('policy_exemption'),
  account_id: z.string(),
  rule_id: z.string(),
  reason: z.string(),
  created_at: z.iso.datetime(),
  created_by: z.string(),
});
type ExemptionView = z.infer<typeof exemptionSchema>;

export const removedExemptionSchema = exemptionSchema
  .pick({ object: true, account_id: true, rule_id: true })
  .extend({ deleted: z.literal(true) });
type RemovedExemption = z.infer<typeof removedExemptionSchema>;

export interface ExemptionFilter {
  readonly accountId?: string | undefined;
  /** The last exemption of the page before. */
  readonly after?: readonly [accountId: string, ruleId: string] | undefined;
  readonly limit: number;
}

/** The changes wait for each other and for publications; whoever asks is reauthorized in their transaction. */
export interface Exemptions {
  list(filter: ExemptionFilter): Promise<ExemptionView[]>;
  /** Exempts an account from a rule that is in force. One that is exempt already stays so, with its first reason. */
  add(change: ChangeContext, accountId: string, ruleId: string, reason: string): Promise<ChangeResult<ExemptionView>>;
  remove(change: ChangeContext, accountId: string, ruleId: string): Promise<ChangeResult<RemovedExemption>>;
}

type ExemptionRow = Awaited<ReturnType<Context['db']['policyExemption']['findMany']>>[number];

export function openExemptions({ db }: Pick<Context, 'db'>): Exemptions {
  const inTurn = <T>(
    change: ChangeContext,
    work: (tx: Prisma.TransactionClient) => Promise<ChangeResult<T>>,
  ): Promise<ChangeResult<T>> =>
    db.$transaction(async (tx) => {
      await lockPolicy(tx);
      const mayNot = await reauthorize(tx, change);
      return mayNot === null ? work(tx) : err(mayNot);
    });

  return {
    list: async ({ accountId, after, limit }) => {
      const rows = await db.policyExemption.findMany({
        where: {
          ...(accountId === undefined ? {} : { accountId }),
          ...(after === undefined
            ? {}
            : { OR: [{ accountId: { gt: after[0] } }, { accountId: after[0], ruleId: { gt: after[1] } }] }),
        },
        orderBy: [{ accountId: 'asc' }, { ruleId: 'asc' }],
        take: limit,
      });
      return rows.map(viewOf);
    },
    add: (change, accountId, ruleId, reason) =>
      inTurn(change, async (tx) => {
        if ((await tx.account.findUnique({ where: { id: accountId } })) === null) return err(notFound('account'));
        const version = await findVersionInForce(tx);
        if (!version?.rules.some(({ id }) => id === ruleId))
          return err(fieldError('rule_id', 'rule_id: no rule in force has this id.'));
        const one = { accountId_ruleId: { accountId, ruleId } };
        const there = await tx.policyExemption.findUnique({ where: one });
        if (there !== null) return ok(viewOf(there));
        const data = { accountId, ruleId, reason, createdAt: change.at, createdBy: change.actor.id };
        const row = await tx.policyExemption.create({ data });
        await audit(tx, change, 'policy.exempted', row);
        return ok(viewOf(row));
      }),
    remove: (change, accountId, ruleId) =>
      inTurn(change, async (tx) => {
        const one = { accountId_ruleId: { accountId, ruleId } };
        const row = await tx.policyExemption.findUnique({ where: one });
        if (row === null) return err(notFound('policy_exemption', 'The account has no such exemption.'));
        await tx.policyExemption.delete({ where: one });
        await audit(tx, change, 'policy.exemption_removed', row);
        return ok({ object: 'policy_exemption', account_id: accountId, rule_id: ruleId, deleted: true });
      }),
  };
}

const viewOf = ({ accountId, createdAt, createdBy, reason, ruleId }: ExemptionRow): ExemptionView => ({
  object: 'policy_exemption',
  account_id: accountId,
  rule_id: ruleId,
  reason,
  created_at: createdAt.toISOString(),
  created_by: createdBy,
});

function audit(
  tx: Prisma.TransactionClient,
  { actor, at, requestId }: ChangeContext,
  action: 'policy.exempted' | 'policy.exemption_removed',
  { accountId, reason, ruleId }: ExemptionRow,
): Promise<unknown> {
  const exemption = { rule_id: ruleId, reason };
  const is = action === 'policy.exempted';
  return appendAudit(tx, at, {
    accountId,
    actor,
    action,
    target: `account:${accountId}`,
    requestId,
    before: is ? null : exemption,
    after: is ? exemption : null,
  });
}
