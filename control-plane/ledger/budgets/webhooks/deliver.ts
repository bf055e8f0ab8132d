/**
 * Sends what was noted of budgets to the webhooks of their accounts.
 *
 * Invariants: Postgres says what is to be sent and when; whoever claims an event has it for `leaseMs`, longer than a try takes,
 * so that no two instances send it at once. One whose sender dies is sent again: at least once, and once where all goes well.
 * Fails closed: an event without a secret that opens, or to an address that is never asked, is not sent.
 */
import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { dayMs, minuteMs } from '@gw/contract/internal/durations';
import { guardedRequest } from '@gw/service/guarded-request';
import type { Context } from '../../../shared/context.ts';
import { type RepeatedJob, repeat } from '../../../shared/repeat.ts';
import type { Vault } from '../../../shared/vault.ts';
import type { DeliveryMetrics, DeliveryOutcome } from './delivery-metrics.ts';
import { sealAgain, secretOf } from './webhooks.ts';

const timeoutMs = 10_000;
const leaseMs = minuteMs;
const firstPauseMs = 30_000;
const longestPauseMs = 120 * minuteMs;
/** After it was noted; then it is given up. */
const giveUpAfterMs = dayMs;
const atOnce = 20;
const everyMs = 2000;
/** How long the process waits for a try when it ends. Another instance repeats a try whose outcome was not noted. */
const stopWithinMs = 3000;

export interface DeliveryOptions extends Pick<Context, 'db' | 'log' | 'now' | 'providerGuard'> {
  readonly vault: Vault | null;
  readonly metrics: Pick<DeliveryMetrics, 'tried'>;
}

export function startDeliveries(options: DeliveryOptions): RepeatedJob {
  const { db, log, vault } = options;
  let isSealedAgain = false;
  const job = repeat({
    name: 'webhooks of budgets',
    everyMs,
    log,
    run: async () => {
      if (!isSealedAgain) await sealAgain(db, vault);
      isSealedAgain = true;
      await deliverDue(options);
    },
  });
  return { stop: () => Promise.race([job.stop(), delay(stopWithinMs, undefined, { ref: false })]) };
}

interface Claimed {
  readonly budgetId: string;
  readonly month: string;
  readonly threshold: number;
  readonly body: string;
  readonly notedAt: Date;
  readonly attempts: number;
  readonly accountId: string;
  readonly url: string;
  readonly sealed: Uint8Array<ArrayBuffer>;
}

/** Sends what is due, some at once. Resolves when each try has ended and its outcome is noted. */
export async function deliverDue(options: DeliveryOptions): Promise<void> {
  const { db, now } = options;
  await Promise.all((await claim(db, now())).map((event) => deliver(options, event)));
}

const claim = (db: Context['db'], at: Date): Promise<Claimed[]> =>
  db.$queryRaw<Claimed[]>`
    WITH due AS MATERIALIZED (
      SELECT e.budget_id, e.month, e.threshold, w.url, w.sealed
      FROM budget_events e JOIN budget_webhooks w ON w.account_id = e.account_id
      WHERE e.next_at <= ${at} ORDER BY e.next_at LIMIT ${atOnce} FOR UPDATE OF e SKIP LOCKED)
    UPDATE budget_events e SET attempts = e.attempts + 1, next_at = ${new Date(at.getTime() + leaseMs)}
    FROM due WHERE e.budget_id = due.budget_id AND e.month = due.month AND e.threshold = due.threshold
    RETURNING e.budget_id AS "budgetId", e.month, e.threshold, e.body, e.noted_at AS "notedAt", e.attempts,
      e.account_id AS "accountId", due.url, due.sealed`;

interface Tried {
  readonly status: number | null;
  /** Part of a sentence; null: the receiver has it. */
  readonly error: string | null;
}

async function deliver(options: DeliveryOptions, event: Claimed): Promise<void> {
  const { db, log, metrics, now } = options;
  const { status, error } = await tryOnce(options, event);
  const { accountId, attempts, budgetId, month, notedAt, threshold } = event;
  const triedAt = now();
  const next = new Date(triedAt.getTime() + pauseMs(attempts));
  const isOver = next.getTime() > notedAt.getTime() + giveUpAfterMs;
  const outcome: DeliveryOutcome = error === null ? 'delivered' : isOver ? 'given_up' : 'failed';
  metrics.tried(outcome);
  const nextAt = outcome === 'failed' ? next : null;
  const { count } = await db.budgetEvent.updateMany({
    // Unless another instance has claimed it since: then the outcome is its own.
    where: { budgetId, month, threshold, attempts },
    data: { nextAt, triedAt, outcome, status, error },
  });
  const told = { accountId, budgetId, month, threshold, attempts, status, reason: error };
  if (outcome === 'given_up' && count > 0)
    log.error(told, 'the webhook of a budget was tried for a day and is given up');
  else if (outcome === 'failed' && attempts === 1) log.warn(told, 'the webhook of a budget fails and is tried again');
}

async function tryOnce({ now, providerGuard, vault }: DeliveryOptions, event: Claimed): Promise<Tried> {
  const secret = secretOf(vault, event)?.value;
  if (secret === undefined)
    return { status: null, error: 'its secret cannot be opened with this GW_CREDENTIALS_KEY; set the webhook again' };
  const { body, url } = event;
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'x-gw-signature': signatureOf(secret, body, Math.floor(now().getTime() / 1000)),
  };
  const reply = await guardedRequest(providerGuard, {
    method: 'POST',
    url,
    headers,
    body,
    timeoutMs,
    maxBytes: 0,
    readsBody: () => false,
  });
  if (!reply.ok) return { status: null, error: reply.error.text };
  const { status } = reply.value;
  if (status >= 200 && status < 300) return { status, error: null };
  const isElsewhere = status >= 300 && status < 400;
  return { status, error: `it answers ${status}${isElsewhere ? ', and redirects are not followed' : ''}` };
}

const signatureOf = (secret: string, body: string, atS: number): string =>
  `t=${atS},v1=${createHmac('sha256', secret).update(`${atS}.${body}`).digest('hex')}`;

/** Twice as long after each try. */
const pauseMs = (attempts: number): number => Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(attempts - 1, 20));
