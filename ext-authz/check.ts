/**
 * The Authorization service: key, then account state, then scope, then limits. A call that its limits let in at once is not asked
 * about again; about any other Envoy asks the RateLimitService (should-rate-limit.ts), which alone refuses for a limit.
 *
 * Invariant: fails closed. An error (no store can confirm the key) is a 500 of ours, never an open door.
 */
import { scopes } from '@gw/contract/access';
import type { CatalogueCode } from '@gw/contract/error-catalogue';
import { type Addresses, apiError, errorBody, errorHeaders } from '@gw/contract/errors';
import { budgetsText } from '@gw/contract/internal/budgets';
import { callerField, identityHeaders, limitsDecidedHeader } from '@gw/contract/internal/identity';
import type { Check, ICheckResponse } from '@gw/grpc/service';
import type { FoundKey } from '@gw/prisma/find-key';
import { bodyKib, type DrawnLimits, drawnLimits } from '@gw/service/limits/drawn-limits';
import { type LimitHeader, metadataOf } from '@gw/service/limits/limit-headers';
import { type AuthenticateContext, authenticate } from './keys/authenticate.ts';
import type { ErrorLog } from './keys/error-log.ts';
import type { KeyNotes } from './keys/key-notes.ts';
import type { Admission } from './limits/admission.ts';
import { limitsText } from './limits/limits-text.ts';

export interface CheckContext extends AuthenticateContext {
  readonly addresses: Addresses;
  readonly notes: Pick<KeyNotes, 'used' | 'failed'>;
  /** Told of each key that could not be checked. */
  readonly errors: ErrorLog;
  readonly admission: Pick<Admission, 'letIn'>;
}

const text = (value: string) => ({ stringValue: value });
const header = (key: string, value: string) => ({ header: { key, value } });

const draws = ['calls', 'management'] as const;

/** What the parts behind Envoy learn of the caller, and what its calls draw on. */
interface Caller {
  readonly fields: Readonly<Record<string, { readonly stringValue: string }>>;
  readonly okResponse: { readonly sidecar: OkResponse; readonly control: OkResponse };
  /** As the rate-limit step reads them. */
  readonly limits: { readonly stringValue: string };
  /** Of a call whose body counts nothing. */
  readonly drawn: Readonly<Record<(typeof draws)[number], DrawnLimits>>;
}
type OkResponse = NonNullable<ICheckResponse['okResponse']>;

function callerOf(key: FoundKey): Caller {
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
  const fields = Object.fromEntries(Object.entries(read).map(([name, value]) => [name, text(value)]));
  return {
    fields: { ...fields, [callerField]: text(JSON.stringify(read)) },
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
    limits: text(carried),
    drawn: {
      calls: drawnLimits('calls', key.accountId, carried),
      management: drawnLimits('management', key.accountId, carried),
    },
  };
}

const ok = { status: { code: 0 } };
const limitsDecided = header(limitsDecidedHeader, '1');

/** Envoy asks about the limits of a call unless it is told that they are decided. */
const toBeAsked = ({ fields, limits, okResponse }: Caller, handler: keyof Caller['okResponse']): ICheckResponse => ({
  ...ok,
  okResponse: okResponse[handler],
  dynamicMetadata: { fields: { ...fields, limits } },
});

const letIn = (
  { fields, okResponse }: Caller,
  handler: keyof Caller['okResponse'],
  headers: readonly LimitHeader[],
): ICheckResponse => ({
  ...ok,
  okResponse: {
    ...okResponse[handler],
    headers: [...(okResponse[handler].headers ?? []), limitsDecided],
    responseHeadersToAdd: headers.map(({ key, value }) => header(key, value)),
  },
  dynamicMetadata: { fields: { ...fields, ...metadataOf(headers) } },
});

function denied(code: CatalogueCode, addresses: Addresses, message?: string): ICheckResponse {
  const error = apiError(code, message ? { message } : {});
  return {
    status: { code: error.status === 401 ? 16 : 7 },
    deniedResponse: {
      // The enum of the proto has the number of each HTTP status as its value.
      status: { code: error.status as 401 },
      headers: [...errorHeaders(error)].map(([name, value]) => header(name, value)),
      body: errorBody(error, addresses),
    },
  };
}

export function makeCheck(context: CheckContext): Check {
  const { addresses, admission, errors, notes } = context;
  // The key object is the cache's own.
  const callers = new WeakMap<FoundKey, Caller>();
  const knownCaller = (key: FoundKey): Caller => {
    let made = callers.get(key);
    if (!made) {
      made = callerOf(key);
      callers.set(key, made);
    }
    return made;
  };

  return async (request, isGone = () => false) => {
    const askedMs = performance.now();
    const attributes = request.attributes;
    const { body, handler, limit, open_to: openTo, scope } = attributes?.contextExtensions ?? {};
    const headers = attributes?.request?.http?.headers;
    const result = await authenticate(headers?.authorization, context).catch((error: unknown) => {
      errors.note(error);
      return null;
    });
    // Fail closed: nobody can say whether this key holds.
    if (!result) return denied('internal_error', addresses);
    if (!result.ok) {
      const { code, whose } = result.error;
      if (whose !== 'missing') notes.failed(whose, code);
      return denied(code, addresses);
    }
    const key = result.value;
    notes.used(key);
    if (openTo !== 'all' && key.account.state === 'suspended') return denied('customer_suspended', addresses);
    const needed = scopes.find((known) => known === scope);
    // A route without a scope that reached this filter is a mistake in the configuration.
    if (!needed) return denied('internal_error', addresses);
    if (!key.scopes.includes(needed)) {
      notes.failed(key, 'insufficient_scope');
      return denied(
        'insufficient_scope',
        addresses,
        `This API key lacks the scope ${needed}, which the endpoint needs.`,
      );
    }
    const caller = knownCaller(key);
    const who = handler === 'sidecar' ? 'sidecar' : 'control';
    // An Envoy of a release that asks about every call names no limit.
    const kind = draws.find((known) => known === limit);
    if (!kind) return toBeAsked(caller, who);
    const { accountId } = key;
    const kib = body === 'counts' ? bodyKib(headers?.['content-length']) : 0;
    const drawn = kib === 0 ? caller.drawn[kind] : drawnLimits(kind, accountId, caller.limits.stringValue, kib);
    const limitHeaders = await admission.letIn({ accountId, kind, drawn, askedMs, isGone });
    return limitHeaders === null ? toBeAsked(caller, who) : letIn(caller, who, limitHeaders);
  };
}
