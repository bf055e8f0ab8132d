/**
 * A stand-in for the gateway that gives one client the same reply again and again, and counts how often it is asked.
 *
 * It knows nothing by itself: its replies are those that the gateway gave before.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Reply } from '../input/ask.ts';

export interface StandIn {
  /** The address of an API that answers only with this code. */
  baseUrl(client: string, code: string): string;
  /** How many requests of that client have had this answer. */
  attempts(client: string, code: string): number;
  close(): Promise<void>;
}

/** Headers of the connection, not of the answer. */
const hopByHop = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date']);

export async function startStandIn(
  replies: ReadonlyMap<string, Pick<Reply, 'status' | 'headers' | 'text'>>,
): Promise<StandIn> {
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    request.resume();
    const [, client = '', code = ''] = (request.url ?? '').split('/');
    const reply = replies.get(code);
    if (reply === undefined) throw new Error(`There is no reply ${code}.`);
    const who = `${client}/${code}`;
    counts.set(who, (counts.get(who) ?? 0) + 1);
    const headers = Object.entries(reply.headers).filter(([name]) => !hopByHop.has(name));
    response.writeHead(reply.status, Object.fromEntries(headers));
    response.end(reply.text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: (client, code) => `http://127.0.0.1:${port}/${client}/${code}/v1`,
    attempts: (client, code) => counts.get(`${client}/${code}`) ?? 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
