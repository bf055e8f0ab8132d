/** Who calls. */
import { type Tolerance, tierLimits } from '@gw/contract/access';
import { type HeldBudget, readBudgets } from '@gw/contract/internal/budgets';
import { callerAttribute } from '@gw/contract/internal/identity';
import type { ProcessingRequest } from '@gw/grpc/service';
import { attributeOf } from '../wire/ext-proc.ts';
import { type LeasedFrom, leasedFrom } from './leased-limits.ts';

/** Whose call it is, as ext-authz has verified it. `models` are the only ones that it can use; null means all. */
export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
  readonly models: readonly string[] | null;
  /** What the key charges its calls to; null: what the request names. */
  readonly project: string | null;
  /** How many streams of the account may be open. `shadow`: more are counted and reported, and not refused. */
  readonly streams: { readonly limit: number; readonly shadow: boolean };
  /** How many of them this key can have open; null means all. */
  readonly keyStreams: number | null;
  /** What a choice by carbon may cost its account in time and money. */
  readonly tolerance: Tolerance;
  /** Those of its account, of its key, and of all projects of its account. */
  readonly budgets: readonly HeldBudget[];
  /** Of a call that a lease has let in, so that it has to take from its limits here; null: it has. */
  readonly leased: LeasedFrom | null;
}

type CallerFields = Readonly<Record<string, string | undefined>>;

/**
 * Returns the caller that ext-authz has verified, or null if there is none, which never happens to a verified request.
 */
export function readCaller(request: ProcessingRequest): Caller | null {
  const told = attributeOf(request, callerAttribute)?.stringValue;
  return told ? readOnce(told) : null;
}

/** Calls of one key say the same. Long ones, with all models of an account, are few, and are not kept. */
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
  const [latency, cost] = (fields.tolerance ?? '').split(':');
  const [limit, shadow] = (fields.streams ?? '').split(':');
  return {
    accountId,
    keyId,
    models: models ? (JSON.parse(models) as string[]) : null,
    project: fields.project || null,
    streams: { limit: countOf(limit) ?? leastStreams, shadow: shadow === 'shadow' },
    keyStreams: countOf(fields.key_streams),
    tolerance: { addedLatencyMs: countOf(latency), addedCostPercent: countOf(cost) },
    budgets: budgets ? readBudgets(budgets) : noBudgets,
    leased: fields.leased ? leasedFrom(accountId, fields.leased) : null,
  };
}

const noBudgets: readonly HeldBudget[] = [];

/**
 * Returns what a call is charged to; null: no project. The key's comes first: a customer's program cannot charge another
 * project than that of its key.
 */
export const projectOf = (caller: Pick<Caller, 'project'>, request: { readonly project?: string }): string | null =>
  caller.project ?? request.project ?? null;

/** Where no limit can be read, the smallest tier's holds, since a missing limit must not mean none. */
const leastStreams = tierLimits.audit.streams;

/** Reads a count; returns null for any other text. */
const countOf = (text: string | null | undefined): number | null => (text && /^\d+$/.test(text) ? Number(text) : null);
