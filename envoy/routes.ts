/**
 * Envoy's route table, made from the table of public routes in the contract.
 *
 * Invariant: every route to a provider or the control plane requires key, scope and limit. Envoy itself answers everything without a key,
 * so that a flood reaches no service. Every path outside the table gives 404, every other method 405, both without a key.
 */
import { type Addresses, apiError, errorPagePath, errorPagesPath } from '@gw/contract/errors';
import { keySetPath } from '@gw/contract/internal/evidence-keys';
import { attemptOrderHeader, onceMore } from '@gw/contract/internal/first-attempt';
import { idempotencyKeyHeader } from '@gw/contract/internal/idempotency-key';
import { limitsDecidedHeader } from '@gw/contract/internal/identity';
import { messagesPath } from '@gw/contract/messages-errors';
import { vocabularyPath } from '@gw/contract/pack/context';
import { type Route, routes } from '@gw/contract/routes';
import { slashError, withMoreSlashes } from '@gw/contract/slashes';
import { overwriting } from './attempt-filters.ts';
import { byItself, directError, formOf, withoutLua, withoutSidecar } from './direct-errors.ts';
import { isLeased, withLease } from './lease-lua.ts';
import { replyRequestId, requestTime, toOneProvider, toProviders } from './provider-routes.ts';
import { notReady, readinessPath } from './readiness.ts';
import { noOtherProtocol } from './refused-requests.ts';
import { methodMatch, methodsOf, pathMatch, patternOf } from './route-matches.ts';
import { bodyActions, keyAndScope, patience, rateLimits } from './route-parts.ts';
import { directJson, refusal, sinkPaths } from './sink.ts';

/** `path` selects the sink's answer. */
const toSink = (path: string) => ({
  cluster: 'sink',
  timeout: '5s',
  regex_rewrite: { pattern: { regex: '.*' }, substitution: path },
});

/** Refuses bodies that Envoy would not buffer by their length; the sidecar checks smaller ones. */
const tooLarge = { name: 'content-length', range_match: { start: '16777217', end: '9223372036854775807' } };

export interface RouteSettings {
  readonly addresses: Addresses;
  /** How long a stream may be silent, seconds. */
  readonly streamIdleTimeoutS: number;
  /** Origins of web pages that may call from a browser (`https://app.example.com`); without any, preflights are refused. */
  readonly corsOrigins: readonly string[];
  /** Whether busy keys get leases. */
  readonly leases: boolean;
}

const providerActions = [
  [{ name: attemptOrderHeader, string_match: { exact: onceMore } }, toOneProvider],
  [{ name: attemptOrderHeader, present_match: true }, toProviders],
] as const;

function inferenceRoutes(route: Route, { leases, streamIdleTimeoutS }: RouteSettings): object[] {
  const form = formOf(route.path);
  const isCall = route.limit === 'calls';
  const filters = { ...keyAndScope(route, isCall ? { body: 'counts' } : {}), ...form.typed_per_filter_config };
  const match = pathMatch(route.path);
  const method = methodMatch(route.method).headers;
  const limits = rateLimits(route.limit ?? 'calls', isCall ? bodyActions : []);
  const provider = (action: object, headers: object[], idleTimeout: string) => ({
    name: 'provider',
    match: { ...match, headers },
    route: { ...action, idle_timeout: idleTimeout, rate_limits: limits },
    response_headers_to_add: [replyRequestId],
    typed_per_filter_config: { ...filters, ...requestTime },
  });
  return [
    // The sink answers, because the rate limit filter ignores direct responses, and this refusal counts as a call.
    {
      name: 'too large',
      match: { ...match, headers: [...method, tooLarge] },
      // Its bytes are not read, so they are free.
      route: { ...toSink(sinkPaths.refusedSize), rate_limits: rateLimits(route.limit ?? 'calls') },
      ...form,
      typed_per_filter_config: { ...byItself, ...filters, ...keyAndScope(route) },
    },
    // Reached only after the sidecar's last request message, which names the clusters and clears the route. Only streams have an idle
    // time-out; the sidecar limits the whole time of a JSON reply.
    ...providerActions.flatMap(([header, action]) => [
      provider(action, [...method, header, { name: 'x-gw-stream', present_match: true }], `${streamIdleTimeoutS}s`),
      provider(action, [...method, header], '0s'),
    ]),
    {
      name: 'sink',
      match: { ...match, headers: method },
      route: { cluster: 'sink', timeout: '5s', rate_limits: limits },
      ...form,
      typed_per_filter_config: { ...filters, ...(leases && isLeased(route) ? withLease : {}) },
    },
  ];
}

/** A change may wait 20 s for another one with its idempotency key, and then takes its own time. */
const waitsForFirst = { headers: [{ name: idempotencyKeyHeader, present_match: true }], timeout: '32s' };

function controlRoutes(route: Route): object[] {
  const limits = rateLimits(route.limit ?? 'calls');
  const { headers } = methodMatch(route.method);
  const form = formOf(route.path);
  const within = (timeout: string, further: object[] = []) => ({
    name: 'control',
    match: { ...pathMatch(route.path), headers: [...headers, ...further] },
    route: { cluster: 'control_plane', rate_limits: limits, ...patience(route, timeout) },
    // Node would refuse an unknown `expect` without an error body.
    request_headers_to_remove: ['authorization', 'cookie', 'expect', limitsDecidedHeader],
    ...form,
    typed_per_filter_config: {
      ...keyAndScope(route),
      ...withoutSidecar,
      ...withoutLua,
      ...form.typed_per_filter_config,
    },
  });
  const others = within('10s');
  return route.method === 'GET' ? [others] : [within(waitsForFirst.timeout, waitsForFirst.headers), others];
}

