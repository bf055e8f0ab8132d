/** Parts of routes: the requests to ext-authz about keys and limits, and time-outs and retries for the control plane. */
import { defined } from '@gw/contract/internal/defined';
import { identityNamespace, limitsDecidedHeader, missingIdentity } from '@gw/contract/internal/identity';
import type { Route } from '@gw/contract/routes';
import { anotherHost } from './service-clusters.ts';
import { typed } from './typed.ts';

export const perRoute = (name: string, message: string, fields: object) => ({
  [name]: typed(message, fields),
});

/** The context of a key check. `body`: the bytes of the body count too. */
export const keyAndScope = (route: Route, body: { readonly body?: 'counts' } = {}) =>
  perRoute('envoy.filters.http.ext_authz', 'envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute', {
    check_settings: {
      context_extensions: {
        // Routes without a scope need no key.
        scope: defined(route.scope, `The scope of ${route.path}`),
        handler: route.handler,
        open_to: route.needsActive ? 'active' : 'all',
        limit: route.limit ?? 'calls',
        ...body,
      },
      // The sidecar reads the body.
      disable_request_body_buffering: true,
    },
  });

/** Descriptor entries for a body whose bytes count, with its length if the client states one. */
export const bodyActions = [
  { generic_key: { descriptor_key: 'body', descriptor_value: 'counts' } },
  { request_headers: { header_name: 'content-length', descriptor_key: 'content_length', skip_if_absent: true } },
];

/**
 * The rate limit descriptor of a call: account, limits and kind. If the key check has decided the limits, `unlessDecided` does not match,
 * and Envoy sends no incomplete descriptor.
 */
export function rateLimits(kind: string, more: readonly object[] = []): object[] {
  // Without a default Envoy would send no request if metadata is missing, and the call would have no limit.
  const fromIdentity = (key: string) => ({
    metadata: {
      descriptor_key: key,
      metadata_key: { key: identityNamespace, path: [{ key }] },
      default_value: missingIdentity,
    },
  });
  const unlessDecided = {
    header_value_match: {
      descriptor_key: 'limits_are',
      descriptor_value: 'open',
      expect_match: false,
      headers: [{ name: limitsDecidedHeader, present_match: true }],
    },
  };
  return [
    {
      actions: [
        fromIdentity('account_id'),
        fromIdentity('limits'),
        { generic_key: { descriptor_key: 'kind', descriptor_value: kind } },
        unlessDecided,
        ...more,
      ],
    },
  ];
}

/** A retry at another instance of the control plane, if one has just died. A call that may have changed something is not repeated. */
const askElsewhere = (method: Route['method']) => ({
  retry_on: `connect-failure,refused-stream,${method === 'GET' ? 'reset' : 'reset-before-request'}`,
  num_retries: 1,
  retry_back_off: { base_interval: '0.005s' },
  ...anotherHost,
});

/** How long a long reply may stall; sockets and Envoy buffer some megabytes that the client has yet to read. */
const standsStill = '120s';

/** `timeout` is for the whole reply, or for the beginning of a long one. */
export function patience({ isLong, method }: Route, timeout: string): object {
  const retry_policy = askElsewhere(method);
  if (!isLong) return { timeout, retry_policy };
  // Each try has that long to begin; a read is then retried once.
  return { timeout: '0s', idle_timeout: standsStill, retry_policy: { ...retry_policy, per_try_timeout: timeout } };
}
