/**
 * A provider that means harm. What it answers is up to the words of the prompt: a reply by name, or a number from which one
 * is made at random, always the same.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type HostileReply, namedReplies, randomReply } from './replies.ts';

export interface HostileProvider {
  /** With `/v1`. */
  readonly url: string;
  /** Replies that it is still giving, or holding open. */
  open(): number;
  close(): Promise<void>;
}

export async function startHostileProvider(): Promise<HostileProvider> {
  let open = 0;
  const server = createServer((request, response) => {
    open += 1;
    response.once('close', () => {
      open -= 1;
    });
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    open: () => open,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const bytes of request) body += bytes;
  const { messages, stream } = JSON.parse(body) as { messages: { content: string }[]; stream?: boolean };
  const words = messages.at(-1)?.content ?? '';
  const reply = namedReplies[words] ?? randomReply(Number(words), stream === true);
  await give(reply, response);
}

async function give({ status, headers, pieces, end }: HostileReply, response: ServerResponse): Promise<void> {
  response.writeHead(status, headers);
  for (const piece of pieces) {
    if (response.destroyed) return;
    response.write(piece);
    // So that pieces arrive as such, now and then.
    if (pieces.length < 50) await delay(1);
  }
  if (end === 'cut') response.destroy();
  else if (end === 'whole') response.end();
}
