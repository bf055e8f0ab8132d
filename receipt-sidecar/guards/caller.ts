import { type Tolerance, tierLimits } from '@gw/contract/access';
import { type HeldBudget, readBudgets } from '@gw/contract/internal/budgets';
import { callerAttribute } from '@gw/contract/internal/identity';
import type { ProcessingRequest } from '@gw/grpc/service';
import type { DrawnLimits } from '@gw/service/limits/drawn-limits';
import { attributeOf } from '../wire/ext-proc.ts';
import { type LeasedFrom, leasedFrom } from './leased-limits.ts';
import { tokenLevel } from './token-limits.ts';

/** The caller as ext-authz has verified it. `models`: the only models that it can use; null means all. */
export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
  readonly models: readonly string[] | null;
  /** The project that calls of the key are charged to; null: the one that the request names. */
  readonly project: string | null;
  /** The limit of open streams of the account. `shadow`: exceeding it is counted and reported, but not refused. */
  readonly streams: { readonly limit: number; readonly shadow: boolean };
  /** The part of that limit which this key can use; null means all. */
  readonly keyStreams: number | null;
  /** The latency and cost that a choice by carbon may add for the account. */
  readonly tolerance: Tolerance;
  /** Whether its replies state `usage.impacts`. */
  readonly usageImpacts: boolean;
  /** The budgets of the account, of the key, and of all projects of the account. */
  readonly budgets: readonly HeldBudget[];
  /** The limits in tokens of the account and of the key; null: none. */
  readonly tokens: DrawnLimits | null;
  /** Set if a lease has admitted the call, so that its limits are taken from here; null: ext-authz has done that. */
  readonly leased: LeasedFrom | null;
}

type CallerFields = Readonly<Record<string, string | undefined>>;

/** Returns null if ext-authz has verified no caller, which never happens to a routed request. */
export function readCaller(request: ProcessingRequest): Caller | null {
  const told = attributeOf(request, callerAttribute)?.stringValue;
  return told ? readOnce(told) : null;
}

/** Calls of one key carry the same text. Long texts, with all models of an account, are rare and not cached. */
const callersRead = new Map<string, Caller | null>();
const mostRead = 1000;
const longestRead = 4096;

function readOnce(text: string): Caller | null {
  const known = callersRead.get(text);
  if (known !== undefined) return known;
  const caller = callerOf(JSON.parse(text) as CallerFields);
  if (text.length > longestRead) return caller;
  if (callersRead.size >= mostRead) callersRead.clear();
  callersRead.set(text, caller);
  return caller;
}

function callerOf({ account_id: accountId, key_id: keyId, ...fields }: CallerFields): Caller | null {
  if (!accountId || !keyId) return null;
  const { budgets, models } = fields;
  const [latency, cost] = fields.tolerance?.split(':') ?? [];
  const [limit, shadow] = fields.streams?.split(':') ?? [];
  return {
    accountId,
    keyId,
    models: models ? (JSON.parse(models) as string[]) : null,
    project: fields.project || null,
    streams: { limit: countOf(limit) ?? leastStreams, shadow: shadow === 'shadow' },
    keyStreams: countOf(fields.key_streams),
    tolerance: { addedLatencyMs: countOf(latency), addedCostPercent: countOf(cost) },
    usageImpacts: fields.usage_impacts === '1',
    budgets: budgets ? readBudgets(budgets) : noBudgets,
    tokens: tokensOf(accountId, keyId, fields),
    leased: fields.leased ? leasedFrom(accountId, fields.leased) : null,
  };
}

function tokensOf(accountId: string, keyId: string, fields: CallerFields): DrawnLimits | null {
  const [ofAccount, shadow] = fields.tokens?.split(':') ?? [];
  const levels = [tokenLevel('account', accountId, ofAccount), tokenLevel('key', keyId, fields.key_tokens)];
  const set = levels.filter((level) => level !== null);
  return set.length === 0 ? null : { levels: set, body: null, shadow: shadow === 'shadow' ? ['rate', 'day'] : [] };
}

const noBudgets: readonly HeldBudget[] = [];

/**
 * Returns the project that a call is charged to, or null. The key's project takes precedence, so that a program cannot charge another
 * project than that of its key.
 */
export const projectOf = (caller: Pick<Caller, 'project'>, request: { readonly project?: string }): string | null =>
  caller.project ?? request.project ?? null;

/** The limit if none is given: the smallest tier's, since a missing limit must not mean no limit. */
const leastStreams = tierLimits.audit.streams;

/** Returns null for a text that is not a count. */
const countOf = (text: string | null | undefined): number | null => (text && /^\d+$/.test(text) ? Number(text) : null);
