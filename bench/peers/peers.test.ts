/** Tests the peers' settings without installing the peers; peers.long.test.ts starts them. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { envoyPackage } from '@gw/stack/binaries';
import { afterAll, expect, test, vi } from 'vitest';
import { workersOfEnvoy } from '../load/plain-envoy.ts';
import { envoyAiGateway } from './envoy-ai-gateway.ts';
import { litellm } from './litellm.ts';
import { type Peer, pinnedVersion } from './peer.ts';
import { portkey } from './portkey.ts';
import { peers, startPeers } from './start.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-peers-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const providerUrl = 'http://127.0.0.1:20001/v1';
const place = { installed: '/opt/peer/bin/python', dir, port: 20_002, providerUrl, model: 'sim-small' };

test('each peer has one release, which a file pins exactly', () => {
  for (const peer of peers) expect(peer.version(), peer.name).toMatch(/^\d+\.\d+\.\d+$/);
  expect(() => pinnedVersion('express', 'portkey', 'package.json')).toThrow('does not pin express');
});

test('LiteLLM has the simulator as its only provider, one model, no key, no database and no telemetry', () => {
  const { args, env, files, headers } = litellm.plan(place);
  expect(args.join(' ')).toContain('--host 127.0.0.1 --port 20002 --telemetry False');
  expect(JSON.parse(files['config.yaml'] ?? '')).toEqual({
    model_list: [
      {
        model_name: 'sim-small',
        litellm_params: { model: 'openai/sim-small', api_base: providerUrl, api_key: 'none' },
      },
    ],
    litellm_settings: { telemetry: false, num_retries: 0 },
    general_settings: {
      forward_client_headers_to_llm_api: true,
      dangerously_permit_weak_or_unset_master_key: true,
    },
  });
  expect(env).toMatchObject({ HOME: dir, LITELLM_LOCAL_MODEL_COST_MAP: 'True', HF_HUB_OFFLINE: '1' });
  expect(headers).toEqual({});
});

test('Envoy AI Gateway has one model at the simulator, the Envoy of the gateway, no key and no access log', () => {
  const { args, command, env, files, headers, leaves } = envoyAiGateway.plan({ ...place, installed: '/opt/peer' });
  expect([command, ...args]).toEqual(['/opt/peer/aigw', 'run', 'resources.yaml', '--run-id', '0', '--admin-port', '0']);
  expect(env).toMatchObject({ HOME: dir, AIGW_DATA_HOME: '/opt/peer', OTEL_SDK_DISABLED: 'true' });
  // Where a release of Envoy Gateway writes, whatever HOME says.
  expect(leaves).toEqual([
    join(userInfo().homedir, '.config', 'envoy-gateway'),
    join(userInfo().homedir, '.local', 'share', 'envoy-gateway'),
  ]);
  const resources = (files['resources.yaml'] ?? '').split('\n---\n').map((text) => JSON.parse(text));
  expect(Object.fromEntries(resources.map(({ kind, spec }) => [kind, spec]))).toMatchObject({
    Gateway: { listeners: [{ protocol: 'HTTP', port: 20_002 }] },
    EnvoyProxy: {
      concurrency: workersOfEnvoy(),
      provider: { host: { envoyVersion: envoyPackage.version } },
      telemetry: { accessLog: { disable: true } },
    },
    AIGatewayRoute: { rules: [{ matches: [{ headers: [{ type: 'Exact', value: 'sim-small' }] }] }] },
    Backend: { endpoints: [{ ip: { address: '127.0.0.1', port: 20_001 } }] },
  });
  expect(resources.map(({ kind }) => kind)).not.toContain('BackendSecurityPolicy');
  expect(headers).toEqual({});
});

test('Portkey is told the simulator by each call, listens on loopback alone and hands on what the simulator reads', () => {
  const { args, env, headers } = portkey.plan({ ...place, installed: '/opt/peer' });
  expect(args).toContain('--port=20002');
  expect(args[1]).toMatch(/^file:.*\/bench\/peers\/portkey\/loopback\.mjs$/);
  expect(env).toMatchObject({ NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1' });
  expect(headers).toMatchObject({
    'x-portkey-custom-host': providerUrl,
    'x-portkey-forward-headers': 'x-sim-tokens,x-sim-tokens-per-second,x-sim-delay-ms',
  });
});

test('a program that is not that release of Envoy AI Gateway is refused', async () => {
  const other = join(dir, 'other');
  writeFileSync(other, '#!/bin/sh\necho "Envoy AI Gateway CLI: v1.0.0"\n', { mode: 0o755 });
  vi.stubEnv('GW_AIGW_BIN', other);
  await expect(envoyAiGateway.install(() => undefined)).rejects.toThrow(`has to name aigw 1.1.0; ${other} is 1.0.0.`);
  vi.stubEnv('GW_AIGW_BIN', '/does/not/exist');
  await expect(envoyAiGateway.install(() => undefined)).rejects.toThrow('/does/not/exist is something else.');
  vi.unstubAllEnvs();
});

test('what a peer makes outside of its folder is removed behind it, and what was there is left alone', async () => {
  const made = join(dir, 'home', 'certificates');
  const peer: Peer = {
    ...portkey,
    install: () => Promise.resolve(''),
    plan: ({ port }) => ({
      command: process.execPath,
      args: [
        '-e',
        `require('fs').mkdirSync(${JSON.stringify(made)}, { recursive: true });
        require('http').createServer((request, reply) => reply.end()).listen(${port}, '127.0.0.1')`,
      ],
      env: {},
      files: {},
      headers: {},
      leaves: [made],
    }),
  };
  const signal = new AbortController().signal;
  const options = { dir, providerUrl, model: 'sim-small', simulator: () => ({}), log: () => undefined, signal };
  const first = await startPeers(options, [peer]);
  expect(first.states).toMatchObject([{ notMeasured: null }]);
  expect(existsSync(made)).toBe(true);
  await first.stop();
  expect(existsSync(made)).toBe(false);
  mkdirSync(made);
  const { states, stop } = await startPeers(options, [peer]);
  await stop();
  expect(states).toMatchObject([
    { notMeasured: `It would write into ${made}, which is there. If you do not need it, remove it.` },
  ]);
  expect(existsSync(made)).toBe(true);
});

const notHere: Peer = { ...portkey, install: () => Promise.reject(new Error('There is no npm here.\nMore of it.')) };
const endsAtOnce: Peer = {
  ...litellm,
  install: () => Promise.resolve(''),
  plan: () => ({
    command: process.execPath,
    args: ['-e', 'console.log("Port taken."); process.exit(1)'],
    env: {},
    files: {},
    headers: {},
  }),
};

test('a peer that cannot be installed or started is told in one line with its reason, and is no target', async () => {
  const said: string[] = [];
  const options = {
    dir,
    providerUrl,
    model: 'sim-small',
    simulator: () => ({}),
    log: (line: string) => said.push(line),
  };
  const { states, stop, targets } = await startPeers({ ...options, signal: new AbortController().signal }, [
    notHere,
    endsAtOnce,
  ]);
  await stop();
  expect(targets).toEqual([]);
  expect(states.map(({ notMeasured }) => notMeasured)).toEqual([
    'There is no npm here.',
    'It ended by itself. Port taken.',
  ]);
  expect(said).toContain(`portkey ${portkey.version()} is not measured: There is no npm here.`);
});

test('a run that is stopped meanwhile ends, and does not go on with the next peer', async () => {
  const signal = AbortSignal.abort(new Error('Stopped.'));
  const options = { dir, providerUrl, model: 'sim-small', simulator: () => ({}), log: () => undefined, signal };
  await expect(startPeers(options, [notHere, endsAtOnce])).rejects.toThrow('Stopped.');
});
