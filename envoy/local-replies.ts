/**
 * Turns Envoy's own replies into our error object.
 *
 * Invariant: a mapper matches a response flag, Envoy's own reason or a status that only Envoy sets, never a reply that another part has
 * written. Each refusal states its own cause, and the last two mappers match the rest, so that no reply has Envoy's own text.
 */
import type { CatalogueCode } from '@gw/contract/error-catalogue';
import { type Addresses, type ApiError, apiError, errorBody, errorHeaders } from '@gw/contract/errors';
import { requestIdField } from '@gw/contract/internal/first-attempt';
import { identityNamespace } from '@gw/contract/internal/identity';
import {
  credentialMissingHeader,
  notReadyHeader,
  unhealthyHeader,
  unreachedHeader,
} from '@gw/contract/internal/snapshot';
import { messagesApi, messagesErrorBody } from '@gw/contract/messages-errors';
import { statusIs } from './attempt-filters.ts';
import { notReady, readinessReasons } from './readiness.ts';
import { refusedRequests } from './refused-requests.ts';
import { typed } from './typed.ts';

const flags = (...names: string[]) => ({ response_flag_filter: { flags: names } });
/** The sidecar sets it with its last request message. Our headers cannot be used, since an attempt may have removed them. */
const toProvider = {
  metadata_filter: {
    matcher: { filter: 'gw', path: [{ key: requestIdField }], value: { present_match: true } },
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
    typed_config: typed('envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter', { expression: text }),
  },
});
/** Refusals before a route is chosen have no response flag, only details. */
const details = (...reasons: string[]) => expression(startsWith(reasons));

/** There is no cluster, or a cluster leads to an internal listener that is not there: no other connection to a listener fails. */
const isNotReady = either(
  flags('NC'),
  both(flags('UF'), expression("response.code_details.contains('envoy://deployment:')")),
);

/** The provider's headers have arrived, according to Envoy or to the sidecar, which waits for the body. */
const replyHadBegun = either(details('upstream_reset_after_response_started', 'response_payload_too_large'), {
  metadata_filter: {
    matcher: { filter: 'gw', path: [{ key: 'headers_done' }], value: { bool_match: true } },
    match_if_key_not_found: false,
  },
});

/** Replies written by other parts: denials, direct responses, and those of the sidecar, `gw_…`. */
const byOthers = ['direct_response', 'ext_authz_denied', 'request_rate_limited', 'cors_response', 'gw_'];
const isRead = {
  header_filter: { header: { name: ':method', string_match: { safe_regex: { regex: 'GET|HEAD' } } } },
};
const byNobody = expression(`!(${startsWith(byOthers)})`);

const addIfMissing = (key: string, value: string) => ({ header: { key, value }, append_action: 'ADD_IF_ABSENT' });
/** Some of these replies pass no filter. */
const notSniffed = addIfMissing('x-content-type-options', 'nosniff');
/** A request that is refused while it is read has no id yet. */
const requestId = addIfMissing('x-request-id', '%UNIQUE_ID%');
/** An attempt has removed the id from the request headers. */
const keptRequestId = addIfMissing('x-request-id', `%DYNAMIC_METADATA(gw:${requestIdField})%`);
/** The sidecar sets it before a provider is asked, since it cannot add it to an aborted reply. */
const receiptId = addIfMissing('x-gw-receipt-id', '%DYNAMIC_METADATA(gw:receipt_id)%');
/** The sidecar says so beside the id of the receipt. */
const isOfMessages = {
  metadata_filter: {
    matcher: { filter: 'gw', path: [{ key: 'api' }], value: { string_match: { exact: messagesApi } } },
    match_if_key_not_found: false,
  },
};
const messagesRequestId = addIfMissing('request-id', `%DYNAMIC_METADATA(gw:${requestIdField})%`);
const unreached = addIfMissing(unreachedHeader, '1');
/** The metadata of whoever may have decided a limit. */
const decidedBy = {
  requests: [identityNamespace, 'envoy.filters.http.ratelimit', 'gw'],
  day: [identityNamespace, 'envoy.filters.http.ratelimit', 'gw'],
  tokens: ['gw'],
  'tokens-day': ['gw'],
};
/** A local reply after the provider's headers bypasses the filter that adds these, so they come from the metadata of the step that decided the limits. */
const limits = ['limit', 'remaining', 'reset'].flatMap((what) =>
  Object.entries(decidedBy).flatMap(([of, filters]) => {
    const name = `x-ratelimit-${what}-${of}`;
    return filters.map((filter) => addIfMissing(name, `%DYNAMIC_METADATA(${filter}:${name})%`));
  }),
);

const json = {
  text_format_source: { inline_string: '%LOCAL_REPLY_BODY%' },
  content_type: 'application/json',
};

