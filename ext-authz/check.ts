/**
 * The Authorization service: checks key, account state, scope and limits. A call within its limits is admitted here; for any other
 * Envoy asks the RateLimitService (should-rate-limit.ts), which alone refuses for a limit.
 *
 * Invariant: it fails closed. An error never admits a call: without a store to confirm the key it is a 503, since nothing has run, and
 * where we are at fault a 500.
 */
import { scopes } from '@gw/contract/access';
import type { CatalogueCode } from '@gw/contract/error-catalogue';
import { type Addresses, apiError, errorBody, errorHeaders } from '@gw/contract/errors';
import { limitsDecidedHeader } from '@gw/contract/internal/identity';
import type { Check, ICheckResponse } from '@gw/grpc/service';
import { bodyKib, withBody } from '@gw/service/limits/drawn-limits';
import { type LimitHeader, metadataOf } from '@gw/service/limits/limit-headers';
import { openSmallBodies } from '@gw/service/limits/small-bodies';
import { type Caller, callerOf, draws, header } from './caller.ts';
import { type AuthenticateContext, authenticate, PepperMissingError } from './keys/authenticate.ts';
import type { ErrorLog } from './keys/error-log.ts';
import type { KeyNotes } from './keys/key-notes.ts';
import type { Admission } from './limits/admission.ts';

export interface CheckContext extends AuthenticateContext {
  readonly addresses: Addresses;
  readonly notes: Pick<KeyNotes, 'used' | 'failed'>;
  /** Logs keys that could not be checked. */
  readonly errors: ErrorLog;
  readonly admission: Pick<Admission, 'letIn'>;
}

const ok = { status: { code: 0 } };
const limitsDecided = header(limitsDecidedHeader, '1');

/** Without `limitsDecided` Envoy asks about the limits of the call. */
const toBeAsked = ({ fields, limits, okResponse }: Caller, handler: keyof Caller['okResponse']): ICheckResponse => ({
  ...ok,
  okResponse: okResponse[handler],
  dynamicMetadata: { ...fields, limits },
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
  dynamicMetadata: { ...fields, ...metadataOf(headers) },
});

function denied(code: CatalogueCode, addresses: Addresses, message?: string): ICheckResponse {
  const error = apiError(code, message ? { message } : {});
  return {
    status: { code: error.status === 401 ? 16 : 7 },
    deniedResponse: {
      // The values of the proto's enum are HTTP status codes.
      status: { code: error.status as 401 },
      headers: [...errorHeaders(error)].map(([name, value]) => header(name, value)),
      body: errorBody(error, addresses),
    },
  };
}

/** Whether a later try ends in the same way. All else is a store that is away. */
const isFault = (error: unknown): boolean =>
  error instanceof PepperMissingError || error instanceof TypeError || error instanceof RangeError;

export function makeCheck(context: CheckContext): Check {
  const { addresses, admission, errors, notes } = context;
  const small = openSmallBodies();

  return async (request, isGone = () => false) => {
    const askedMs = performance.now();
    const attributes = request.attributes;
    const { body, handler, limit, open_to: openTo, scope } = attributes?.contextExtensions ?? {};
    const headers = attributes?.request?.http?.headers;
    const result = await authenticate(headers?.authorization, context).catch((error: unknown) => {
      errors.note(error);
      return { failed: isFault(error) ? 'internal_error' : 'overloaded' } as const;
    });
    // Fail closed: the key could not be checked.
    if ('failed' in result) return denied(result.failed, addresses);
    if (!result.ok) {
      const { code, whose } = result.error;
      if (whose !== 'missing') notes.failed(whose, code);
      return denied(code, addresses);
    }
    const key = result.value;
    notes.used(key);
    if (openTo !== 'all' && key.account.state === 'suspended') return denied('customer_suspended', addresses);
    const needed = scopes.find((known) => known === scope);
    const kind = draws.find((known) => known === limit);
    // A route without a scope or a limit must not reach this filter.
    if (!needed || !kind) return denied('internal_error', addresses);
    if (!key.scopes.includes(needed)) {
      notes.failed(key, 'insufficient_scope');
      return denied(
        'insufficient_scope',
        addresses,
        `This API key lacks the scope ${needed}, which the endpoint needs.`,
      );
    }
    const caller = callerOf(key);
    const who = handler === 'sidecar' ? 'sidecar' : 'control';
    const { accountId } = key;
    const kib = body === 'counts' ? bodyKib(headers?.['content-length']) : 0;
    const due = small.due(accountId, kib);
    const drawn = withBody(caller.drawn[kind], due);
    const limitHeaders = await admission.letIn({ accountId, kind, drawn, askedMs, isGone });
    if (limitHeaders !== null) return letIn(caller, who, limitHeaders);
    // The rate limit step takes the body of this call alone.
    small.undo(accountId, kib, due);
    return toBeAsked(caller, who);
  };
}
