/** A real Envoy with a Lua filter alone: that of the last resort, with metadata as a sidecar leaves it that then died, or another one. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttp2Server, type Http2ServerRequest } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { luaFilter } from '@gw/envoy/internals/attempt-filters';
import { replyEndFilter } from '@gw/envoy/internals/reply-end';
import { degradedLua } from '@gw/envoy/render';
import type { ApiShape } from '@gw/receipt-sidecar/internals/api/port/shape';
import { streamFields } from '@gw/receipt-sidecar/internals/call/handover';
import { envoyBinary, replyEndModule } from '@gw/stack/binaries';
import { inCheckout } from '@gw/stack/checkout';
import { startChild } from '@gw/stack/child';
import { freePorts } from '@gw/stack/ports';
import { vi } from 'vitest';

export const errors = { upstreamError: '{"error":{}}', receiptError: '{"error":"receipt"}' };
export const receiptId = 'rcpt_01a1fd70-f1c0-7000-8000-000000000001';
/** The degraded receipt, as far as the filter reads it. */
export const block = `{"id":"${receiptId}","model":"asked","tier":"degraded"}`;

/** The sidecar has decided these. */
export const shownLimits = { 'x-ratelimit-limit-tokens': '600', 'x-ratelimit-remaining-tokens-day': '70' };

/** The provider's body, piece by piece. */
export interface Sent {
  readonly pieces: readonly (string | Buffer)[];
  readonly type?: string;
  readonly status?: number;
  /** As Envoy answers by itself: no deployment, and words for the sidecar. */
  readonly isOwn?: boolean;
  /** Whether the provider leaves the reply open behind its last piece. */
  readonly isLeftOpen?: boolean;
}

export interface LuaEnvoy {
  readonly url: string;
  /** Sets what the provider answers from now on. */
  answer(sent: Sent): void;
  /** Sets it, and asks once. */
  ask(
    pieces: Sent['pieces'],
    type?: string,
    status?: number,
  ): Promise<{ status: number; text: string; headers: Headers }>;
  stop(): Promise<void>;
}

const typed = (type: string, fields: object = {}) => ({ '@type': `type.googleapis.com/${type}`, ...fields });
const loopback = (at: number) => ({ socket_address: { address: '127.0.0.1', port_value: at } });

/** Whether the provider speaks HTTP/2, where the last bytes can say that they are the last. */
export interface ProviderOptions {
  readonly http2?: boolean;
}

/** The filters of a gateway whose sidecar has died after its metadata. */
async function lastResort(api: ApiShape): Promise<readonly object[]> {
  const metadata = { receipt_id: receiptId, degraded: block, ...shownLimits, ...streamFields(api.name) };
  return [
    {
      name: 'envoy.filters.http.set_metadata',
      typed_config: typed('envoy.extensions.filters.http.set_metadata.v3.Config', {
        metadata: [{ metadata_namespace: 'gw', value: metadata }],
      }),
    },
    replyEndFilter(replyEndModule(await envoyBinary(() => undefined))),
    luaFilter(degradedLua(errors, inCheckout('envoy'))),
  ];
}

function config(port: number, upstreamPort: number, filters: readonly object[], http2: boolean): object {
  const manager = typed('envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager', {
    stat_prefix: 'x',
    route_config: {
      virtual_hosts: [
        { name: 'x', domains: ['*'], routes: [{ match: { prefix: '/' }, route: { cluster: 'provider' } }] },
      ],
    },
    http_filters: [
      ...filters,
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
          ...(http2 && {
            typed_extension_protocol_options: {
              'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': typed(
                'envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
                { explicit_http_config: { http2_protocol_options: {} } },
              ),
            },
          }),
          load_assignment: {
            cluster_name: 'provider',
            endpoints: [{ lb_endpoints: [{ endpoint: { address: loopback(upstreamPort) } }] }],
          },
        },
      ],
    },
  };
}

/** Listens with a provider that sends what `sent` says at that moment. */
async function startProvider(sent: () => Sent, { http2 = false }: ProviderOptions) {
  const answer = async (request: IncomingMessage | Http2ServerRequest, response: ServerResponse) => {
    request.resume();
    const { isLeftOpen = false, isOwn = false, pieces, type = 'text/event-stream', status = 200 } = sent();
    response.writeHead(status, {
      'content-type': type,
      ...(isOwn ? { 'x-gw-unhealthy': '1', 'x-gw-request-us': '7' } : { 'x-gw-deployment': 'd' }),
      'set-cookie': 'a=b',
      'x-gw-receipt-id': 'forged',
      'cache-control': 'public, max-age=99999',
    });
    for (const piece of http2 ? pieces.slice(0, -1) : pieces) {
      response.write(piece);
      // Long enough apart to arrive as pieces.
      await delay(15);
    }
    if (!isLeftOpen) response.end(http2 ? pieces.at(-1) : undefined);
  };
  const provider = http2
    ? createHttp2Server((request, response) => answer(request, response as unknown as ServerResponse))
    : createServer(answer);
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  return { port: (provider.address() as AddressInfo).port, stop: () => provider.close() };
}

export const startLuaEnvoy = async (api: ApiShape, options: ProviderOptions = {}): Promise<LuaEnvoy> =>
  startFilteringEnvoy(await lastResort(api), options);

/** `filters`: in front of the provider. */
export async function startFilteringEnvoy(
  filters: readonly object[],
  options: ProviderOptions = {},
): Promise<LuaEnvoy> {
  let sent: Sent = { pieces: [] };
  const provider = await startProvider(() => sent, options);
  const [port = 0] = await freePorts(1);
  mkdirSync(inCheckout('.gw'), { recursive: true });
  const dir = mkdtempSync(inCheckout('.gw', 'test-lua-'));
  const file = join(dir, 'envoy.json');
  writeFileSync(file, JSON.stringify(config(port, provider.port, filters, options.http2 ?? false)));
  const envoy = await startChild({
    command: await envoyBinary(() => undefined),
    args: ['-c', file, '--disable-hot-restart', '--concurrency', '1', '--log-level', 'error'],
    env: {},
    logFile: join(dir, 'envoy.log'),
  });
  const url = `http://127.0.0.1:${port}`;
  const answers = () =>
    fetch(url).then(
      (reply) => reply.ok,
      () => false,
    );
  await vi.waitUntil(answers, { timeout: 15_000, interval: 50 });
  return {
    url,
    answer: (next) => {
      sent = next;
    },
    ask: async (pieces, type = 'text/event-stream', status = 200) => {
      sent = { pieces, type, status };
      const reply = await fetch(url);
      return { status: reply.status, text: await reply.text(), headers: reply.headers };
    },
    stop: async () => {
      await envoy.stop();
      provider.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