const health = {
  name: 'health',
  match: { path: '/healthz', ...methodMatch('GET') },
  ...directJson('{"status":"ok"}'),
  typed_per_filter_config: byItself,
};

/** For load balancers during an orderly shutdown (drain.ts). */
const leaving = (addresses: Addresses): object => {
  const { match, ...others } = health;
  const runtime_fraction = { default_value: { numerator: 0 }, runtime_key: 'gw.draining' };
  return {
    ...others,
    name: 'leaving',
    match: { ...match, runtime_fraction },
    ...refusal(apiError('overloaded'), addresses),
  };
};

/** The sink answers, since the CORS filter ignores direct responses. */
const behindSink = (name: string, path: string) => ({
  name,
  match: { ...pathMatch(path), ...methodMatch('GET') },
  route: { cluster: 'sink', timeout: '5s' },
  typed_per_filter_config: byItself,
});

/** Routes without a key. */
const open: Readonly<Record<string, (addresses: Addresses) => object[]>> = {
  '/healthz': (addresses) => [leaving(addresses), health],
  // The filter for health answers; if it ever did not, nobody is to send calls here.
  [readinessPath]: (addresses) => [
    directError({
      name: 'readiness',
      match: { path: readinessPath, ...methodMatch('GET') },
      error: notReady,
      addresses,
    }),
  ],
  '/openapi.json': () => [behindSink('document', '/openapi.json')],
  [keySetPath]: () => [behindSink('key set', keySetPath)],
  [vocabularyPath]: () => [behindSink('vocabulary', vocabularyPath)],
  [errorPagesPath]: () => [behindSink('error codes', errorPagesPath)],
  // The sink knows the codes.
  [errorPagePath]: () => [behindSink('error code', errorPagePath)],
};

function openRoutes({ path }: Route, addresses: Addresses): object[] {
  const found = open[path]?.(addresses);
  if (!found) throw new Error(`${path} needs no key, so Envoy has to answer it itself; routes.ts does not know how.`);
  return found;
}

/** The CORS filter ignores direct responses, so preflights have a route. A refused one gets the sink's 405. */
const preflight = (path: string, allow: string) => ({
  name: 'preflight',
  match: {
    ...pathMatch(path),
    headers: [...methodMatch('OPTIONS').headers, { name: 'access-control-request-method', present_match: true }],
  },
  route: toSink(sinkPaths.refusedMethod),
  response_headers_to_add: [overwriting('allow', allow)],
  typed_per_filter_config: byItself,
});

/**
 * To a gRPC call Envoy sends local replies as 200 with an empty body. The sink refuses such calls instead, since it does not see their
 * content type.
 */
const grpc = {
  name: 'grpc',
  match: {
    prefix: '/',
    headers: [{ name: 'content-type', string_match: { prefix: 'application/grpc', ignore_case: true } }],
  },
  route: toSink(sinkPaths.refusedContentType),
  request_headers_to_remove: ['content-type'],
  typed_per_filter_config: byItself,
};

/** The routes of the public listener, as JSON for the template. */
export function envoyRoutes(settings: RouteSettings): object[] {
  const { addresses } = settings;
  const handled = routes.flatMap((route) => {
    if (route.scope === null) return openRoutes(route, addresses);
    return route.handler === 'sidecar' ? inferenceRoutes(route, settings) : controlRoutes(route);
  });
  const paths = [...new Set(routes.map((route) => route.path))];
  const allow = (path: string) =>
    routes
      .filter((route) => route.path === path)
      .flatMap((route) => methodsOf(route.method))
      .join(', ');
  const wrongMethod = paths.map((path) =>
    directError({
      name: 'wrong method',
      match: pathMatch(path),
      error: apiError('method_not_allowed'),
      addresses,
      allow: allow(path),
      path,
    }),
  );
  const slashed = paths.map((path) => {
    // Dots are themselves here alone; where a name stands for a pattern they are part of that.
    const pattern = path.includes('{') ? patternOf(path) : path.replaceAll('.', '\\.');
    const match = { safe_regex: { regex: withMoreSlashes(pattern) } };
    return directError({ name: 'slashes', match, error: slashError(path), addresses, path });
  });
  const preflights = settings.corsOrigins.length > 0 ? paths.map((path) => preflight(path, allow(path))) : [];
  return [
    // No other route matches a tunnel, and without one its client would wait for ever.
    directError({
      name: 'tunnel',
      match: { connect_matcher: {} },
      error: apiError('invalid_request', { message: noOtherProtocol }),
      addresses,
    }),
    grpc,
    ...handled,
    ...preflights,
    ...wrongMethod,
    ...slashed,
    ...[messagesPath, '/'].map((path) => {
      const match = path === '/' ? { prefix: path } : { path_separated_prefix: path };
      return directError({ name: 'unknown path', match, error: apiError('unknown_endpoint'), addresses, path });
    }),
  ];
}
