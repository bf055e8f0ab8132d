/** Envoy accepts the rendered configuration, and no route bypasses key, scope and limit. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCatalogue } from '@gw/contract/error-catalogue';
import { apiError, errorHeaders } from '@gw/contract/errors';
import { routes } from '@gw/contract/routes';
import { envoyBinary } from '@gw/stack/binaries';
import { makeCertificate } from '@gw/testing/envoy/certificate';
import { testSettings } from '@gw/testing/envoy/settings';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { localReplies } from './local-replies.ts';
import { readinessReasons } from './readiness.ts';
import { type EnvoySettings, luaErrors, renderEnvoy, writeEnvoyConfig } from './render.ts';
import { envoyRoutes } from './routes.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-render-'));
const { addresses } = testSettings(dir);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('envoy --mode validate', () => {
  let binary: string;
  beforeAll(async () => {
    binary = await envoyBinary(() => undefined);
    const { certificate, key } = makeCertificate('validate');
    writeFileSync(join(dir, 'tls.crt'), certificate);
    writeFileSync(join(dir, 'tls.key'), key);
  }, 120_000);

  const files = { certFile: join(dir, 'tls.crt'), keyFile: join(dir, 'tls.key') };
  const awkward = `quote" dollar$& \${NODE_ID} {brace} # hash \n line: break`;
  it.each<[string, Partial<EnvoySettings>]>([
    ['plain HTTP and Unix sockets', {}],
    [
      'TLS, several instances on the network, and awkward values',
      {
        tls: files,
        extAuthz: ['ext-authz:9001', '[::1]:9001', '127.0.0.1:9001'],
        receiptSidecar: ['unix:/run/gw/a.sock', 'unix:/run/gw/b.sock'],
        controlPlane: ['control-plane:9003', '[::1]:9003'],
        nodeId: awkward,
        addresses: { ...addresses, securityEmail: awkward, baseUrl: `https://${awkward}` },
      },
    ],
  ])('takes %s', (_name, changes) => {
    const file = join(dir, 'envoy.json');
    rmSync(file, { force: true });
    writeEnvoyConfig(testSettings(dir, changes), file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const output = execFileSync(binary, ['--mode', 'validate', '-c', file], { encoding: 'utf8', stdio: 'pipe' });
    expect(output).toContain('OK');
  });

  it.each([
    ['a key that stands twice in one map, where Envoy would silently take the last', 'a: 1\na: 2', 'unique'],
    ['a placeholder that nobody fills', `a: \${UNKNOWN}`, 'UNKNOWN'],
    ['a placeholder that is a part of a text', `a: "x\${NODE_ID}"`, 'NODE_ID'],
  ])('refuses %s', (_what, template, error) => {
    writeFileSync(join(dir, 'envoy.template.yaml'), template);
    for (const filter of ['degraded.lua', 'lease.lua', 'anthropic.lua']) writeFileSync(join(dir, filter), '');
    expect(() => renderEnvoy(testSettings(dir, { templateDir: dir }), dir)).toThrow(error);
  });

  it('does not give a sidecar up before its patience with one answer is over', () => {
    for (const sidecarTimeoutMs of [500, 5000, 20_000]) {
      const text = renderEnvoy(testSettings(dir, { sidecarTimeoutMs }), dir);
      const keepAlive = /"connection_keepalive":\{"interval":"2s","timeout":"([\d.]+)s"\}/.exec(text);
      expect(Number(keepAlive?.[1]) * 1000).toBeGreaterThan(sidecarTimeoutMs);
    }
  });

  it('what two reads may bring of a body whose key is checked lies below half of what the buffer filter takes', () => {
    const text = renderEnvoy(testSettings(dir), dir);
    const limit = Number(/"per_connection_buffer_limit_bytes":(\d+)/.exec(text)?.[1]);
    const buffer = Number(/"max_request_bytes":(\d+)/.exec(text)?.[1]);
    const oneRead = 128 * 1024;
    expect(2 * limit + oneRead).toBeLessThan(buffer / 2);
  });
});

const header = z.looseObject({
  name: z.string(),
  string_match: z
    .looseObject({ exact: z.string().optional(), safe_regex: z.object({ regex: z.string() }).optional() })
    .optional(),
});
const filters = z.looseObject({
  'envoy.filters.http.ext_authz': z
    .looseObject({
      disabled: z.boolean().optional(),
      check_settings: z
        .looseObject({
          context_extensions: z.object({ scope: z.string(), handler: z.string(), open_to: z.enum(['active', 'all']) }),
        })
        .optional(),
    })
    .optional(),
  'envoy.filters.http.ext_proc': z.looseObject({ disabled: z.boolean() }).optional(),
});
/** The metadata of the sidecar chooses the cluster; without it the route leads to the sink. */
const ordered = z.object({
  extension: z.object({
    name: z.string(),
    typed_config: z.strictObject({
      '@type': z.string(),
      priority_groups: z.tuple([
        z.object({ name: z.string(), clusters: z.tuple([z.looseObject({ cluster_name: z.literal('sink') })]) }),
      ]),
      override_metadata_namespace: z.literal('gw.order'),
    }),
  }),
});
const envoyRoute = z.looseObject({
  name: z.string(),
  match: z.looseObject({
    path: z.string().optional(),
    safe_regex: z.object({ regex: z.string() }).optional(),
    prefix: z.string().optional(),
    headers: z.array(header).optional(),
  }),
  route: z
    .looseObject({
      cluster: z.string().optional(),
      cluster_header: z.string().optional(),
      inline_cluster_specifier_plugin: ordered.optional(),
      rate_limits: z.array(z.looseObject({ actions: z.array(z.looseObject({})).min(1) })).optional(),
    })
    .optional(),
  direct_response: z.object({ status: z.number(), body: z.object({ inline_string: z.string() }) }).optional(),
  typed_per_filter_config: filters,
});
type EnvoyRoute = z.infer<typeof envoyRoute>;
const table = z
  .array(envoyRoute)
  .parse(envoyRoutes({ addresses, streamIdleTimeoutS: 300, corsOrigins: [], leases: true }));

