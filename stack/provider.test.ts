import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAddressGuard } from '@gw/service/address-guard';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { freePorts } from './ports.ts';
import { guardOf, providerModels } from './provider.ts';

let dir: string;
let server: Server;
let url: string;
let answer: RequestListener;
const lines: string[] = [];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'gw-provider-'));
  lines.length = 0;
  server = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterEach(() => {
  server.close();
  rmSync(dir, { recursive: true, force: true });
});

const unused = async (): Promise<string> => `http://127.0.0.1:${(await freePorts(1))[0]}/v1`;
const answering =
  (status: number, body: unknown): RequestListener =>
  (_request, response) =>
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
const listing = answering(200, { data: [{ id: 'model-a' }, { name: 'one without an id' }, { id: 'model-b' }] });
const models = (key: string | null = null, at = url, guard = openAddressGuard()) =>
  providerModels({ url: at, key }, { dir, guard, log: (line) => lines.push(line) });

test('its models are those that it lists, and the key goes to it', async () => {
  let seen: unknown = '';
  answer = (request, response) => {
    seen = [request.url, request.headers.authorization];
    listing(request, response);
  };
  expect(await models('the-key')).toEqual(['model-a', 'model-b']);
  expect(seen).toEqual(['/v1/models', 'Bearer the-key']);
  expect(lines).toEqual([
    expect.stringContaining('receipts are based on'),
    expect.stringMatching(/^ {2}model-a: by its name: it chats; its size is unknown/),
    expect.stringMatching(/^ {2}model-b: /),
  ]);
});

describe('a provider that was never reached: the reason is the true one', () => {
  test.each<[string, RequestListener, string | null, RegExp]>([
    ['asks for a key', answering(401, {}), null, /it asks for a key \(401\): set GW_PROVIDER_KEY\.$/],
    ['refuses the key', answering(403, {}), 'k', /it refuses the key in GW_PROVIDER_KEY \(403\)\.$/],
    ['has its API elsewhere', answering(404, {}), null, /no list of models there \(404\)\. Is the API at another path/],
    ['is broken', answering(500, {}), null, /: it answers 500\.$/],
    ['is no API', answering(200, '<html>'), null, /its reply is not a list of models/],
    ['is another API', answering(200, { models: [] }), null, /its reply is not a list of models/],
    ['has no models', answering(200, { data: [] }), null, /it lists no models/],
    ['breaks off', (request) => request.socket.destroy(), null, /it closed the connection without an answer\.$/],
  ])('%s', async (_name, given, key, reason) => {
    answer = given;
    const failed = models(key);
    await expect(failed).rejects.toThrow(reason);
    await expect(failed).rejects.toThrow(`The provider's models could not be read from ${url}/models: `);
  });

  test('nothing listens', async () => {
    await expect(models(null, await unused())).rejects.toThrow('nothing is listening at this address.');
  });

  test('its host has no address', async () => {
    const cause = Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' });
    const unknown = openAddressGuard([], () => Promise.reject(cause));
    await expect(models(null, 'http://nobody.example/v1', unknown)).rejects.toThrow(
      'the name of its host cannot be resolved.',
    );
  });
});

test('one that was reached at the last start serves those models, and the start says so', async () => {
  answer = listing;
  await models();
  lines.length = 0;
  answer = answering(503, {});
  expect(await models()).toEqual(['model-a', 'model-b']);
  expect(lines).toEqual([
    `The provider's models could not be read from ${url}/models: it answers 503. The models found at the last start are served.`,
  ]);
});

test('the models of another provider are not taken for its own', async () => {
  answer = listing;
  await models();
  await expect(models(null, await unused())).rejects.toThrow('nothing is listening');
});

test('a redirect is not followed, so that the key goes nowhere else', async () => {
  const asked: unknown[] = [];
  answer = (request, response) => {
    asked.push([request.url, request.headers.authorization]);
    if (request.url === '/v1/models') response.writeHead(307, { location: `${url}/elsewhere` }).end();
    else listing(request, response);
  };
  await expect(models('the-key')).rejects.toThrow(/redirects \(307\), and redirects are not followed/);
  expect(asked).toEqual([['/v1/models', 'Bearer the-key']]);
});

test('an address that the gateway never calls is refused, also after a start with it', async () => {
  answer = listing;
  await models();
  const { port } = server.address() as AddressInfo;
  const own = guardOf({ public: port, control: 1, health: {} });
  await expect(models(null, url, own)).rejects.toThrow("never calls (the gateway's own public port:");
  const inside = openAddressGuard([], async () => [{ address: '169.254.169.254', family: 4 }]);
  await expect(models(null, 'http://inside.example/v1', inside)).rejects.toThrow(/never calls \(link-local/);
});
