/**
 * Tricks to bypass key, scope or limit: spellings of the path, and headers that some proxy or framework obeys.
 * Each is written once and tried on every route, over HTTP/1.1 and over HTTP/2.
 */
import { takesApiKey } from '@gw/contract/messages-errors';
import type { Header, Meaning, Request } from './request.ts';

export interface Trick {
  readonly name: string;
  readonly change: (request: Request) => Request;
  /** Where method and path alone do not say what comes of it. */
  readonly meaning?: Meaning;
}

const spelled = (name: string, spell: (path: string) => string): Trick => ({
  name: `path: ${name}`,
  change: (request) => ({ ...request, target: spell(request.target) }),
});

/** The last slash of a path, written otherwise. */
const lastSlash = (path: string, written: string) => path.replace(/\/(?=[^/]*$)/, written);
const firstLetter = (path: string, write: (letter: string) => string) =>
  path.replace(/[a-z]/, (letter) => write(letter));
const hex = (letter: string) => letter.charCodeAt(0).toString(16);

const spellings: readonly Trick[] = [
  spelled('a slash more in front', (path) => `/${path}`),
  spelled('a slash more in the middle', (path) => lastSlash(path, '//')),
  spelled('a slash behind', (path) => `${path}/`),
  spelled('two slashes behind', (path) => `${path}//`),
  spelled('the directory itself', (path) => lastSlash(path, '/./')),
  spelled('a directory and back', (path) => lastSlash(path, '/x/../')),
  spelled('back out of the root', (path) => `/..${path}`),
  spelled('from the open path', (path) => `/healthz/..${path}`),
  spelled('from the open document', (path) => `/openapi.json/%2e%2e${path}`),
  spelled('to the open path', (path) => `${path}/../../../../healthz`),
  spelled('encoded directory', (path) => lastSlash(path, '/%2e/')),
  spelled('encoded way back', (path) => lastSlash(path, '/x/%2e%2e/')),
  spelled('encoded way back in capitals', (path) => lastSlash(path, '/x/%2E%2E/')),
  spelled('half encoded way back', (path) => lastSlash(path, '/x/.%2e/')),
  spelled('way back behind a semicolon', (path) => lastSlash(path, '/x/..;/')),
  spelled('way back behind a semicolon in front', (path) => `/..;${path}`),
  spelled('encoded slash and way back', (path) => `/v1/models/..%2f..${path}`),
  spelled('encoded backslash and way back', (path) => `/v1/models/..%5c..${path}`),
  spelled('capitals', (path) => path.toUpperCase()),
  spelled('a capital', (path) => firstLetter(path, (letter) => letter.toUpperCase())),
  spelled('an encoded letter', (path) => firstLetter(path, (letter) => `%${hex(letter)}`)),
  spelled('a letter encoded twice', (path) => firstLetter(path, (letter) => `%25${hex(letter)}`)),
  spelled('a letter in the manner of %u', (path) => firstLetter(path, (letter) => `%u00${hex(letter)}`)),
  spelled('an encoded slash', (path) => lastSlash(path, '%2f')),
  spelled('an encoded slash in capitals', (path) => lastSlash(path, '%2F')),
  spelled('a slash encoded twice', (path) => lastSlash(path, '%252f')),
  spelled('an overlong slash', (path) => lastSlash(path, '%c0%af')),
  spelled('a full-width slash', (path) => lastSlash(path, '%ef%bc%8f')),
  spelled('a backslash', (path) => lastSlash(path, '\\')),
  spelled('an encoded backslash', (path) => lastSlash(path, '%5c')),
  spelled('a parameter', (path) => `${path};x=y`),
  spelled('an empty parameter', (path) => `${path};`),
  spelled('a parameter in the middle', (path) => lastSlash(path, ';x=y/')),
  spelled('an extension', (path) => `${path}.json`),
  spelled('a dot behind', (path) => `${path}/.`),
  spelled('a dot at the end', (path) => `${path}.`),
  spelled('an encoded space', (path) => `${path}%20`),
  spelled('an encoded tab', (path) => `${path}%09`),
  spelled('an encoded end of line', (path) => `${path}%0d%0aX-Forged:%20y`),
  spelled('an encoded NUL', (path) => `${path}%00`),
  spelled('an encoded question mark', (path) => `${path}%3f`),
  spelled('an encoded hash', (path) => `${path}%23`),
  spelled('a percent sign', (path) => `${path}%`),
  spelled('an empty query', (path) => `${path}?`),
  spelled('a query that is a path', (path) => `${path}?/../../healthz`),
  spelled('a query with a method', (path) => `${path}?_method=GET&method=GET&X-HTTP-Method-Override=GET`),
  spelled('a query with a key', (path) => `${path}?api_key=x&access_token=x&key=x`),
  spelled('a long query', (path) => `${path}?${'a=b&'.repeat(5000)}`),
  spelled('two question marks', (path) => `${path}??x=/healthz`),
  spelled('in the query of the open path', (path) => `/healthz?${path}`),
  spelled('in the query of the open path, with a way out', (path) => `/healthz?/..${path}`),
  spelled('a fragment', (path) => `${path}#x`),
  spelled('behind the fragment of the open path', (path) => `/healthz#${path}`),
];

