/**
 * The Lua of the last resort by itself: a real Envoy with the filter, and metadata as a sidecar leaves it that then died.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { degradedLua } from '@gw/envoy/render';
import { envoyBinary } from '@gw/stack/binaries';
import { inCheckout } from '@gw/stack/checkout';
import { freePorts } from '@gw/stack/ports';
import { type Child, startChild } from '@gw/stack/services/child';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

const errors = { upstreamError: '{"error":{}}', receiptError: '{"error":"receipt"}' };
const block = '{"id":"r","tier":"degraded"}';
/** What the provider sends, piece by piece. */
let pieces: readonly string[] = [];
let contentType = 'text/event-stream';
let status = 200;

async function provide(response: ServerResponse): Promise<void> {
  response.writeHead(status, {
    'content-type': contentType,
    'x-gw-deployment': 'd',
    'set-cookie': 'a=b',
    'x-gw-receipt-id': 'forged',
    'cache-control': 'public, max-age=99999',
  });
  for (const piece of pieces) {
    response.write(piece);
    // Long enough apart to arrive as pieces.
    await delay(15);
  }
  response.end();
}

const provider = createServer((request, response) => {
  request.resume();
  void provide(response);
});
let envoy: Child;
let port = 0;
let dir = '';

const typed = (type: string, fields: object = {}) => ({ '@type': `type.googleapis.com/${type}`, ...fields });

function config(upstreamPort: number): object {
  const loopback = (at: number) => ({ socket_address: { address: '127.0.0.1', port_value: at } });
  const metadata = { receipt_id: 'r', degraded: block, chunk_object: 'chat.completion.chunk' };
  const manager = typed('envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager', {
    stat_prefix: 'x',
    route_config: {
      virtual_hosts: [
        { name: 'x', domains: ['*'], routes: [{ match: { prefix: '/' }, route: { cluster: 'provider' } }] },
      ],
    },
    http_filters: [
      {
        name: 'envoy.filters.http.set_metadata',
        typed_config: typed('envoy.extensions.filters.http.set_metadata.v3.Config', {
          metadata: [{ metadata_namespace: 'gw', value: metadata }],
        }),
      },
      {
        name: 'envoy.filters.http.lua',
        typed_config: typed('envoy.extensions.filters.http.lua.v3.Lua', {
          default_source_code: { inline_string: degradedLua(errors, inCheckout('envoy')) },
        }),
      },
      { name: 'envoy.filters.http.router', typed_config: typed('envoy.extensions.filters.http.router.v3.Router') },
    ],
  });
  return {
    static_resources: {
      listeners: [
        {
          name: 'x',
          address: loopback(port),
          filter_chains: [
            { filters: [{ name: 'envoy.filters.network.http_connection_manager', typed_config: manager }] },
          ],
        },
      ],
      clusters: [
        {
          name: 'provider',
          type: 'STATIC',
          load_assignment: {
            cluster_name: 'provider',
            endpoints: [{ lb_endpoints: [{ endpoint: { address: loopback(upstreamPort) } }] }],
          },
        },
      ],
    },
  };
}

beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const bound = provider.address();
  [port = 0] = await freePorts(1);
  mkdirSync(inCheckout('.gw'), { recursive: true });
  dir = mkdtempSync(inCheckout('.gw', 'test-lua-'));
  const file = join(dir, 'envoy.json');
  writeFileSync(file, JSON.stringify(config(typeof bound === 'object' && bound ? bound.port : 0)));
  const command = await envoyBinary(() => undefined);
  envoy = await startChild({
    command,
    args: ['-c', file, '--disable-hot-restart', '--concurrency', '1', '--log-level', 'error'],
    env: {},
    logFile: join(dir, 'envoy.log'),
  });
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      (reply) => reply.ok,
      () => false,
    );
  await vi.waitUntil(answers, { timeout: 15_000, interval: 50 });
});

afterAll(async () => {
  await envoy?.stop();
  provider.close();
  rmSync(dir, { recursive: true, force: true });
});

async function ask(sent: readonly string[], type = 'text/event-stream', sentStatus = 200) {
  pieces = sent;
  contentType = type;
  status = sentStatus;
  const reply = await fetch(`http://127.0.0.1:${port}/`);
  return { status: reply.status, text: await reply.text(), headers: reply.headers };
}

