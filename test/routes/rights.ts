/** Callers with all rights but one, and what each of them is told. */
import type { Scope } from '@gw/contract/access';
import { managementLimits, scopes } from '@gw/contract/access';
import { limitKey } from '@gw/contract/internal/redis';
import type { Route } from '@gw/contract/routes';
import { Redis } from 'ioredis';
import { send } from '../input/ask.ts';
import { openTestAccounts } from '../sdk/test-account.ts';
import { stack } from '../shared-stack.ts';
import type { Meaning } from './request.ts';

export interface Caller {
  readonly name: string;
  /** Null has none. */
  readonly key: string | null;
  readonly accountId: string | null;
  readonly scopes: readonly Scope[];
  readonly isSpent: boolean;
}

export interface Callers {
  /** Without a key; with a key that lacks the scope; with a spent limit; and, on some routes, with all rights. */
  forRoute(route: Route): readonly Caller[];
  readonly nobody: Caller;
  readonly entitled: Caller;
  /** The rate of the management routes is fixed and low: as if time had passed. Others are far from theirs. */
  refill(): Promise<void>;
  stop(): Promise<void>;
}

/** The identity that arrives does not depend on the route, so one of each kind is enough. */
export const isTriedWithRights = ({ method, path }: Route): boolean =>
  ['POST /v1/embeddings', 'GET /v1/models/{model_id}', 'GET /v1/keys/{key_id}', 'POST /v1/keys'].includes(
    `${method} ${path}`,
  );

const nobody: Caller = { name: 'without a key', key: null, accountId: null, scopes: [], isSpent: false };
const accountOf = (key: string) => `acct_test_${key.slice(3, 15)}`;

export async function openCallers(): Promise<Callers> {
  const accounts = openTestAccounts();
  const redis = new Redis(stack.redisUrl);
  const make = async (name: string, held: readonly Scope[], perDay: number): Promise<Caller & { key: string }> => {
    const key = await accounts.create({ perDay }, { scopes: held });
    const accountId = accountOf(key);
    const data = { limitPerS: 1_000_000, limitBurst: 1_000_000 };
    await accounts.db.account.update({ where: { id: accountId }, data });
    return { name, key, accountId, scopes: held, isSpent: false };
  };
  const entitled = await make('with all rights', scopes, 1_000_000_000);
  const spent = await make('with a spent limit', scopes, 1);
  const lacking = new Map<Scope, Caller>();
  for (const scope of scopes) {
    const others = scopes.filter((each) => each !== scope);
    lacking.set(scope, await make(`without ${scope}`, others, 1_000_000_000));
  }
  await send({ method: 'GET', path: '/v1/models', key: spent.key });
  await spend(redis, accountOf(spent.key));
  return {
    nobody,
    entitled,
    forRoute: (route) => {
      const less = route.scope && lacking.get(route.scope);
      return [
        nobody,
        ...(less ? [less] : []),
        { ...spent, isSpent: true },
        ...(isTriedWithRights(route) ? [entitled] : []),
      ];
    },
    refill: async () => {
      const ids = [entitled, ...lacking.values()].map(({ accountId }) => accountId ?? '');
      await redis.del(...ids.map((id) => limitKey(id, 'management')));
    },
    stop: async () => {
      redis.disconnect();
      await accounts.close();
    },
  };
}

/** The bucket of the management routes owes so much that it stays empty for an hour. */
async function spend(redis: Redis, accountId: string): Promise<void> {
  const thousandths = -3600 * managementLimits.ratePerS * 1000;
  await redis.hset(limitKey(accountId, 'management'), { b: thousandths, m: Date.now() });
}

/** Statuses and codes that are right; null: whatever the route itself answers. */
export type Told = { readonly status: number; readonly codes: readonly string[] } | null;

const refusals = {
  malformed: { status: 400, codes: ['invalid_request'] },
  'unknown path': { status: 404, codes: ['unknown_endpoint'] },
  'wrong method': { status: 405, codes: ['method_not_allowed'] },
  'wrong content type': { status: 400, codes: ['invalid_content_type'] },
  'no key': { status: 401, codes: ['invalid_api_key'] },
} as const;

export function toldTo(caller: Caller, meaning: Meaning): Told {
  if (meaning.kind !== 'route') return refusals[meaning.kind];
  const { scope, limit } = meaning.route;
  if (scope === null) return null;
  if (caller.key === null) return { status: 401, codes: ['invalid_api_key'] };
  if (!caller.scopes.includes(scope)) return { status: 403, codes: ['insufficient_scope'] };
  if (!caller.isSpent) return null;
  return { status: 429, codes: [limit === 'management' ? 'requests_per_second_exceeded' : 'daily_budget_exceeded'] };
}

/** How many calls fit between two refills. */
export const refillAfter: number = managementLimits.burst;