/** Matches by path and method alone; other header conditions count as met. */
function matches({ match }: EnvoyRoute, method: string, path: string): boolean {
  const methods = (match.headers ?? []).flatMap(({ name, string_match: { exact, safe_regex: either } = {} }) =>
    name === ':method' ? (exact ?? either?.regex.split('|') ?? []) : [],
  );
  if (methods.length > 0 && !methods.includes(method)) return false;
  if (match.path !== undefined) return match.path === path;
  if (match.safe_regex) return new RegExp(`^(?:${match.safe_regex.regex})$`).test(path);
  return match.prefix !== undefined && path.startsWith(match.prefix);
}

const namespaceOf = ({ route }: EnvoyRoute) =>
  route?.inline_cluster_specifier_plugin?.extension.typed_config.override_metadata_namespace;

/** A gRPC call is refused by the listener behind the sink, which forwards nothing. */
const forwarded = table.filter((each) => each.route !== undefined && each.name !== 'grpc');
const errorObject = z.strictObject({
  error: z.strictObject({
    code: z.enum(Object.keys(errorCatalogue) as [keyof typeof errorCatalogue]),
    type: z.string(),
    message: z.string(),
    param: z.null(),
    doc_url: z.string(),
  }),
});

describe('the routes', () => {
  it.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s demands its key, scope and limit',
    (_name, route) => {
      const path = route.path.replace(/\{[a-z_]+\}/, 'x');
      const found = forwarded.filter((each) => matches(each, route.method, path));
      // Routes that need no key reach only Envoy.
      if (route.scope === null) return expect(found.filter((each) => each.route?.cluster !== 'sink')).toEqual([]);
      // To a provider as JSON or as a stream, straight or by listeners, and to the sink until the sidecar has named one, or if the body is
      // too large.
      // A change with an idempotency key has more time.
      const control = route.method === 'GET' ? 1 : 2;
      expect(found).toHaveLength(route.handler === 'sidecar' ? 6 : control);
      for (const each of found) {
        const { route: action, typed_per_filter_config: config } = each;
        const check = config['envoy.filters.http.ext_authz'];
        expect(action?.rate_limits).toHaveLength(1);
        expect(check?.check_settings?.context_extensions).toEqual({
          scope: route.scope,
          handler: route.handler,
          open_to: route.handler === 'sidecar' || route.needsActive ? 'active' : 'all',
        });
        if (action?.cluster !== 'sink')
          expect(config['envoy.filters.http.ext_proc']?.disabled ?? false).toBe(route.handler === 'control');
        expect(action?.cluster ?? action?.cluster_header ?? namespaceOf(each)).toMatch(
          route.handler === 'sidecar' ? /^(sink|x-gw-cluster|gw\.order)$/ : /^control_plane$/,
        );
      }
    },
  );

  it('nothing is forwarded but what the contract names', () => {
    for (const each of forwarded) {
      const known = routes.filter((route) => matches(each, route.method, route.path.replace(/\{[a-z_]+\}/, 'x')));
      expect(known, each.name).toHaveLength(1);
    }
  });

  it('a gRPC call goes to the sink alone, without its content type, so that Envoy answers in our words', () => {
    const [grpc, ...others] = table.filter(({ name }) => name === 'grpc');
    expect(others).toEqual([]);
    expect(grpc?.route?.cluster).toBe('sink');
    expect(grpc).toMatchObject({ request_headers_to_remove: ['content-type'] });
  });

  it('what reaches a provider comes from the sidecar alone', () => {
    const named = forwarded.filter(({ route }) => route?.cluster === undefined);
    for (const each of named) {
      const header = each.route?.cluster_header ?? (namespaceOf(each) && 'x-gw-order');
      // Clients cannot set it, whatever value a route asks for.
      expect(each.match.headers).toContainEqual(expect.objectContaining({ name: header }));
    }
    expect(new Set(named.map(({ name }) => name))).toEqual(new Set(['provider']));
  });

  it('every refusal of a route is our error object with its own status, and the last one takes what is left', () => {
    const refusals = table.flatMap(({ name, direct_response: reply }) => (reply && name !== 'health' ? [reply] : []));
    expect(refusals.length).toBeGreaterThan(routes.length / 2);
    for (const { status, body } of refusals) {
      const { error } = errorObject.parse(JSON.parse(body.inline_string));
      expect({ status, type: error.type }).toEqual({
        status: errorCatalogue[error.code].status,
        type: errorCatalogue[error.code].type,
      });
    }
    expect(table.at(-1)).toMatchObject({ match: { prefix: '/' }, direct_response: { status: 404 } });
  });
});

