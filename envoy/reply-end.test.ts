/** The filter that ends replies, in an Envoy with nothing else but a Lua filter that says, as the sidecar does, that a reply is over. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replyEndMs } from '@gw/contract/internal/reply-end';
import { envoyBinary, replyEndModule } from '@gw/stack/binaries';
import { startChild } from '@gw/stack/child';
import { freePorts } from '@gw/stack/ports';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { replyEndFilter } from './reply-end.ts';
import { typed } from './typed.ts';

const binary = await envoyBinary(() => undefined);
const module = replyEndModule(binary);
const dir = mkdtempSync(join(tmpdir(), 'gw-reply-end-'));
const [port = 0] = await freePorts(1);
const stops: (() => unknown)[] = [];
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
  rmSync(dir, { recursive: true, force: true });
});

const loopback = (port_value: number) => ({ socket_address: { address: '127.0.0.1', port_value } });
const saysOver = `function envoy_on_response(handle)
  for chunk in handle:bodyChunks() do
    local text = chunk:getBytes(0, chunk:length())
    if text:find('over', 1, true) then handle:streamInfo():dynamicMetadata():set('gw', 'over', true) end
  end
end`;
const config = (provider: number) => ({
  static_resources: {
    listeners: [
      {
        address: loopback(port),
        filter_chains: [
          {
            filters: [
              {
                name: 'http',
                typed_config: typed(
                  'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
                  {
                    stat_prefix: 'http',
                    route_config: {
                      virtual_hosts: [
                        {
                          name: 'all',
                          domains: ['*'],
                          routes: [{ match: { prefix: '/' }, route: { cluster: 'provider', timeout: '0s' } }],
                        },
                      ],
                    },
                    http_filters: [
                      replyEndFilter(module),
                      {
                        name: 'envoy.filters.http.lua',
                        typed_config: typed('envoy.extensions.filters.http.lua.v3.Lua', {
                          default_source_code: { inline_string: saysOver },
                        }),
                      },
                      {
                        name: 'envoy.filters.http.router',
                        typed_config: typed('envoy.extensions.filters.http.router.v3.Router'),
                      },
                    ],
                  },
                ),
              },
            ],
          },
        ],
      },
    ],
    clusters: [
      {
        name: 'provider',
        type: 'STATIC',
        load_assignment: {
          cluster_name: 'provider',
          endpoints: [{ lb_endpoints: [{ endpoint: { address: loopback(provider) } }] }],
        },
      },
    ],
  },
});

let answer: (response: ServerResponse) => unknown;
/** The provider's connections by which calls came, in order. */
let calls: Socket[] = [];

beforeAll(async () => {
  const provider = createServer((request, response) => {
    calls.push(request.socket);
    answer(response);
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  stops.push(() => {
    provider.close();
    provider.closeAllConnections();
  });
  const file = join(dir, 'envoy.json');
  writeFileSync(file, JSON.stringify(config((provider.address() as AddressInfo).port)));
  const envoy = await startChild({
    command: binary,
    args: ['-c', file, '--disable-hot-restart', '--concurrency', '2', '--log-level', 'error'],
    env: {},
    logFile: join(dir, 'envoy.log'),
  });
  stops.push(() => envoy.stop());
  answer = (response) => response.end('up');
  const answers = () =>
    fetch(`http://127.0.0.1:${port}`).then(
      ({ ok }) => ok,
      () => false,
    );
  await vi.waitUntil(answers, { timeout: 15_000, interval: 50 });
}, 60_000);

interface Read {
  readonly text: string;
  readonly ms: number;
  readonly socket: number | undefined;
}
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
stops.push(() => agent.destroy());

/** Reads a reply to its end. Rejects if it is broken off. */
function read(with_: Agent | false = agent): Promise<Read> {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const request = get({ port, host: '127.0.0.1', agent: with_ }, (reply: IncomingMessage) => {
      const socket = reply.socket.localPort;
      let text = '';
      reply.setEncoding('utf8');
      reply.on('data', (piece: string) => {
        text += piece;
      });
      reply.once('error', reject);
      reply.once('end', () => resolve({ text, ms: performance.now() - start, socket }));
    });
    request.once('error', reject);
  });
}

