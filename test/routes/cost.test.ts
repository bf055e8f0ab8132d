/** One admitted call takes one token of the limit of its route, and nothing else. */
import { managementLimits } from '@gw/contract/access';
import { limitKey } from '@gw/contract/internal/redis';
import { type Route, routes } from '@gw/contract/routes';
import { forFile } from '@gw/testing/for-file';
import { expect, it } from 'vitest';
import { chatBody, expectRefusal, invalid, type Reply, send } from '../input/ask.ts';
import { accountsForFile } from '../sdk/test-account.ts';
import { startWatchedGateway } from './watched-gateway.ts';

const accounts = accountsForFile();
const { redis } = accounts;
const perDay = 1000;
const burst = 200;
const gateway = forFile(startWatchedGateway);

const scopes = [...new Set(routes.flatMap(({ scope }) => scope ?? []))];
const newKey = (held = scopes) => accounts.create({ perDay }, { scopes: held });
const keyOf = (key: string, kind: string) => limitKey(`acct_test_${key.slice(3, 15)}`, kind);
const pathOf = ({ path }: Route) => path.replace('{code}', 'invalid_model').replace(/\{[a-z_]+\}/, 'x');
const left = ({ headers }: Reply) => ({
  requests: headers['x-ratelimit-remaining-requests'],
  day: headers['x-ratelimit-remaining-day'],
});

const limited = routes.filter(({ limit }) => limit !== null);

it('every route that needs a key has a limit', () => {
  expect(limited).toEqual(routes.filter(({ scope }) => scope !== null));
});

it.each(limited.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s takes one token, even if its body is refused, and none of the other limit',
  async (_name, route) => {
    const key = await newKey();
    const body = route.method === 'POST' ? { body: '{' } : {};
    const reply = await send({ method: route.method, path: pathOf(route), key, ...body });
    const own =
      route.limit === 'management'
        ? { requests: managementLimits.burst - 1 }
        : { requests: burst - 1, day: perDay - 1 };
    expect(left(reply), reply.text).toEqual({
      requests: String(own.requests),
      day: 'day' in own ? String(own.day) : undefined,
    });
    expect(await redis.exists(keyOf(key, route.limit === 'management' ? 'calls' : 'management'))).toBe(0);
  },
);

it('a call that is tried in every region takes one token, as one that is answered at once', async () => {
  for (const headers of [{}, { 'x-sim-fault': 'status-500' }]) {
    const reply = await send({ key: await newKey(), body: chatBody(), headers });
    expect([200, 502]).toContain(reply.status);
    expect(left(reply)).toEqual({ requests: String(burst - 1), day: String(perDay - 1) });
  }
});

it('a body that is too large by its own word costs one token, and none is left for it once they are spent', async () => {
  const key = await newKey();
  const sent = { key, body: '', headers: { 'content-length': String(2 ** 30) } };
  const reply = await send(sent);
  expectRefusal(reply, invalid('request_too_large'));
  expect(left(reply).day).toBe(String(perDay - 1));
  await redis.hset(keyOf(key, 'calls'), { n: perDay });
  expectRefusal(await send(sent), {
    status: 429,
    type: 'rate_limit_error',
    code: 'daily_budget_exceeded',
    param: null,
  });
});

it('a call that is refused before the limits takes nothing', async () => {
  for (const route of limited) {
    const key = await newKey(scopes.filter((scope) => scope !== route.scope));
    const reply = await send({ method: route.method, path: pathOf(route), key });
    expect([reply.status, left(reply)], route.path).toEqual([403, {}]);
    expect(await redis.exists(keyOf(key, 'calls'), keyOf(key, 'management'))).toBe(0);
  }
});

const typeOf = (path: string): string => {
  if (path.startsWith('/errors')) return 'text/html; charset=utf-8';
  return path === '/ns/gw' ? 'application/ld+json' : 'application/json';
};

it('what needs no key costs nobody anything: no limit, and nothing behind Envoy hears of it', async () => {
  const before = await gateway.askedOfProvider();
  gateway.arrived.length = 0;
  const key = await newKey();
  for (const route of routes.filter(({ scope }) => scope === null)) {
    const url = `http://127.0.0.1:${gateway.port}`;
    for (const shown of [key, null]) {
      const reply = await send({ url, method: route.method, path: pathOf(route), key: shown });
      const type = typeOf(route.path);
      expect([reply.status, reply.headers['content-type'], left(reply)]).toEqual([200, type, {}]);
    }
  }
  for (const path of ['/nothing', '/v1', '/openapi.json/x'])
    await send({ url: `http://127.0.0.1:${gateway.port}`, path, key });
  expect(gateway.arrived).toEqual([]);
  expect(await gateway.askedOfProvider()).toBe(before);
  expect(await redis.exists(keyOf(key, 'calls'), keyOf(key, 'management'))).toBe(0);
});