it('every local reply is our error object, as JSON, with the status of its code, or that of the sidecar as it is', () => {
  const mapper = z.looseObject({
    status_code: z.number(),
    body: z.object({ inline_string: z.string() }),
    body_format_override: z.looseObject({ content_type: z.literal('application/json') }),
  });
  const replies = localReplies(addresses);
  // The one that is no refusal: /readyz, 200.
  const [isReady] = replies;
  expect(JSON.stringify(isReady)).toContain(`response.code_details.startsWith('${readinessReasons.ready}')`);
  expect(isReady).toMatchObject({ body: { inline_string: '{"status":"ok"}' } });
  const asTheyAre = replies.filter((reply) => !('body' in reply));
  expect(asTheyAre.map((reply) => 'status_code' in reply)).toEqual([false, false]);
  expect(JSON.stringify(asTheyAre)).toContain("response.code_details.startsWith('gw_')");
  const mappers = z
    .array(mapper)
    .min(5)
    .parse(replies.filter((reply) => reply !== isReady && !asTheyAre.includes(reply)));
  for (const { status_code: status, body } of mappers) {
    const { error } = errorObject.parse(JSON.parse(body.inline_string));
    expect(status).toBe(errorCatalogue[error.code].status);
  }
});

it('the Lua filter, which writes only a status and a type, has no error that needs another header', () => {
  for (const code of luaErrors) expect([...errorHeaders(apiError(code)).keys()], code).toEqual(['content-type']);
});
