/**
 * The budgets of the account under chaos, against what `GET /v1/usage` tells of its month: one of each unit that receipts have, too large
 * to refuse anything.
 *
 * `used` is what the route says, and `used_estimated` the sum of what is assumed for the receipts without a number (docs/budgets.md, "What
 * a call takes"). However parts broke, both are exact in the end, since the sums of Postgres take the place of what Redis has counted.
 */
import { type BudgetUnit, monthOf, nearestSteps } from '@gw/contract/internal/budgets';
import type { Receipt } from '@gw/contract/receipt';
import { timeOfReceipt } from '@gw/control-plane/internals/ledger/receipts/receipt-id';
import { redisBudgetUse } from '@gw/service/budgets';
import { connectRedis } from '@gw/service/redis-address';
import { z } from 'zod';
import { newest, type ReceiptRow } from '../long/ledger-claims.ts';
import { apiOf } from '../operator-api.ts';
import type { OwnGateway } from '../outage/own-gateway.ts';

const units = ['carbon_g', 'energy_wh', 'tokens'] as const satisfies readonly BudgetUnit[];
type Unit = (typeof units)[number];

interface Budget {
  readonly unit: Unit;
  readonly used: number;
  readonly used_estimated: number;
}

const pathOf = (accountId: string): string => `/operator/v1/accounts/${accountId}/budgets`;

export async function setBudgets({ stack }: OwnGateway, accountId: string): Promise<void> {
  const api = apiOf(stack);
  for (const unit of units)
    await api.send('POST', pathOf(accountId), { scope: 'account', unit, amount: 1e9, kind: 'hard' });
}

interface Account {
  readonly accountId: string;
  readonly apiKey: string;
}

/** Differences, a line each. `endedAt`: when the last call had ended; a clock that was wrong has dated calls behind it. */
export async function budgetDifferences(
  { client, db, stack }: OwnGateway,
  { accountId, apiKey }: Account,
  rows: readonly ReceiptRow[],
  endedAt: number,
): Promise<string[]> {
  const month = monthOf(endedAt);
  const told = await usageOfMonth(client, month, apiKey);
  const { data } = (await apiOf(stack).get(pathOf(accountId))) as { readonly data: readonly Budget[] };
  const bodies = newest(rows)
    .map(({ body }) => body)
    .filter(({ created_at }) => created_at.startsWith(month));
  const rowsOfEstimates = await db.budgetEstimate.findMany({ where: { accountId } });
  const estimates = new Map(rowsOfEstimates.map((row) => [row.receiptId, row]));
  const assumedOf = (unit: Unit, { id }: Receipt): number => {
    const { carbonG = null, energyWh = null, tokens = null } = estimates.get(id) ?? {};
    return { carbon_g: carbonG, energy_wh: energyWh, tokens }[unit] ?? 0;
  };
  const wrong = data.flatMap(({ unit, used, used_estimated }) => {
    const unstated = bodies.filter((body) => numberOf(unit, body) === null);
    const assumed = unstated.reduce((sum, body) => sum + assumedOf(unit, body), 0);
    return [
      ...(isNear(unit, used, told[unit]) ? [] : [`${unit}: ${used} used, and usage says ${told[unit]}`]),
      ...(isNear(unit, used_estimated, assumed) ? [] : [`${unit}: ${used_estimated} estimated in place of ${assumed}`]),
    ];
  });
  const nothing = bodies.flatMap((body) =>
    units.some((unit) => numberOf(unit, body) === null) && !estimates.has(body.id)
      ? `the receipt ${body.id} (${body.status}, ${body.degraded_reason}) has no number and counts as nothing`
      : [],
  );
  return [...wrong, ...nothing, ...(await stillReserved(stack.redisUrl, { accountId, month }, endedAt))];
}

const usageShape = z.object({
  total: z.object({
    prompt_tokens: z.number(),
    completion_tokens: z.number(),
    energy_wh: z.number().nullable(),
    carbon_g: z.number().nullable(),
  }),
});

/** The amounts of a month, to its end: a clock that was wrong may have dated a call later than now. */
async function usageOfMonth(
  client: OwnGateway['client'],
  month: string,
  apiKey: string,
): Promise<Record<Unit, number>> {
  const from = new Date(month);
  const to = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1));
  const period = `from=${from.toISOString()}&to=${to.toISOString()}`;
  const { json } = await client.get(`/v1/usage?${period}&interval=total&simulated=include`, apiKey);
  const { total } = usageShape.parse(json);
  return {
    carbon_g: total.carbon_g ?? 0,
    energy_wh: total.energy_wh ?? 0,
    tokens: total.prompt_tokens + total.completion_tokens,
  };
}

/** A sum of many fractions is rounded once to whole steps, in whatever order Postgres adds them. */
const isNear = (unit: Unit, shown: number, ought: number): boolean =>
  Math.abs(nearestSteps(unit, shown) - nearestSteps(unit, ought)) <= (unit === 'tokens' ? 0 : 1);

const numberOf = (unit: Unit, body: Receipt): number | null => {
  if (unit !== 'tokens') return body[unit];
  const { completion_tokens: written, prompt_tokens: read } = body;
  return read === null || written === null ? null : read + written;
};

/** Nothing is reserved for a call that has ended, whoever of those that carried it has died. */
async function stillReserved(redisUrl: string, book: { accountId: string; month: string }, endedAt: number) {
  const redis = connectRedis(redisUrl, {});
  try {
    const calls = await redisBudgetUse(redis).calls(book);
    return [...calls].flatMap(([id, { state }]) => {
      const isDatedLater = (timeOfReceipt(id)?.getTime() ?? 0) > endedAt;
      return state === 'reserved' && !isDatedLater ? `something is still reserved for ${id}` : [];
    });
  } finally {
    redis.disconnect();
  }
}
