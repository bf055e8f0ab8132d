/** Runs with the tests of the stores, because it starts a program as they do: a real Envoy. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask, readJson, startSimulator } from '@gw/simulator/internals/start-for-test';
import { envoyBinary } from '@gw/stack/binaries';
import { freePorts } from '@gw/stack/ports';
import { expect, test } from 'vitest';
import { startPlainEnvoy } from './plain-envoy.ts';

test('plain Envoy passes calls to the provider, and one that cannot start tells why', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-plain-envoy-'));
  const simulator = await startSimulator();
  const [port = 0, otherPort = 0] = await freePorts(2);
  const options = {
    binary: await envoyBinary(() => undefined),
    dir,
    port,
    upstreamPort: Number(new URL(simulator.url).port),
  };
  const envoy = await startPlainEnvoy(options);
  try {
    expect(await readJson(ask(`http://127.0.0.1:${port}`))).toMatchObject({ object: 'chat.completion' });
    await expect(startPlainEnvoy({ ...options, port: otherPort, binary: process.execPath })).rejects.toThrow(
      /did not start: .*SyntaxError/s,
    );
  } finally {
    await envoy.stop();
    await simulator.stop();
    rmSync(dir, { recursive: true, force: true });
  }
  expect(envoy.alive()).toBe(false);
});