/** For targets of HTTP/1.1: in HTTP/2 the path stands alone. */
export const absoluteForms: readonly Trick[] = [
  spelled('absolute', (path) => `http://gw.example${path}`),
  spelled('absolute, https', (path) => `https://gw.example${path}`),
  spelled('absolute, in capitals', (path) => `HTTP://GW.EXAMPLE${path}`),
  spelled('absolute, to a port of ours', (path) => `http://127.0.0.1:8081${path}`),
  spelled('absolute, with a user', (path) => `http://user:word@gw.example${path}`),
  spelled('absolute, with dots', (path) => `http://gw.example/x/..${path}`),
  spelled('absolute, of the open path with a fragment', (path) => `http://gw.example/healthz#${path}`),
];

const withHeaders = (name: string, headers: (request: Request) => readonly Header[]): Trick => ({
  name: `header: ${name}`,
  change: (request) => ({ ...request, headers: [...request.headers, ...headers(request)] }),
});
const withHeader = (name: string, value: string | ((request: Request) => string)): Trick =>
  withHeaders(name, (request) => [[name, typeof value === 'string' ? value : value(request)]]);

const enterprise: readonly Header[] = [
  ['x-gw-account-id', 'acct_demo_enterprise'],
  ['x-gw-key-id', '000000000000'],
  ['x-gw-tier', 'enterprise'],
  ['x-gw-scopes', 'inference:read inference:write gw:read gw:lineage gw:export admin:keys'],
];

const otherMethod = ({ method }: Request) => (method === 'GET' ? 'POST' : 'GET');
const overrides = [
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
  'x-original-method',
  'x-forwarded-method',
];

/** The wrong method on the wire, the right one in a header that some framework obeys. */
const methods: readonly Trick[] = overrides.flatMap((header) => [
  withHeader(header, otherMethod),
  {
    name: `header: ${header}, with the wrong method on the wire`,
    change: (request) => ({
      ...request,
      method: 'PUT',
      headers: [...request.headers, [header, request.method] as const],
    }),
  },
]);

const rewriting = [
  'x-original-url',
  'x-rewrite-url',
  'x-original-uri',
  'x-forwarded-uri',
  'x-forwarded-path',
  'x-forwarded-prefix',
  'x-envoy-original-path',
  'x-envoy-original-url',
  'x-proxy-url',
  'x-override-url',
  'x-accel-redirect',
];

/** Headers that would turn an innocent request into this one, or make this one look innocent. */
const paths: readonly Trick[] = rewriting.flatMap((header) => [
  withHeader(header, '/healthz'),
  {
    name: `header: ${header}, from the open path`,
    change: ({ target, headers, ...request }) => ({
      ...request,
      method: 'GET',
      target: '/healthz',
      body: null,
      headers: [...headers.filter(([name]) => name !== 'content-type'), [header, target] as const],
    }),
  },
]);