/** The body of an error of Anthropic's API, with the id of the call. */
const inMessagesForm = (error: ApiError, addresses: Addresses) => {
  const place = 'the-id-of-the-call';
  const body = messagesErrorBody(error, addresses, place).replaceAll('%', '%%');
  const text = body.replace(place, `%DYNAMIC_METADATA(gw:${requestIdField})%`);
  return { ...json, text_format_source: { inline_string: text } };
};

/** Writes the reply for a kind of error. */
function mappersFor(addresses: Addresses) {
  const mapper = (filter: object, error: ApiError, headers: object[] = []) => {
    const own = [...errorHeaders(error)].filter(([name]) => name !== 'content-type');
    return {
      filter,
      status_code: error.status,
      headers_to_add: [...headers, requestId, notSniffed, ...own.map(([name, value]) => addIfMissing(name, value))],
      body: { inline_string: errorBody(error, addresses) },
      body_format_override: json,
    };
  };
  const known = (filter: object, code: CatalogueCode, headers: object[] = []) =>
    mapper(filter, apiError(code), headers);
  // Several mappers, since only a reply that replaces one with headers lacks the limit headers, and passes no filter that would give it the
  // form of its API.
  const fromProvider = (code: CatalogueCode, filter: object) => [
    {
      ...known(both(toProvider, replyHadBegun, isOfMessages, filter), code, [
        keptRequestId,
        messagesRequestId,
        receiptId,
        ...limits,
      ]),
      body_format_override: inMessagesForm(apiError(code), addresses),
    },
    known(both(toProvider, replyHadBegun, filter), code, [keptRequestId, receiptId, ...limits]),
    known(both(toProvider, filter), code, [keptRequestId, receiptId]),
  ];
  return { mapper, known, fromProvider };
}

export function localReplies(addresses: Addresses): object[] {
  const { fromProvider, known, mapper } = mappersFor(addresses);
  return [
    {
      filter: details(readinessReasons.ready),
      headers_to_add: [requestId, notSniffed],
      body: { inline_string: '{"status":"ok"}' },
      body_format_override: json,
    },
    mapper(details(readinessReasons.notReady), notReady),
    known(statusIs('EQ', 413), 'request_too_large'),
    ...refusedRequests.map(({ reasons, error }) => mapper(details(...reasons), error)),
    // Most of these match one of the reasons above.
    known(statusIs('EQ', 408), 'request_timeout'),
    known(
      either(
        statusIs('EQ', 431),
        statusIs('EQ', 426),
        both(statusIs('EQ', 400), flags('DPE')),
        details('http1.', 'http2.'),
      ),
      'invalid_request',
    ),
    known(either(flags('UO', 'OM'), both(statusIs('EQ', 503), details('overload'))), 'overloaded'),
    // The sidecar writes its own refusals of a provider's reply, and only lacks these headers.
    {
      filter: both(toProvider, isOfMessages, details('gw_')),
      headers_to_add: [keptRequestId, messagesRequestId, notSniffed, ...limits],
    },
    { filter: both(toProvider, details('gw_')), headers_to_add: [keptRequestId, notSniffed, ...limits] },
    // The only 401 of Envoy itself here; the sidecar replaces it if it still can.
    known(both(toProvider, statusIs('EQ', 401)), 'upstream_credential_missing', [
      keptRequestId,
      addIfMissing(credentialMissingHeader, '1'),
    ]),
    known(both(toProvider, isNotReady), 'overloaded', [keptRequestId, addIfMissing(notReadyHeader, '1')]),
    known(both(toProvider, flags('UH')), 'upstream_error', [keptRequestId, addIfMissing(unhealthyHeader, '1')]),
    ...fromProvider('upstream_timeout', either(statusIs('EQ', 504), flags('UT', 'SI'))),
    ...fromProvider('upstream_invalid_response', either(flags('UPE'), details('response_payload_too_large'))),
    // The last attempt got no connection, and no other was left.
    known(both(toProvider, flags('UF'), flags('URX')), 'upstream_error', [keptRequestId, receiptId, unreached]),
    ...fromProvider('upstream_error', flags('LR', 'UR', 'UC', 'URX')),
    known(both(toProvider, flags('UF')), 'upstream_error', [keptRequestId, unreached]),
    // Nobody has checked the key and its limits, or has got the request; or it was a read, which changes nothing.
    known(either(details('ext_authz_error', 'rate_limiter_error'), flags('UF', 'UH', 'NC', 'RLSE')), 'overloaded'),
    known(both(isRead, flags('LR', 'UR', 'UC', 'UT', 'SI')), 'overloaded'),
    known(flags('NR', 'LR', 'UR', 'UC', 'UT', 'SI', 'UPE'), 'internal_error'),
    known(both(statusIs('GE', 500), byNobody), 'internal_error'),
    known(both(statusIs('GE', 400), byNobody), 'invalid_request'),
  ];
}
