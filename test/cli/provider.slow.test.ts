/** `./gw up --provider`: the shared stack's simulator plays a provider that somebody else runs. */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { freePorts } from '@gw/stack/ports';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { stack } from '../shared-stack.ts';
import { OwnGateway } from './gateway-of-its-own.ts';

const simulator = stack.simulatorUrl;
const providerKey = 'sk-provider-key-of-this-test';
let gateway: OwnGateway;
let before = 0;
/** The requests that this gateway sent to the provider, without those that others sent before. */
async function asked(): Promise<readonly string[]> {
  const reply = await fetch(`${simulator}/sim/requests?limit=4096`);
  const { requests } = (await reply.json()) as { requests: { sequence: number; method: string; path: string }[] };
  return requests.filter(({ sequence }) => sequence > before).map(({ method, path }) => `${method} ${path}`);
}

beforeAll(async () => {
  const count = (await fetch(`${simulator}/sim/requests?limit=1`)).json() as Promise<{
    requests: { sequence: number }[];
  }>;
  before = (await count).requests.at(-1)?.sequence ?? -1;
  gateway = new OwnGateway({ GW_PROVIDER_KEY: providerKey });
  const ports = ['--port', '0', '--control-port', '0'];
  const { code, err } = await gateway.gw('up', '--detach', ...ports, '--provider', `${simulator}/v1`);
  expect(code, err).toBe(0);
});
afterAll(() => gateway.dispose());

test('the start asks the provider for its models and for nothing else, and nothing is in a ledger', async () => {
  expect(await asked()).toEqual(['GET /v1/models']);
  const { publicUrl, keys } = gateway.run();
  const list = await fetch(`${publicUrl}/v1/gw/receipts`, { headers: { authorization: `Bearer ${keys.enterprise}` } });
  expect(await list.json()).toMatchObject({ data: [] });
});

test("a call reaches the provider with the provider's key, and never with the client's", async () => {
  const { publicUrl, keys, model, pids } = gateway.run();
  expect(pids.simulator).toBeUndefined();
  const content = 'Which key did you see?';
  const reply = await fetch(`${publicUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.audit}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
  });
  expect(reply.status).toBe(200);
  const body = await reply.json();
  expect(body).toMatchObject({ gw: { object: 'gw.receipt', provider: 'custom' } });
  // Nobody has said where it computes: the world's average stands for it, and the receipt says what that is.
  expect(body).toMatchObject({
    gw: {
      tier: 'proxy',
      grid_zone: 'WOR',
      grid_temporal_match: 'annual_fallback',
      grid_intensity_source: expect.stringMatching(/^ember-2025 \(world, /),
    },
  });
  const seen = JSON.stringify(await (await fetch(`${simulator}/sim/requests?limit=4096`)).json());
  expect(seen).toContain('/v1/chat/completions');
  expect(seen).not.toContain(keys.audit);
});

test('the key of the provider is in no argument and in no file', () => {
  if (process.platform === 'linux') {
    for (const pid of Object.values(gateway.run().pids)) {
      expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(providerKey);
    }
  }
  const logs = join(gateway.dir, 'logs');
  const files = ['envoy.json', 'run.json', ...readdirSync(logs).map((name) => join('logs', name))];
  for (const name of files) expect(readFileSync(join(gateway.dir, name), 'utf8'), name).not.toContain(providerKey);
});

test('a provider that does not answer is one line that says what to look at', async () => {
  const other = new OwnGateway({ GW_PROVIDER_KEY: providerKey });
  const { code, err } = await other.gw(
    'up',
    '--port',
    '0',
    '--control-port',
    '0',
    '--provider',
    'http://127.0.0.1:9/v1',
  );
  expect(code).toBe(1);
  const complaints = err.split('\n').filter((line) => line.startsWith('gw: '));
  expect(complaints).toHaveLength(1);
  expect(complaints[0]).toMatch(
    /^gw: The provider's models could not be read from http:\/\/127\.0\.0\.1:9\/v1\/models: nothing is listening at this address\.$/,
  );
  await other.dispose();
});

test('the gateway is not its own provider: the start says so', async () => {
  const other = new OwnGateway();
  onTestFinished(() => other.dispose());
  const [port] = await freePorts(1);
  const itself = `http://localhost:${port}/v1`;
  const { code, err } = await other.gw('up', '--port', String(port), '--control-port', '0', '--provider', itself);
  expect(code).toBe(1);
  // Before it is asked, or, where its name was not found in time, when it is.
  expect(err).toMatch(/^gw: .*(never calls|is not allowed) \(the gateway's own public port: /m);
});

test('a provider that is away later does not keep the gateway from starting: its models are those of the last start', async () => {
  const provider = createServer((_request, response) => response.end('{"data":[{"id":"own-model"}]}')).listen(
    0,
    '127.0.0.1',
  );
  await once(provider, 'listening');
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  const other = new OwnGateway();
  onTestFinished(() => other.dispose());
  const start = () => other.gw('up', '--detach', '--port', '0', '--control-port', '0', '--provider', url);
  expect((await start()).code).toBe(0);
  await other.gw('down');
  provider.close();
  const { code, err } = await start();
  expect(code, err).toBe(0);
  expect(err).toContain(
    `could not be read from ${url}/models: nothing is listening at this address. The models found at the last start are served.`,
  );
  expect(other.run().model).toBe('own-model');
}, 180_000);
