/** Nobody but Envoy is believed: neither on the internal listeners, nor by headers on the public one. */
import { statSync } from 'node:fs';
import { request } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { join } from 'node:path';
import { loadSecrets } from '@gw/stack/secrets';
import { describe, expect, it } from 'vitest';
import { accountsForFile } from '../sdk/test-account.ts';
import {
  badKey,
  call,
  expectCompletion,
  expectRefusal,
  newMarker,
  type Reply,
  reachedProvider,
  send,
  stack,
  upstream,
} from './ask.ts';

const accounts = accountsForFile();

const token = `Bearer ${loadSecrets(stack.dir).internalToken}`;
const wrongTokens = [
  undefined,
  '',
  'Bearer ',
  `Bearer ${'0'.repeat(64)}`,
  token.slice(0, -1),
  token.slice('Bearer '.length),
];
const forged = {
  'x-gw-account-id': 'acct_demo_enterprise',
  'x-gw-key-id': stack.keys.enterprise.slice(3, 15),
  'x-gw-tier': 'enterprise',
  'x-gw-scopes': 'inference:read inference:write gw:read gw:lineage gw:export admin:keys',
};

/** A gRPC call with one empty message; returns its status, or null if it never came to one. */
function grpc(socket: string, path: string, shown: string | undefined): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2('http://internal', { createConnection: () => connect(join(stack.sockets, socket)) });
    session.on('error', reject);
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...forged,
      ...(shown === undefined ? {} : { 'x-gw-internal-token': shown }),
    });
    let status: string | null = null;
    const note = (headers: NodeJS.Dict<string | string[]>) => {
      status = String(headers['grpc-status'] ?? status ?? '') || null;
    };
    stream.on('response', (headers) => note(headers as NodeJS.Dict<string>));
    stream.on('trailers', (headers) => note(headers as NodeJS.Dict<string>));
    stream.on('data', () => undefined);
    stream.on('error', () => undefined);
    stream.on('close', () => {
      session.close();
      resolve(status);
    });
    stream.end(Buffer.alloc(5));
  });
}

/** Straight to the control plane, past Envoy. */
function direct(path: string, shown: string | undefined, body?: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...forged,
      ...(shown === undefined ? {} : { 'x-gw-internal-token': shown }),
      'content-type': 'application/json',
    };
    const options = {
      socketPath: join(stack.sockets, 'control-plane.sock'),
      path,
      method: body ? 'POST' : 'GET',
      headers,
    };
    const outgoing = request(options, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8');
      incoming.on('data', (piece: string) => {
        text += piece;
      });
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, broken: false }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

describe('a direct call without the internal token is refused', () => {
  const unauthenticated = '16';

  it.each([
    ['ext-authz.sock', '/envoy.service.auth.v3.Authorization/Check'],
    ['ext-authz.sock', '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'],
    ['receipt-sidecar.sock', '/envoy.service.ext_proc.v3.ExternalProcessor/Process'],
    ['receipt-sidecar.sock', '/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs'],
  ])('%s %s', async (socket, path) => {
    for (const shown of wrongTokens)
      expect(await grpc(socket, path, shown), String(shown?.length)).toBe(unauthenticated);
    expect(await grpc(socket, path, token)).not.toBe(unauthenticated);
  });

  it.each(['/v1/models', '/v1/regions', '/v1/gw/receipts', '/v1/usage', '/nothing'])(
    'control-plane.sock %s',
    async (path) => {
      for (const shown of wrongTokens) {
        const reply = await direct(path, shown);
        expect(JSON.parse(reply.text)).toMatchObject({ error: { code: 'invalid_api_key', type: 'auth_error' } });
        expect(reply.status).toBe(401);
      }
      expect((await direct(path, token)).status).toBe(path === '/nothing' ? 404 : 200);
    },
  );

  it.each(['clusters', 'listeners', 'secrets'])('xDS of %s', async (kind) => {
    const body = JSON.stringify({ node: { id: 'forged' }, resource_names: ['CUSTOM'] });
    for (const shown of wrongTokens) {
      const reply = await direct(`/v3/discovery:${kind}`, shown, body);
      expect(reply.status).toBe(401);
      expect(reply.text).not.toContain('resources');
    }
    // Another instance may know a secret that no provider names.
    expect((await direct(`/v3/discovery:${kind}`, token, body)).status).toBe(kind === 'secrets' ? 503 : 200);
  });

  it('the sockets are for their owner alone', () => {
    expect(statSync(stack.sockets).mode & 0o777).toBe(0o700);
    for (const name of ['ext-authz', 'receipt-sidecar', 'control-plane', 'envoy-admin'])
      expect([name, statSync(join(stack.sockets, `${name}.sock`)).mode & 0o077]).toEqual([name, 0]);
  });

  it('the operators’ port and the health ports serve no API of clients and no xDS', async () => {
    for (const base of [stack.controlUrl, ...Object.values(stack.healthUrls)])
      for (const path of ['/v1/models', '/v1/gw/receipts', '/v3/discovery:secrets', '/v3/discovery:clusters']) {
        const reply = await fetch(`${base}${path}`, { headers: { ...forged, 'x-gw-internal-token': token } });
        expect([path, reply.status]).toEqual([path, 404]);
      }
  });
});

