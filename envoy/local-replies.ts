/**
 * Envoy's own replies, turned into our error object.
 *
 * Invariant: a mapper matches by response flag, by Envoy's own reason or by a status that only Envoy itself gives, never a
 * reply that another part has already written; each refusal says its own cause; and what no mapper knows, the last two
 * take, so that no refusal of Envoy goes out in its own words.
 */
import type { CatalogueCode } from '@gw/contract/error-catalogue';
import { type Addresses, type ApiError, apiError, errorBody, errorHeaders } from '@gw/contract/errors';
import { requestIdField } from '@gw/contract/internal/first-attempt';
import { identityNamespace } from '@gw/contract/internal/identity';
import { credentialMissingHeader, unhealthyHeader } from '@gw/contract/internal/snapshot';
import { refusedRequests } from './refused-requests.ts';

const status = (value: number) => ({
  status_code_filter: { comparison: { op: 'EQ', value: { default_value: value, runtime_key: 'gw.unset' } } },
});
const flags = (...names: string[]) => ({ response_flag_filter: { flags: names } });
/** The sidecar leaves it with its last request answer; headers of ours an attempt may have taken off. */
const toProvider = {
  metadata_filter: {
    matcher: { filter: 'gw', path: [{ key: 'receipt_id' }], value: { present_match: true } },
    match_if_key_not_found: false,
  },
};
const both = (...filters: object[]) => ({ and_filter: { filters } });
const either = (...filters: object[]) => ({ or_filter: { filters } });
const startsWith = (reasons: readonly string[]): string =>
  reasons.map((reason) => `response.code_details.startsWith('${reason}')`).join(' || ');
const expression = (text: string) => ({
  extension_filter: {
    name: 'cel',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter',
      expression: text,
    },
  },
});
/** Envoy's reasons for refusing a request before any route is chosen have no flag, only these words. */
const details = (...reasons: string[]) => expression(startsWith(reasons));

/** The headers of a provider have come: by Envoy's own words, or since the sidecar has seen them and waits for the body. */
const replyHadBegun = either(details('upstream_reset_after_response_started', 'response_payload_too_large'), {
  metadata_filter: {
    matcher: { filter: 'gw', path: [{ key: 'headers_done' }], value: { bool_match: true } },
    match_if_key_not_found: false,
  },
});

/** Replies that other parts have written: denials, direct responses, and those that the sidecar names `gw_…`. */
const byOthers = ['direct_response', 'ext_authz_denied', 'request_rate_limited', 'cors_response', 'gw_'];
const fromStatus = (value: number) => ({
  status_code_filter: { comparison: { op: 'GE', value: { default_value: value, runtime_key: 'gw.unset' } } },
});
/** A part that is away is noticed at once; one that has too much to do, or stands still, by the time that passes. */
const unansweredAfterMs = 500;
const hasWaited = {
  duration_filter: { comparison: { op: 'GE', value: { default_value: unansweredAfterMs, runtime_key: 'gw.unset' } } },
};
const byNobody = expression(`!(${startsWith(byOthers)})`);

const addIfMissing = (key: string, value: string) => ({ header: { key, value }, append_action: 'ADD_IF_ABSENT' });
/** A request that is refused while it is read has no id yet; all others keep theirs. */
const requestId = addIfMissing('x-request-id', '%UNIQUE_ID%');
/** From the headers, in which Envoy looks for it, an attempt has taken it off. */
const keptRequestId = addIfMissing('x-request-id', `%DYNAMIC_METADATA(gw:${requestIdField})%`);
/** The sidecar has left it when a provider is asked; it cannot add it if the reply breaks off in its hands. */
const receiptId = addIfMissing('x-gw-receipt-id', '%DYNAMIC_METADATA(gw:receipt_id)%');
/** What replaces a reply whose headers have come passes over the filter that adds these; whichever has decided the limits has left them. */
const limits = ['limit', 'remaining', 'reset'].flatMap((what) =>
  ['requests', 'day'].flatMap((of) => {
    const name = `x-ratelimit-${what}-${of}`;
    return [identityNamespace, 'envoy.filters.http.ratelimit', 'gw'].map((filter) =>
      addIfMissing(name, `%DYNAMIC_METADATA(${filter}:${name})%`),
    );
  }),
);

export function localReplies(addresses: Addresses): object[] {
  const mapper = (filter: object, error: ApiError, headers: object[] = []) => {
    // The type of the body stands below.
    const own = [...errorHeaders(error)].filter(([name]) => name !== 'content-type');
    return {
      filter,
      status_code: error.status,
      headers_to_add: [...headers, requestId, ...own.map(([name, value]) => addIfMissing(name, value))],
      body: { inline_string: errorBody(error, addresses) },
      body_format_override: {
        text_format_source: { inline_string: '%LOCAL_REPLY_BODY%' },
        content_type: 'application/json',
      },
    };
  };
  const known = (filter: object, code: CatalogueCode, headers: object[] = []) =>
    mapper(filter, apiError(code), headers);
  // Twice: a reply that replaces one whose headers had come needs more headers, and any other would have them twice.
  const fromProvider = (code: CatalogueCode, filter: object) => [
    known(both(toProvider, replyHadBegun, filter), code, [keptRequestId, receiptId, ...limits]),
    known(both(toProvider, filter), code, [keptRequestId, receiptId]),
  ];
  return [
    known(status(413), 'request_too_large'),
    ...refusedRequests.map(({ reasons, error }) => mapper(details(...reasons), error)),
    // As a rule these have one of the reasons above.
    known(status(408), 'request_timeout'),
    known(
      either(status(431), status(426), both(status(400), flags('DPE')), details('http1.', 'http2.')),
      'invalid_request',
    ),
    known(either(flags('UO', 'OM'), both(status(503), details('overload'))), 'overloaded'),
    // The sidecar's refusals of a provider's reply are its own, but for these headers, also if Envoy has tried again before.
    { filter: both(toProvider, details('gw_')), headers_to_add: [keptRequestId, ...limits] },
    // The only 401 of Envoy itself there. The sidecar answers it, where it still can.
    known(both(toProvider, status(401)), 'upstream_credential_missing', [
      keptRequestId,
      addIfMissing(credentialMissingHeader, '1'),
    ]),
    // There is nobody to ask.
    known(both(toProvider, flags('UH', 'NC')), 'upstream_error', [keptRequestId, addIfMissing(unhealthyHeader, '1')]),
    ...fromProvider('upstream_timeout', either(status(504), flags('UT', 'SI'))),
    ...fromProvider('upstream_invalid_response', either(flags('UPE'), details('response_payload_too_large'))),
    ...fromProvider('upstream_error', flags('LR', 'UR', 'UC', 'URX')),
    known(both(toProvider, flags('UF')), 'upstream_error', [keptRequestId]),
    // Nobody said in time whether the key and its limits allow the call.
    known(both(details('ext_authz_error', 'rate_limiter_error'), hasWaited), 'overloaded'),
    known(flags('UF', 'UH', 'NC', 'NR', 'LR', 'UR', 'UC', 'UT', 'SI', 'UPE', 'RLSE'), 'internal_error'),
    known(both(status(500), flags('UAEX')), 'internal_error'),
    known(both(fromStatus(500), byNobody), 'internal_error'),
    known(both(fromStatus(400), byNobody), 'invalid_request'),
  ];
}