/** The same by HTTP/2. */
function readHttp2(): Promise<string> {
  const session = connect(`http://127.0.0.1:${port}`);
  return new Promise<string>((resolve, reject) => {
    const stream = session.request({ ':path': '/' } satisfies IncomingHttpHeaders);
    let text = '';
    stream.setEncoding('utf8');
    stream.on('data', (piece: string) => {
      text += piece;
    });
    stream.once('error', reject);
    stream.once('close', () => (stream.rstCode === 0 ? resolve(text) : reject(new Error(`reset ${stream.rstCode}`))));
  }).finally(() => session.close());
}

const leftOpen = (response: ServerResponse) => void response.write('all is over');

// Without a compiler there is no filter, and the sidecar breaks the reply off.
describe.runIf(module)('a reply that is over', () => {
  test('ends in order soon if its provider leaves it open, and its client keeps the connection', async () => {
    answer = leftOpen;
    calls = [];
    const first = await read();
    expect(first.text).toBe('all is over');
    expect(first.ms).toBeGreaterThan(replyEndMs - 20);
    expect(first.ms).toBeLessThan(replyEndMs + 2000);
    answer = (response) => response.end('next');
    const next = await read();
    expect(next).toMatchObject({ text: 'next', socket: first.socket });
    // No further call goes to the connection that was left open.
    expect(calls[1]).not.toBe(calls[0]);
    await vi.waitUntil(() => calls[0]?.destroyed, { timeout: 5000, interval: 10 });
  });

  test('ends in order by HTTP/2', async () => {
    answer = leftOpen;
    expect(await readHttp2()).toBe('all is over');
  });

  test('is left to a provider that ends it, who keeps its connection', async () => {
    answer = (response) => {
      leftOpen(response);
      setTimeout(() => response.end(' indeed'), replyEndMs / 4);
    };
    calls = [];
    expect(await read()).toMatchObject({ text: 'all is over indeed' });
    expect(await read()).toMatchObject({ text: 'all is over indeed' });
    expect(calls[1]).toBe(calls[0]);
  });

  test('ends once, whatever comes at the same time', async () => {
    const ways: ((response: ServerResponse) => unknown)[] = [
      leftOpen,
      // Ends about when the filter does.
      ...[-2, 0, 1, 2].map((ms) => (response: ServerResponse) => {
        leftOpen(response);
        setTimeout(() => response.end(), replyEndMs + ms);
      }),
      // Goes on for ever.
      (response) => {
        leftOpen(response);
        const more = setInterval(() => response.write('.'), 1);
        response.once('close', () => clearInterval(more));
      },
    ];
    let index = 0;
    answer = (response) => ways[index++ % ways.length]?.(response);
    const texts = await Promise.all(Array.from({ length: 120 }, () => read(false).then(({ text }) => text)));
    expect(texts.filter((text) => !/^all is over\.*$/.test(text))).toEqual([]);
    expect(await readHttp2()).toMatch(/^all is over/);
  });

  test('harms nobody if its client has gone', async () => {
    answer = leftOpen;
    const leaving = Array.from({ length: 20 }, (_, index) => {
      return new Promise<void>((resolve) => {
        const request = get({ port, host: '127.0.0.1', agent: false }, (reply) => {
          reply.once('error', () => resolve());
          reply.once('data', () => setTimeout(() => request.destroy(), index % 2 ? 0 : replyEndMs));
          reply.once('close', () => resolve());
        });
        request.once('error', () => resolve());
      });
    });
    await Promise.all(leaving);
    expect(await read()).toMatchObject({ text: 'all is over' });
  });
});

test('a reply that is not over stays open as long as its provider likes', async () => {
  answer = (response) => {
    response.write('not yet');
    setTimeout(() => response.end(', now'), replyEndMs * 3);
  };
  expect(await read()).toMatchObject({ text: 'not yet, now' });
});