describe('headers of a client change nothing', () => {
  it('x-gw-* give nobody an identity or a scope', async () => {
    const withToken = { ...forged, 'x-gw-internal-token': token };
    const list = { method: 'GET', path: '/v1/gw/receipts' };
    expectRefusal(await send({ ...list, key: null, headers: withToken }), badKey('invalid_api_key'));
    const poor = await accounts.create({}, { scopes: ['inference:write'] });
    const missing = { status: 403, type: 'auth_error', code: 'insufficient_scope', param: null };
    expectRefusal(await send({ ...list, key: poor, headers: withToken }), missing);
    const fresh = await accounts.create();
    const reply = await send({ ...list, key: fresh, headers: withToken });
    expect(JSON.parse(reply.text)).toMatchObject({ object: 'list', data: [] });
  });

  it('x-gw-models changes no list of models', async () => {
    // The account has its own list of models, because other tests add models that all accounts have.
    const key = await accounts.create({ models: ['sim-small'] });
    const list = (headers: Record<string, string>) => send({ method: 'GET', path: '/v1/models', key, headers });
    const honest = await list({});
    expect(JSON.parse(honest.text).data).toMatchObject([{ id: 'sim-small' }]);
    for (const models of ['["sim-large"]', '[]', 'no JSON'])
      expect((await list({ 'x-gw-models': models })).text).toBe(honest.text);
  });

  it('the receipt belongs to the account of the key', async () => {
    const key = await accounts.create();
    const { gw } = expectCompletion(await call({}, forged, { key }));
    const read = (reader: string) => send({ method: 'GET', path: `/v1/gw/receipts/${gw.id}`, key: reader });
    expect((await read(key)).status).toBe(200);
    expect((await read(stack.keys.enterprise)).status).toBe(404);
  });

  it('x-gw-cluster and its like lead a call nowhere else', async () => {
    for (const cluster of ['control_plane', 'ext_authz', 'sink', 'nothing', 'order:sim-eu-west']) {
      const marker = newMarker();
      const headers = {
        'x-gw-cluster': cluster,
        'X-GW-Deployment': 'sim-eu-west',
        'x-gw-receipt-id': 'rcpt_forged',
        'x-sim-marker': marker,
      };
      const reply = await call({}, headers);
      const { gw, routing_trace: trace } = expectCompletion(reply);
      expect(trace.region).toBe('us-east');
      expect(gw.id).not.toBe('rcpt_forged');
      expect(await reachedProvider(marker)).toBe(1);
      // Without the sidecar's word the call would not leave the first route.
      expectRefusal(await call({ model: 'nobody' }, headers), {
        status: 400,
        type: 'validation_error',
        code: 'invalid_model',
        param: 'model',
      });
    }
  });

  it('x-envoy-* steer neither retries nor time-outs nor paths', async () => {
    const marker = newMarker();
    const steer = {
      'x-envoy-max-retries': '0',
      'x-envoy-retry-on': 'retriable-4xx',
      'x-envoy-upstream-alt-stat-name': 'forged',
      'x-envoy-original-path': '/v1/models',
      'x-envoy-original-url': '/v1/models',
      'x-envoy-decorator-operation': 'forged',
      'x-envoy-force-trace': 'true',
      'x-envoy-internal': 'true',
      'x-envoy-expected-rq-timeout-ms': '1',
      'x-envoy-upstream-rq-timeout-ms': '1',
      'x-envoy-upstream-rq-per-try-timeout-ms': '1',
      'x-envoy-upstream-stream-duration-ms': '1',
      'x-envoy-hedge-on-per-try-timeout': 'true',
      'x-envoy-ip-tags': 'forged',
    };
    expectCompletion(await call({}, { ...steer, 'x-sim-delay-ms': '200' }));
    const reply = await call({}, { ...steer, 'x-sim-marker': marker, 'x-sim-fault': 'status-429' });
    expectRefusal(reply, upstream('upstream_rate_limited'));
    expect(await reachedProvider(marker)).toBe(3);
    const more = newMarker();
    const pinned = { ...steer, 'x-envoy-max-retries': '9', 'x-sim-marker': more, 'x-sim-fault': 'status-500' };
    expectRefusal(await call({ gw: { region: 'us-east' } }, pinned), upstream('upstream_error'));
    expect(await reachedProvider(more)).toBe(1);
  });

  it('a request id of a client is not taken over', async () => {
    const reply = await call(
      {},
      { 'x-request-id': 'my-own', 'x-forwarded-for': '10.0.0.1', 'x-forwarded-proto': 'https' },
    );
    expectCompletion(reply);
    expect(reply.headers['x-request-id']).not.toBe('my-own');
  });
});
