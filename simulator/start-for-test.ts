/** A simulator on a free port, for tests of this folder. */
import type { AddressInfo } from 'node:net';
import { createSimulator } from './server.ts';

export interface RunningSimulator {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

export async function startSimulator(): Promise<RunningSimulator> {
  const server = createSimulator(() => performance.now());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export interface Ask {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export const HELLO = [{ role: 'user', content: 'Hello there' }];

/** Asks as fast as possible, for a chat completion unless told otherwise. */
export function ask(url: string, { path = '/v1/chat/completions', headers = {}, body }: Ask = {}): Promise<Response> {
  return fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-sim-tokens-per-second': '0', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body ?? { model: 'sim-small', messages: HELLO }),
  });
}

/** The fields of any reply that tests look at. Absent ones fail the test that reads them. */
export interface SeenReply {
  readonly object: string;
  readonly usage?: object;
  readonly energy: { readonly energy_joules: number; readonly energy_kwh: number };
  readonly error: { readonly type: string; readonly param: string | null; readonly message: string };
  readonly gw: { readonly id: string };
  readonly count: number;
  readonly open: number;
  readonly requests: readonly { readonly outcome: string }[];
}

export const readJson = async (reply: Response | Promise<Response>): Promise<SeenReply> =>
  (await (await reply).json()) as SeenReply;

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
