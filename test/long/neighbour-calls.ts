/** Tiny calls of a customer, from a thread of its own, so that what another one sends costs them no time before they leave. */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

export interface TinyCall {
  readonly ms: number;
  readonly status: number;
  readonly isDegraded: boolean;
}

export interface TinyCalls {
  /** Takes the calls that have ended since the last time. */
  take(): Promise<readonly TinyCall[]>;
  stop(): Promise<void>;
}

const program = `
const { Agent, request } = require('node:http');
const { parentPort, workerData: { body, key, url } } = require('node:worker_threads');
const agent = new Agent({ keepAlive: true });
let calls = [];
const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json', 'content-length': body.length };
function call() {
  const start = performance.now();
  const end = (status, text) => {
    calls.push({ ms: performance.now() - start, status, isDegraded: text.includes('"tier":"degraded"') });
    setTimeout(call, 10);
  };
  const sent = request(url, { agent, headers, method: 'POST' }, (reply) => {
    let text = '';
    reply.setEncoding('utf8').on('data', (part) => { text += part; }).on('close', () => end(reply.complete ? reply.statusCode : 0, text));
  });
  sent.on('error', () => end(0, ''));
  sent.end(body);
}
for (let caller = 0; caller < 3; caller++) call();
parentPort.on('message', () => { parentPort.postMessage(calls); calls = []; });
`;

export async function startTinyCalls(publicUrl: string, key: string): Promise<TinyCalls> {
  const url = `${publicUrl}/v1/chat/completions`;
  const body = JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 });
  const worker = new Worker(program, { eval: true, workerData: { body, key, url } });
  const take = async (): Promise<readonly TinyCall[]> => {
    const told = once(worker, 'message');
    worker.postMessage('take');
    const [calls] = await told;
    return calls;
  };
  await delay(1500);
  await take();
  return { take, stop: async () => void (await worker.terminate()) };
}
