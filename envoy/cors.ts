/** Web pages that may call the gateway from a browser. None by default, because a page reveals its key. */
import { budgetHeaderName } from '@gw/contract/internal/budgets';
import { idempotencyKeyHeader, reexecutedHeader, replayedHeader } from '@gw/contract/internal/idempotency-key';
import { overheadHeader } from '@gw/contract/internal/overhead';
import { typed } from './typed.ts';

/** Headers that the official SDKs send from a browser, besides those that every page may send. */
const requestHeaders = [
  'authorization',
  'content-type',
  idempotencyKeyHeader,
  'openai-organization',
  'openai-project',
  'x-api-key',
  'anthropic-version',
  'anthropic-beta',
  'anthropic-dangerous-direct-browser-access',
  ...[
    'arch',
    'helper-method',
    'lang',
    'os',
    'package-version',
    'poll-helper',
    'retry-count',
    'runtime',
    'runtime-version',
    'timeout',
  ].map((name) => `x-stainless-${name}`),
];

const replyHeaders = [
  'x-request-id',
  'request-id',
  'x-gw-receipt-altered',
  'x-gw-receipt-id',
  budgetHeaderName,
  overheadHeader,
  'retry-after',
  'x-should-retry',
  replayedHeader,
  reexecutedHeader,
  ...['limit', 'remaining', 'reset'].flatMap((what) =>
    ['requests', 'day', 'tokens', 'tokens-day'].map((of) => `x-ratelimit-${what}-${of}`),
  ),
];

/** Returns the policy of the virtual host; empty without origins. */
export function corsPolicy(origins: readonly string[]): object {
  if (origins.length === 0) return {};
  return {
    'envoy.filters.http.cors': typed('envoy.extensions.filters.http.cors.v3.CorsPolicy', {
      allow_origin_string_match: origins.map((exact) => ({ exact })),
      allow_methods: 'DELETE, GET, POST',
      allow_headers: requestHeaders.join(', '),
      expose_headers: replyHeaders.join(', '),
      max_age: '600',
    }),
  };
}
