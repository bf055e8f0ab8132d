/** Parts of routes: what Envoy tells ext-authz when it asks about a key and about limits, how long it waits for the control plane, and how it asks again. */

import { identityNamespace, limitsDecidedHeader, missingIdentity } from '@gw/contract/internal/identity';
import type { Route } from '@gw/contract/routes';
import { anotherHost } from './service-clusters.ts';

export const perRoute = (name: string, message: string, fields: object) => ({
  [name]: { '@type': `type.googleapis.com/${message}`, ...fields },
});

/** What Envoy tells ext-authz when it asks about the key of a call. `body`: its bytes count, too. */
export const keyAndScope = (route: Route, body: { readonly body?: 'counts' } = {}) =>
  perRoute('envoy.filters.http.ext_authz', 'envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute', {
    check_settings: {
      context_extensions: {
        scope: route.scope ?? '',
        handler: route.handler,
        open_to: route.needsActive ? 'active' : 'all',
        limit: route.limit ?? 'calls',
        ...body,
      },
      // The body is the sidecar's business.
      disable_request_body_buffering: true,
    },
  });

/** Of a body whose bytes count: that it does, and its length, if the client says one. */
export const bodyActions = [
  { generic_key: { descriptor_key: 'body', descriptor_value: 'counts' } },
  { request_headers: { header_name: 'content-length', descriptor_key: 'content_length', skip_if_absent: true } },
];

/**
 * What Envoy tells ext-authz of a call whose limits it asks about: whose it is, what the limits are, what it draws on. It asks
 * unless the check of the key says that it has decided them: what is not said in full is not asked.
 */
export function rateLimits(kind: string, more: readonly object[] = []): object[] {
  // Without a default Envoy would not ask at all where the metadata is missing, and the call would have no limit.
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

/**
 * A second try at a route of the control plane, of which one of several may have just died. A call that may have changed
 * something already is not sent again.
 */
const askElsewhere = (method: Route['method']) => ({
  retry_on: `connect-failure,refused-stream,${method === 'GET' ? 'reset' : 'reset-before-request'}`,
  num_retries: 1,
  retry_back_off: { base_interval: '0.005s' },
  ...anotherHost,
});

/** How long a reply may stand still whose client may take its time; sockets and Envoy hold up to some megabytes that it has yet to read. */
const standsStill = '120s';

/** `timeout`: of the whole reply, or, where a client may take its time to read, of its beginning. */
export function patience({ isLong, method }: Route, timeout: string): object {
  const retry_policy = askElsewhere(method);
  if (!isLong) return { timeout, retry_policy };
  // One try has that long to begin; a read then asks another instance once.
  return { timeout: '0s', idle_timeout: standsStill, retry_policy: { ...retry_policy, per_try_timeout: timeout } };
}