const places = [
  'x-forwarded-for',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'x-envoy-external-address',
  'x-envoy-ip-tags',
];
const hosts = ['x-forwarded-host', 'x-host', 'x-forwarded-server', 'x-http-host-override'];

const identities: readonly Trick[] = [
  withHeaders('the identity of another account', () => enterprise),
  withHeaders('the same in capitals', () => enterprise.map(([name, value]) => [name.replace('gw', 'GW'), value])),
  withHeaders('the same with underscores', () => enterprise.map(([name, value]) => [name.replaceAll('-', '_'), value])),
  withHeaders('the same twice', () => [...enterprise, ...enterprise]),
  withHeader('x-gw-internal-token', `Bearer ${'0'.repeat(64)}`),
  withHeader('x-gw-cluster', 'control_plane'),
  withHeaders('x-gw-cluster and x-gw-stream', () => [
    ['x-gw-cluster', 'sink'],
    ['x-gw-stream', 'true'],
  ]),
  withHeader('x-gw-limits', '1000000:1000000:1000000'),
  withHeader('x-gw-limits-decided', '1'),
  withHeader('x-gw-anything', 'true'),
];

const steering: readonly Trick[] = [
  withHeader('x-envoy-internal', 'true'),
  withHeader('x-envoy-decorator-operation', 'x'),
  withHeader('x-envoy-max-retries', '9'),
  withHeader('x-envoy-upstream-rq-timeout-ms', '1'),
  withHeader('x-envoy-ratelimited', 'false'),
  withHeader('x-envoy-auth-partial-body', 'true'),
  withHeader('x-ratelimit-limit-requests', '1000000'),
  withHeader('x-forwarded-proto', 'https'),
  withHeader('x-forwarded-client-cert', 'By=spiffe://gw/envoy;Hash=0'),
  withHeader('forwarded', 'for=127.0.0.1;host=127.0.0.1;proto=https;by=127.0.0.1'),
  withHeader('x-middleware-subrequest', 'middleware'),
  withHeader('x-request-id', '00000000-0000-0000-0000-000000000000'),
  withHeader('traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'),
  withHeader('early-data', '1'),
  withHeader('cookie', 'gw_session=admin'),
  withHeader('origin', 'http://127.0.0.1:8081'),
  withHeader('if-none-match', '*'),
  withHeader('range', 'bytes=0-0'),
  withHeader('max-forwards', '0'),
  withHeader('x-large', 'a'.repeat(20_000)),
  withHeaders('many headers', () => Array.from({ length: 80 }, (_, at) => [`x-${at}`, 'a'])),
];

/** A key where none belongs is none. `path`: on those that clients of Anthropic call their header is a place for a key. */
export const keysElsewhere = (key: string, path: string): readonly Trick[] => [
  withHeader('proxy-authorization', `Bearer ${key}`),
  withHeader('x-authorization', `Bearer ${key}`),
  withHeader('authorization_', `Bearer ${key}`),
  ...(takesApiKey(path) ? [] : [withHeader('x-api-key', key)]),
  withHeader('x-forwarded-authorization', `Bearer ${key}`),
  withHeader('www-authenticate', `Bearer ${key}`),
  spelled('with the key in its query', (path) => `${path}?authorization=Bearer%20${key}&api_key=${key}`),
];

/** gRPC has replies of its own, in which a refusal would look like a success. */
const grpcTypes = ['application/grpc', 'application/grpc+proto', 'application/grpc-web', 'APPLICATION/GRPC'];
const contentTypes: readonly Trick[] = grpcTypes.map((type) => ({
  name: `content type: ${type}`,
  meaning: { kind: 'wrong content type' },
  change: (request) => ({
    ...request,
    headers: [...request.headers.filter(([name]) => name !== 'content-type'), ['content-type', type] as const],
  }),
}));

export const tricks: readonly Trick[] = [
  { name: 'plainly', change: (request) => request },
  ...spellings,
  ...methods,
  ...paths,
  ...places.map((name) => withHeader(name, '127.0.0.1')),
  ...hosts.map((name) => withHeader(name, '127.0.0.1:8081')),
  ...identities,
  ...steering,
  ...contentTypes,
];
