/**
 * Where an account hears of its budgets: an address, and the secret that signs what is sent there.
 *
 * Invariant: each change holds the account's row, and is one transaction with its audit entry, which says the origin alone,
 * since the rest of such an address is often a secret. The secret is sealed for this account and origin: a row that is altered
 * signs nothing.
 */
import { randomBytes } from 'node:crypto';
import { fieldError } from '@gw/contract/errors';
import { isConfidentialUrl } from '@gw/contract/internal/loopback';
import { refusedHost } from '@gw/contract/internal/refused-host';
import { err, ok } from '@gw/contract/internal/result';
import type { Prisma } from '@gw/prisma/client';
import { z } from 'zod';
import type { ChangeContext } from '../../../people/access/change.ts';
import { reauthorize } from '../../../people/access/reauthorize.ts';
import { type ChangeResult, invalidTransition, notFound } from '../../../people/access/refusals.ts';
import { appendAudit } from '../../../people/audit/append.ts';
import type { Context } from '../../../shared/context.ts';
import type { Opened, Vault } from '../../../shared/vault.ts';

type Db = Context['db'];
type Tx = Prisma.TransactionClient;
export type Webhook = NonNullable<Awaited<ReturnType<Db['budgetWebhook']['findUnique']>>>;

export const webhookInput = z.strictObject({
  url: z
    .string()
    .max(2000)
    .refine(isPlainUrl, { error: 'must be an http(s) address without user, password and fragment', abort: true })
    .refine((text) => refusedHost(text) === null, {
      error: ({ input }) => `leads to a host that is not allowed (${refusedHost(String(input))})`,
      abort: true,
    })
    .refine(isConfidentialUrl, {
      error: 'is plain http to another machine, and what is sent can be read on the way; use https',
    })
    .transform((text) => new URL(text).href)
    .describe('https, or http on this machine'),
});

function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text) || /[#\s\\]/.test(text)) return false;
  const { hostname, password, port, protocol, username } = new URL(text);
  return /^https?:$/.test(protocol) && hostname !== '' && port !== '0' && username === '' && password === '';
}

/** The new webhook with its secret, which is shown only once. */
export interface SetWebhook {
  readonly webhook: Webhook;
  readonly secret: string;
}

export interface WebhookEntries {
  /** Always with a new secret. What waits to be sent is sent there at once. */
  set(change: ChangeContext, accountId: string, url: string): Promise<ChangeResult<SetWebhook>>;
  /** Undelivered notices are deleted with it, and queued again for the next webhook. */
  remove(change: ChangeContext, accountId: string): Promise<ChangeResult<Webhook>>;
}

export function openWebhookEntries({ db, providerGuard }: Context, vault: Vault | null): WebhookEntries {
  return {
    set: async (change, accountId, url) => {
      if (vault === null) return err(noVault());
      // Outside of the transaction, which would hold the account while DNS is slow.
      const reason = await providerGuard.refusal(url);
      if (reason !== null) return err(fieldError('url', `url: leads to an address that is not allowed (${reason}).`));
      return changed(db, change, accountId, async (tx, before) => {
        const secret = `gwwh_${randomBytes(32).toString('base64url')}`;
        const data = {
          url,
          sealed: new Uint8Array(vault.seal(secret, bindingOf({ accountId, url }))),
          setAt: change.at,
        };
        const webhook = await tx.budgetWebhook.upsert({
          where: { accountId },
          create: { accountId, ...data },
          update: data,
        });
        await tx.budgetEvent.updateMany({ where: { accountId, nextAt: { not: null } }, data: { nextAt: change.at } });
        await audit(tx, change, 'budget_webhook.set', before, webhook);
        return ok({ webhook, secret });
      });
    },
    remove: (change, accountId) =>
      changed(db, change, accountId, async (tx, before) => {
        if (before === null) return err(notFound('budget_webhook'));
        await tx.budgetWebhook.delete({ where: { accountId } });
        await tx.budgetEvent.deleteMany({ where: { accountId, nextAt: { not: null } } });
        await audit(tx, change, 'budget_webhook.removed', before, null);
        return ok(before);
      }),
  };
}

const noVault = () =>
  invalidTransition(
    'Webhooks cannot be set here: GW_CREDENTIALS_KEY of the control plane, which encrypts their secrets, is not set.',
  );

const changed = <T>(
  db: Db,
  change: ChangeContext,
  accountId: string,
  work: (tx: Tx, before: Webhook | null) => Promise<ChangeResult<T>>,
): Promise<ChangeResult<T>> =>
  db.$transaction(async (tx): Promise<ChangeResult<T>> => {
    const refused = await reauthorize(tx, change);
    if (refused !== null) return err(refused);
    await tx.$executeRaw`SELECT 1 FROM accounts WHERE id = ${accountId} FOR NO KEY UPDATE`;
    if ((await tx.account.count({ where: { id: accountId } })) === 0) return err(notFound('account'));
    return work(tx, await tx.budgetWebhook.findUnique({ where: { accountId } }));
  });

const originOf = (url: string): string => new URL(url).origin;

type Addressed = Pick<Webhook, 'accountId' | 'url'>;

/** No credential of a provider has a name with a blank, so neither can stand for the other. */
const bindingOf = ({ accountId, url }: Addressed) => ({ name: `budget webhook ${accountId}`, origin: originOf(url) });

/** Returns the secret; null if it was sealed with a key that this control plane does not have, or for something else. */
export const secretOf = (vault: Vault | null, webhook: Omit<Webhook, 'setAt'>): Opened | null =>
  vault?.open(webhook.sealed, bindingOf(webhook)) ?? null;

/** Seals with the current key what the one before has sealed, so that that one can be taken away. */
export async function sealAgain(db: Db, vault: Vault | null): Promise<void> {
  if (vault === null) return;
  for (const webhook of await db.budgetWebhook.findMany()) {
    const opened = secretOf(vault, webhook);
    if (opened === null || opened.isCurrent) continue;
    const { accountId, sealed } = webhook;
    // Unless somebody has set another one meanwhile.
    await db.budgetWebhook.updateMany({
      where: { accountId, sealed },
      data: { sealed: new Uint8Array(vault.seal(opened.value, bindingOf(webhook))) },
    });
  }
}

function audit(
  tx: Tx,
  { actor, at, requestId }: ChangeContext,
  action: 'budget_webhook.set' | 'budget_webhook.removed',
  before: Webhook | null,
  after: Webhook | null,
): Promise<unknown> {
  const accountId = (after ?? before)?.accountId ?? null;
  const of = (webhook: Webhook | null) => webhook && { origin: originOf(webhook.url) };
  return appendAudit(tx, at, {
    accountId,
    actor,
    action,
    requestId,
    target: `budget_webhook:${accountId}`,
    before: of(before),
    after: of(after),
  });
}