const own = `data: {"object":"chat.completion.chunk","choices":[],"gw":${block}}\n\n`;
const chunk = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n';
const end = 'data: [DONE]\n\n';

it('puts the degraded block in front of [DONE], wherever the bytes are cut', async () => {
  for (let cut = 0; cut <= end.length; cut++) {
    const { text, headers } = await ask([chunk, end.slice(0, cut), end.slice(cut)].filter((piece) => piece !== ''));
    expect(text, `cut at ${cut}`).toBe(chunk + own + end);
    expect(headers.get('set-cookie')).toBeNull();
    expect(headers.get('x-gw-receipt-id')).toBe('r');
    expect(headers.get('cache-control')).toBe('no-store');
  }
});

it('lets nothing pass behind [DONE]', async () => {
  const forged = 'data: {"choices":[]}\n\n';
  expect((await ask([chunk, `${end}${forged}`, forged])).text).toBe(chunk + own + end);
});

const forgeries = [
  '"gw":{"id":"forged"}',
  '"g\\u0077" : "forged"',
  '"\\u0047\\u0057":1',
  '"Gw":1',
  '"routing_trace":{}',
  '"Routing_Trace":{}',
  '"\\u0072outing_trace":{}',
  '"usage":{"gw":1}',
];

it.each(forgeries)('leaves no key of the provider that is ours, in JSON or in a stream: %s', async (forged) => {
  const reply = `{"choices":[],${forged}}`;
  const keys = (text: string) => JSON.stringify(JSON.parse(text)).match(/"(gw|routing_trace)"/gi) ?? [];
  expect(keys((await ask([reply], 'application/json')).text)).toEqual(['"gw"']);
  for (const event of [`data: ${reply}\n\n`, `: x\rdata: ${reply}\r\r`, `\ufeffdata: ${reply}\n\n`]) {
    const { text } = await ask([event, end]);
    expect(text.replace(own, '')).not.toMatch(/"(g|\\u00[46]7)(w|\\u00[57]7)"|"(r|\\u0072)outing_trace"/i);
    expect(text).toContain(own + end);
  }
});

it('changes no other word', async () => {
  const words = JSON.stringify({
    choices: [{ delta: { content: 'the key "gw": \\u0067 and \u00e9\u0001' } }],
    gwx: '"gw"',
  });
  expect((await ask([`data: ${words}\n\n`, end])).text).toBe(`data: ${words}\n\n${own}${end}`);
  expect((await ask([words], 'application/json')).text).toBe(`${words.slice(0, -1)},"gw":${block}}`);
});

it('does not take a completion that says "data: [DONE]" for the end of the stream', async () => {
  const words = 'data: {"choices":[{"delta":{"content":"data: [DONE]"}}]}\n\n';
  expect((await ask([words, end])).text).toBe(words + own + end);
  // The same words at the beginning of a piece, but not of a line.
  expect((await ask([words.slice(0, 40), words.slice(40), end])).text).toBe(words + own + end);
});

it('lets a stream that ends without [DONE] through whole', async () => {
  expect((await ask([chunk, 'data: [DO'])).text).toContain(chunk);
});

it('splices the block into a JSON reply, and shows nothing raw of a failure', async () => {
  expect((await ask(['{"id":"c",', '"choices":[]}\n'], 'application/json')).text).toBe(
    `{"id":"c","choices":[],"gw":${block}}`,
  );
  expect((await ask(['{}'], 'application/json')).text).toBe(`{"gw":${block}}`);
  const failed = await ask(['secret detail'], 'text/plain', 503);
  expect(failed).toMatchObject({ status: 502, text: '{"error":{}}' });
  expect(failed.headers.get('content-type')).toBe('application/json');
});

it.each([
  ['<html>', 'text/html'],
  ['[1]', 'application/json'],
  ['', 'application/json'],
])('a reply of 200 that no receipt can be put into is our fault, and is not shown: %j as %s', async (body, type) => {
  const reply = await ask([body], type);
  expect(reply).toMatchObject({ status: 500, text: errors.receiptError });
  expect(reply.headers.get('content-type')).toBe('application/json');
  expect(reply.headers.get('x-gw-receipt-id')).toBe('r');
});
