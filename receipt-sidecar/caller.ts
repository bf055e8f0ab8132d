/** Whose call it is, as ext-authz says. */
import { type Tolerance, tierLimits } from '@gw/contract/access';
import { type HeldBudget, readBudgets } from '@gw/contract/internal/budgets';
import { callerHeader, identityNamespace } from '@gw/contract/internal/identity';
import type { ProcessingRequest } from '@gw/grpc/service';
import type { Headers } from './messages.ts';

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
}

/** Callers by the text of their header, since most calls are of few keys. */
const known = new Map<string, Caller>();
const mostKnown = 10_000;

/**
 * Returns the caller that ext-authz has verified, or null if there is none, which never happens to a verified request.
 */
export function readCaller(request: ProcessingRequest, headers: Headers): Caller | null {
  const told = headers.get(callerHeader);
  if (told === undefined) return ofMetadata(request);
  const found = known.get(told);
  if (found !== undefined) return found;
  const read = callerOf(JSON.parse(told) as Fields);
  if (read === null) return null;
  if (known.size >= mostKnown) known.clear();
  known.set(told, read);
  return read;
}

type Fields = Readonly<Record<string, string | undefined>>;

/** From an ext-authz of the release before. */
function ofMetadata(request: ProcessingRequest): Caller | null {
  const fields = Object.entries(request.metadataContext?.filterMetadata?.[identityNamespace]?.fields ?? {});
  return callerOf(Object.fromEntries(fields.map(([name, value]) => [name, value.stringValue ?? undefined])));
}

function callerOf({
  account_id,
  budgets,
  key_id,
  key_streams,
  models,
  project,
  streams,
  tolerance,
}: Fields): Caller | null {
  if (!account_id || !key_id) return null;
  const [latency, cost] = (tolerance ?? '').split(':');
  const [limit, shadow] = (streams ?? '').split(':');
  return {
    accountId: account_id,
    keyId: key_id,
    models: models ? (JSON.parse(models) as string[]) : null,
    project: project || null,
    streams: { limit: countOf(limit) ?? leastStreams, shadow: shadow === 'shadow' },
    keyStreams: countOf(key_streams),
    tolerance: { addedLatencyMs: countOf(latency), addedCostPercent: countOf(cost) },
    budgets: budgets ? readBudgets(budgets) : noBudgets,
  };
}

const noBudgets: readonly HeldBudget[] = [];

/**
 * Returns what a call is charged to; null: no project. The key's comes first: a customer's program cannot charge another
 * project than that of its key.
 */
export const projectOf = (caller: Pick<Caller, 'project'>, request: { readonly project?: string }): string | null =>
  caller.project ?? request.project ?? null;

/** Where an older ext-authz names no limit: the smallest tier's, since none must not be what is missing. */
const leastStreams = tierLimits.audit.streams;

/** Reads a count; returns null for any other text. */
const countOf = (text: string | null | undefined): number | null => (text && /^\d+$/.test(text) ? Number(text) : null);
