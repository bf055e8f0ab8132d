/**
 * The Authorization service: key, then account state, then scope.
 *
 * Invariant: fails closed. An error (no store can confirm the key) is a 500 of ours, never an open door.
 */
import { scopes } from '@gw/contract/access';
import type { CatalogueCode } from '@gw/contract/error-catalogue';
import { type Addresses, apiError, errorBody, errorHeaders } from '@gw/contract/errors';
import { budgetsText } from '@gw/contract/internal/budgets';
import { identityHeaders } from '@gw/contract/internal/identity';
import type { Check, ICheckResponse } from '@gw/grpc/service';
import type { FoundKey } from '@gw/prisma/find-key';
import { type AuthenticateContext, authenticate } from './keys/authenticate.ts';
import type { ErrorLog } from './keys/error-log.ts';
import type { KeyNotes } from './keys/key-notes.ts';
import { limitsText } from './limits/drawn-limits.ts';

export interface CheckContext extends AuthenticateContext {
  readonly addresses: Addresses;
  readonly notes: Pick<KeyNotes, 'used' | 'failed'>;
  /** Told of each key that could not be checked. */
  readonly errors: ErrorLog;
}

const text = (value: string) => ({ stringValue: value });
const header = (key: string, value: string) => ({ header: { key, value } });

/** What the parts behind Envoy learn of the caller. Made once per cached key: the key object is the cache's own. */
function allowed(key: FoundKey): { sidecar: ICheckResponse; control: ICheckResponse } {
  const { limits, shadow } = key.account;
  const { addedCostPercent, addedLatencyMs } = key.account.tolerance;
  const keyStreams = key.limits?.streams ?? null;
  const fields = {
    account_id: text(key.accountId),
    key_id: text(key.publicId),
    tier: text(key.account.tier),
    limits: text(limitsText(key)),
    streams: text(`${limits.streams}${shadow.includes('streams') ? ':shadow' : ''}`),
    ...(keyStreams === null ? {} : { key_streams: text(String(keyStreams)) }),
    ...(key.project === null ? {} : { project: text(key.project) }),
    ...(key.budgets.length > 0 ? { budgets: text(budgetsText(key.budgets)) } : {}),
    ...(key.account.models ? { models: text(JSON.stringify(key.account.models)) } : {}),
    ...(addedLatencyMs === null && addedCostPercent === null
      ? {}
      : { tolerance: text(`${addedLatencyMs ?? ''}:${addedCostPercent ?? ''}`) }),
  };
  const base = { status: { code: 0 }, dynamicMetadata: { fields } };
  return {
    // The client's own key goes no further than this.
    sidecar: { ...base, okResponse: { headersToRemove: ['authorization'] } },
    control: {
      ...base,
      okResponse: {
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
  };
}

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
  const { addresses, errors, notes } = context;
  const answers = new WeakMap<FoundKey, ReturnType<typeof allowed>>();
  const answer = (key: FoundKey) => {
    let made = answers.get(key);
    if (!made) {
      made = allowed(key);
      answers.set(key, made);
    }
    return made;
  };

  return async (request) => {
    const attributes = request.attributes;
    const { scope, handler, open_to: openTo } = attributes?.contextExtensions ?? {};
    const result = await authenticate(attributes?.request?.http?.headers?.authorization, context).catch(
      (error: unknown) => {
        errors.note(error);
        return null;
      },
    );
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
    return handler === 'sidecar' ? answer(key).sidecar : answer(key).control;
  };
}
