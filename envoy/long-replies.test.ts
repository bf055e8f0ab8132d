/** Replies that take as long as their clients read: a running Envoy, and a control plane that answers as the test says. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { serveEnvoy } from '@gw/grpc/server';
import { envoyBinary } from '@gw/stack/binaries';
import { startChild } from '@gw/stack/child';
import { freePorts } from '@gw/stack/ports';
import { testSettings } from '@gw/testing/envoy/settings';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { writeEnvoyConfig } from './render.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-long-replies-'));
const token = 'a-token-of-the-tests-that-is-long-enough';
const [extAuthz, controlPlane] = ['a', 'c'].map((name) => `unix:${join(dir, `${name}.sock`)}`) as [string, string];
const settings = testSettings(dir, { extAuthz: [extAuthz], controlPlane: [controlPlane] });
const stops: (() => unknown)[] = [];
let control: Server;
/** The control plane serves a pack in one of these ways. */
let answer: (reply: ServerResponse) => void;

beforeAll(async () => {
  const service = await serveEnvoy(
    { listen: extAuthz, internalToken: token },
    {
      check: async () => ({ status: { code: 0 }, okResponse: {} }),
      shouldRateLimit: async () => ({ overallCode: 1 }),
      isServing: () => true,
    },
    () => undefined,
  );
  stops.push(() => service.close(100));
  control = createServer((incoming, reply) => {
    incoming.resume();
    if (incoming.url?.includes('evidence-pack')) return answer(reply);
    reply.setHeader('content-type', 'application/json');
    reply.end(JSON.stringify({ version_info: '1', resources: [] }));
  });
  await new Promise<void>((resolve) => control.listen(controlPlane.replace('unix:', ''), resolve));
  stops.push(() => {
    control.close();
    control.closeAllConnections();
  });
}, 60_000);
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
  rmSync(dir, { recursive: true, force: true });
});

/** `replace`: texts of the configuration that the test cannot wait for, each of which has to be there. Resolves with its port. */
async function start(name: string, replace: Readonly<Record<string, string>> = {}): Promise<number> {
  const [port = 0] = await freePorts(1);
  const file = join(dir, `${name}.json`);
  writeEnvoyConfig({ ...settings, publicPort: port, adminSocket: join(dir, `${name}.admin`) }, file);
  const text = Object.entries(replace).reduce(
    (config, [from, to]) => {
      // An assertion would print all of the configuration.
      if (!config.includes(from)) throw new Error(`The configuration has no ${from}.`);
      return config.replaceAll(from, to);
    },
    readFileSync(file, 'utf8'),
  );
  writeFileSync(file, text);
  const envoy = await startChild({
    command: await envoyBinary(() => undefined),
    args: ['-c', file, '--disable-hot-restart', '--concurrency', '1', '--log-level', 'error'],
    env: { GW_INTERNAL_TOKEN: token },
    logFile: join(dir, `${name}.log`),
  });
  stops.push(() => envoy.stop());
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/v1/models`).then(
      ({ status }) => status === 200,
      () => false,
    );
  await vi.waitUntil(answers, { timeout: 20_000, interval: 50 });
  return port;
}

type LongRequest = readonly [method: string, path: string, headers: Record<string, string>];
const toRead: LongRequest = ['GET', '/v1/gw/evidence-pack/pack_1', {}];
const toMake: LongRequest = ['POST', '/v1/gw/evidence-pack', {}];
const asked: LongRequest[] = [toRead, toMake, ['POST', '/v1/gw/evidence-pack', { 'idempotency-key': 'once' }]];
function ask(port: number, [method, path, headers]: LongRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', method, path, headers, agent: false }, resolve);
    sent.once('error', reject);
    sent.end(method === 'POST' ? '{}' : undefined);
  });
}

/** More than all sockets and buffers on its way hold. */
const body = Buffer.alloc(48 * 1024 * 1024, 'x');
const sendAll = (reply: ServerResponse) => reply.writeHead(200, { 'content-length': body.length }).end(body);

test('whoever takes longer than ten seconds to read a pack gets all of it', async () => {
  const port = await start('slow');
  answer = sendAll;
  const read = async (what: LongRequest) => {
    const begin = Date.now();
    let bytes = 0;
    for await (const chunk of await ask(port, what)) {
      bytes += chunk.length;
      // As slow as it has to be, and then no slower: what was cut comes to its end before.
      if (Date.now() - begin < 12_000) await delay(40);
    }
    expect(Date.now() - begin).toBeGreaterThan(11_000);
    return bytes;
  };
  expect(await Promise.all([read(toRead), read(toMake)])).toEqual([body.length, body.length]);
});

describe('with shorter times', () => {
  const short = {
    '"idle_timeout":"120s"': '"idle_timeout":"1s"',
    '"per_try_timeout":"10s"': '"per_try_timeout":"0.5s"',
    '"per_try_timeout":"32s"': '"per_try_timeout":"0.6s"',
  };
  let port: number;
  beforeAll(async () => {
    port = await start('short', short);
  }, 60_000);

  test.each(asked)(
    '%s %s %j: a client that reads nothing is ended, and what the control plane held for it is free',
    async (...what) => {
      const over = new Promise<boolean>((resolve) => {
        answer = (reply) => {
          reply.once('close', () => resolve(reply.writableFinished));
          sendAll(reply);
        };
      });
      const reply = await ask(port, what);
      reply.pause();
      expect(await over).toBe(false);
      reply.destroy();
    },
  );

  test.each(asked)(
    '%s %s %j: a control plane that does not begin to answer is a 503 of a read, and a 500 of what it may have begun',
    async (...what) => {
      answer = () => {};
      const reply = await ask(port, what);
      const { error } = JSON.parse(Buffer.concat(await reply.toArray()).toString());
      const isRead = what[0] === 'GET';
      expect([reply.statusCode, error.code]).toEqual(isRead ? [503, 'overloaded'] : [500, 'internal_error']);
      expect(reply.headers['retry-after']).toBe(isRead ? '1' : undefined);
    },
  );
});
