/** Who calls, in the words of those who are told. */
import { budgetsText } from '@gw/contract/internal/budgets';
import { callerField, identityHeaders } from '@gw/contract/internal/identity';
import type { ICheckResponse } from '@gw/grpc/service';
import type { FoundKey } from '@gw/prisma/find-key';
import { type DrawnLimits, drawnLimits } from '@gw/service/limits/drawn-limits';
import { limitsText } from './limits/limits-text.ts';

export const header = (key: string, value: string) => ({ header: { key, value } });

export const draws = ['calls', 'management'] as const;

/** What the parts behind Envoy learn of the caller, and what its calls draw on. */
export interface Caller {
  readonly fields: Readonly<Record<string, string>>;
  readonly okResponse: { readonly sidecar: OkResponse; readonly control: OkResponse };
  /** As the rate-limit step reads them. */
  readonly limits: string;
  /** What the sidecar reads of a leased call: what it draws on, too. */
  readonly leased: string;
  /** Of a call whose body counts nothing. */
  readonly drawn: Readonly<Record<(typeof draws)[number], DrawnLimits>>;
}
type OkResponse = NonNullable<ICheckResponse['okResponse']>;

function made(key: FoundKey): Caller {
  const { limits, shadow } = key.account;
  const { addedCostPercent, addedLatencyMs } = key.account.tolerance;
  const keyStreams = key.limits?.streams ?? null;
  const carried = limitsText(key);
  const read = {
    account_id: key.accountId,
    key_id: key.publicId,
    tier: key.account.tier,
    streams: `${limits.streams}${shadow.includes('streams') ? ':shadow' : ''}`,
    ...(keyStreams === null ? {} : { key_streams: String(keyStreams) }),
    ...(key.project === null ? {} : { project: key.project }),
    ...(key.budgets.length > 0 ? { budgets: budgetsText(key.budgets) } : {}),
    ...(key.account.models ? { models: JSON.stringify(key.account.models) } : {}),
    ...(addedLatencyMs === null && addedCostPercent === null
      ? {}
      : { tolerance: `${addedLatencyMs ?? ''}:${addedCostPercent ?? ''}` }),
  };
  // By themselves, too: for Envoy's access log, and for sidecars and Envoys of the release before.
  const fields = { ...read, [callerField]: JSON.stringify(read) };
  return {
    fields,
    okResponse: {
      // The client's own key goes no further than this.
      sidecar: { headersToRemove: ['authorization'] },
      control: {
        headersToRemove: ['authorization'],
        headers: [
          header(identityHeaders.accountId, key.accountId),
          header(identityHeaders.keyId, key.publicId),
          header(identityHeaders.tier, key.account.tier),
          header(identityHeaders.scopes, key.scopes.join(' ')),
          ...(key.account.models ? [header(identityHeaders.models, JSON.stringify(key.account.models))] : []),
        ],
      },
    },
    limits: carried,
    leased: JSON.stringify({ ...read, leased: carried }),
    drawn: {
      calls: drawnLimits('calls', key.accountId, carried),
      management: drawnLimits('management', key.accountId, carried),
    },
  };
}

/** The key object is the cache's own. */
const callers = new WeakMap<FoundKey, Caller>();

/** Makes it once for each key. */
export function callerOf(key: FoundKey): Caller {
  let caller = callers.get(key);
  if (!caller) {
    caller = made(key);
    callers.set(key, caller);
  }
  return caller;
}
