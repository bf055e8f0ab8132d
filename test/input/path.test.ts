/** Which paths and methods there are: one spelling each, and no other reaches anything. */
import { routes } from '@gw/contract/routes';
import { expect, it } from 'vitest';
import { badKey, chatBody, expectRefusal, invalid, send, unknownPath, wrongMethod } from './ask.ts';

const example = (path: string) => path.replace('{code}', 'invalid_model').replace(/\{[a-z_]+\}/, 'x');

it.each([...new Set(routes.map((route) => route.path))])('%s takes its own methods, and names them', async (path) => {
  const own = routes.filter((route) => route.path === path);
  const allowed = own.flatMap(({ method }): string[] => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
    if (allowed.includes(method)) continue;
    const reply = await send({ method, path: example(path), key: null });
    expectRefusal(reply, wrongMethod);
    expect(reply.headers.allow).toBe(allowed.join(', '));
  }
  const head = await send({ method: 'HEAD', path: example(path), key: null });
  const isOpen = own.some(({ method, scope }) => method === 'GET' && scope === null);
  const status = isOpen ? 200 : allowed.includes('HEAD') ? 401 : 405;
  expect([head.status, head.headers.allow, head.text]).toEqual([
    status,
    status === 405 ? allowed.join(', ') : undefined,
    '',
  ]);
});

it.each([
  '/',
  '/v1',
  '/v1/',
  '/v1/responses/resp_1',
  '/v1/grid/health',
  '/v1/chat',
  '/v1/chat/completions/',
  '/v1/chat/completions/x',
  '/v1//chat/completions',
  '//v1/chat/completions',
  '/V1/chat/completions',
  '/v1/Chat/Completions',
  '/v1/chat%2Fcompletions',
  '/v1/chat%2fcompletions',
  '/v1/chat%5Ccompletions',
  '/v1/chat/completions;a=b',
  '/v1/chat/completions%20',
  '/v1/chat/completions.json',
  '/v1/regions/a%2Fb',
  '/v1/regions/a/b',
  '/v1/gw/receipts/a%2Fb',
  '/v1/gw/receipts/',
  '/v3/discovery:secrets',
  '/v1/models/../../v3/discovery:secrets',
  '/%2e%2e/%2e%2e/etc/passwd',
  '/..',
  '/stats',
  '/config_dump',
  '/healthz/',
  '/errors/',
  '/errors/invalid_model/',
  '/errors/a%2Fb',
  '/metrics',
])('%s is an unknown path, even without a key', async (path) => {
  for (const key of [null, undefined])
    for (const method of ['GET', 'POST', 'DELETE'])
      expectRefusal(await send({ method, path, ...(key === null ? { key } : {}), body: chatBody() }), unknownPath);
});

it.each([
  ['/v1/chat/completions/', '/v1/chat/completions'],
  ['//v1/chat//completions', '/v1/chat/completions'],
  ['/v1/embeddings//', '/v1/embeddings'],
  ['/v1/gw/receipts/', '/v1/gw/receipts'],
  ['/v1/gw/receipts/rcpt_x//routing', '/v1/gw/receipts/{receipt_id}/routing'],
])('%s is told the path without the extra slash', async (path, right) => {
  for (const key of [null, undefined]) {
    const reply = await send({ path, ...(key === null ? { key } : {}), body: chatBody() });
    expect(expectRefusal(reply, unknownPath)).toContain(`Use ${right}.`);
  }
});

it('a model with a slash behind it is told its path, if there is such a model', async () => {
  const refusal = { ...invalid('invalid_model', 'model'), status: 404 };
  const known = await send({ method: 'GET', path: '/v1/models/sim-small/' });
  expect(expectRefusal(known, refusal)).toContain('Use /v1/models/sim-small.');
  const unknown = await send({ method: 'GET', path: '/v1/models/nobody/' });
  expect(expectRefusal(unknown, refusal)).not.toContain('slash');
});

it.each([
  '/v1/chat/./completions',
  '/v1/x/../chat/completions',
  '/v1/%63hat/completions',
  '/v1/x/%2e%2e/chat/completions',
])('%s is read as the path that it means, so it needs a key', async (path) => {
  expectRefusal(await send({ path, key: null, body: chatBody() }), badKey('invalid_api_key'));
});

it('dots lead out of no prefix', async () => {
  for (const path of ['/v1/models/..%2f..%2fv3%2fdiscovery:secrets', '/v1/models/%2e%2e%2f%2e%2e%2fusage']) {
    const reply = await send({ method: 'GET', path });
    expect(reply.status, path).toBe(404);
    expect(reply.text).not.toContain('resources');
  }
});

it.each(['/v1/chat/completions%00', '/v1/models/%00', '/v1/chat/completions#fragment'])(
  '%s is a malformed request',
  async (path) => {
    expectRefusal(await send({ path, body: chatBody() }), invalid('invalid_request'));
  },
);

it.each(['/v1/models/%', '/v1/models/%zz', '/v1/models/%ff'])('%s cannot be decoded', async (path) => {
  expectRefusal(await send({ method: 'GET', path }), invalid('invalid_request'));
});

it.each([
  ['/v1/models/nobody', { ...invalid('invalid_model', 'model'), status: 404 }],
  ['/v1/models/a/b', { ...invalid('invalid_model', 'model'), status: 404 }],
  ['/v1/models/a%2Fb', { ...invalid('invalid_model', 'model'), status: 404 }],
  [`/v1/models/${'x'.repeat(99)}`, { ...invalid('invalid_model', 'model'), status: 404 }],
  ['/v1/regions/atlantis', { ...invalid('invalid_region', 'region_code'), status: 404 }],
  ['/v1/regions/__proto__', { ...invalid('invalid_region', 'region_code'), status: 404 }],
  ['/v1/gw/receipts/rcpt_x', { ...invalid('receipt_not_found', 'receipt_id'), status: 404 }],
  [`/v1/gw/receipts/rcpt_${'0'.repeat(99)}`, { ...invalid('receipt_not_found', 'receipt_id'), status: 404 }],
  ['/v1/gw/methodology/x', { ...invalid('methodology_not_found', 'methodology_hash'), status: 404 }],
  ['/v1/gw/receipts?limit=0', invalid('invalid_limit', 'limit')],
  ['/v1/gw/receipts?limit=many', invalid('invalid_limit', 'limit')],
  ['/v1/gw/receipts?limit=1&limit=2', invalid('invalid_limit', 'limit')],
])('%s is looked up and not found', async (path, refusal) => {
  expectRefusal(await send({ method: 'GET', path }), refusal);
});

it('a body on a GET does no harm', async () => {
  expect((await send({ method: 'GET', path: '/v1/models', body: '{"a":' })).status).toBe(200);
});

it('what needs no key is open, and nothing else is', async () => {
  for (const { method, path, scope } of routes) {
    const { status } = await send({ method, path: example(path), key: null, body: chatBody() });
    expect([path, status]).toEqual([path, scope === null ? 200 : 401]);
  }
});
