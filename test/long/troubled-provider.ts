/** Providers in three regions, each called in its own way, which can be broken one by one and note who calls them. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { answerChat } from '../chat-reply.ts';

/**
 * `slow`: no header of a reply for longer than the gateway waits. `cut`: the connection breaks before a reply. `garbled`: the
 * reply is no HTTP.
 */
export const troubles = ['killed', 'slow', '429', '500', '503', 'cut', 'garbled'] as const;
export type Trouble = (typeof troubles)[number];

export interface TroubledProvider {
  readonly region: string;
  readonly origin: string;
  /** Faults of the calls that came: another's credential, model name, path or host. */
  readonly wrong: string[];
  /** How many calls came. */
  calls: number;
  /** Null: whole again. */
  trouble(next: Trouble | null): Promise<void>;
  stop(): Promise<void>;
}

export const credentialOf = (region: string): string => `secret-of-${region}`;
export const nameOf = (region: string): string => `model-in-${region}`;
export const pathOf = (region: string): string => `at/${region}/{endpoint}`;

export async function startTroubledProvider(region: string): Promise<TroubledProvider> {
  let trouble: Trouble | null = null;
  let server: Server | null = null;
  let port = 0;
  const wrong: string[] = [];
  const provider = { region, wrong, calls: 0, origin: '', trouble: break_, stop };

  function note(request: IncomingMessage, text: string): void {
    provider.calls += 1;
    const { headers, url } = request;
    const body = JSON.parse(text);
    if (headers.authorization !== `Bearer ${credentialOf(region)}`) wrong.push(`credential ${headers.authorization}`);
    if (body.model !== nameOf(region)) wrong.push(`model ${body.model}`);
    if (url !== `/at/${region}/chat/completions`) wrong.push(`path ${url}`);
    if (headers.host !== `127.0.0.1:${port}`) wrong.push(`host ${headers.host}`);
  }

  function answer(request: IncomingMessage, response: ServerResponse, text: string): void {
    note(request, text);
    const body = JSON.parse(text);
    const pinnedTo = /^pinned to (.*)$/.exec(body.messages[0].content)?.[1];
    if (pinnedTo !== undefined && pinnedTo !== region) wrong.push(`a call that is pinned to ${pinnedTo}`);
    if (trouble === 'slow') return;
    if (trouble === 'cut') return void (request.socket as Socket).destroy();
    if (trouble === 'garbled') return void request.socket.end('this is no reply\r\n\r\n');
    if (trouble !== null) return void response.writeHead(Number(trouble)).end('{"error":{"message":"broken"}}');
    answerChat(response, body, region);
  }

  const listen = (request: IncomingMessage, response: ServerResponse): void => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    request.on('end', () => answer(request, response, text)).on('error', () => undefined);
  };
  async function start(): Promise<void> {
    const made = createServer(listen);
    await new Promise<void>((resolve) => made.listen(port, '127.0.0.1', resolve));
    port = (made.address() as AddressInfo).port;
    server = made;
  }
  async function stop(): Promise<void> {
    const open = server;
    server = null;
    if (open === null) return;
    open.closeAllConnections();
    await new Promise((resolve) => open.close(resolve));
  }
  async function break_(next: Trouble | null): Promise<void> {
    trouble = next;
    if (next === 'killed') await stop();
    else if (server === null) await start();
    // Calls that it left waiting.
    else if (next === null) server.closeAllConnections();
  }
  await start();
  provider.origin = `http://127.0.0.1:${port}`;
  return provider;
}
