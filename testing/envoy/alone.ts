/** Envoy without any other part, for what it decides by itself. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type EnvoySettings, writeEnvoyConfig } from '@gw/envoy/render';
import { envoyBinary } from '@gw/stack/binaries';
import { startChild } from '@gw/stack/child';
import { freePorts } from '@gw/stack/ports';
import { testSettings } from './settings.ts';

export interface EnvoyAlone {
  readonly port: number;
  /** Its log lines, errors and worse. */
  log(): string;
  stop(): Promise<void>;
}

/** Nobody answers for clusters and listeners: it serves when it has given them up, one after the other. */
const noControlPlane = { '"initial_fetch_timeout":"3s"': '"initial_fetch_timeout":"0.1s"' };

/** `replace`: texts of the configuration that the test cannot wait for, each of which has to be there. `env`: Envoy's own, whole. */
export async function startEnvoyAlone(
  settings: Partial<EnvoySettings> = {},
  replace: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<EnvoyAlone> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-envoy-'));
  const [port = 0] = await freePorts(1);
  const [file, logFile] = [join(dir, 'envoy.json'), join(dir, 'envoy.log')];
  writeEnvoyConfig(testSettings(dir, { publicPort: port, ...settings }), file);
  const config = Object.entries({ ...noControlPlane, ...replace }).reduce(
    (text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`The configuration has no "${from}".`);
      return text.replaceAll(from, to);
    },
    readFileSync(file, 'utf8'),
  );
  writeFileSync(file, config);
  const args = ['-c', file, '--disable-hot-restart', '--concurrency', '1', '--log-level', 'error'];
  const envoy = await startChild({
    command: await envoyBinary(() => undefined),
    args,
    env,
    logFile,
  });
  const stop = async () => {
    await envoy.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  const scheme = settings.tls ? 'https' : 'http';
  // A refusal is an answer as well, and so is a certificate that nobody vouches for, or the end of a connection from elsewhere.
  const answers = () =>
    fetch(`${scheme}://127.0.0.1:${port}/healthz`).then(
      () => true,
      ({ cause }) => /CERT|SIGNED|ECONNRESET|UND_ERR_SOCKET/.test(String(cause?.code)),
    );
  while (!(await answers())) {
    if (!envoy.alive()) throw new Error(readFileSync(logFile, 'utf8').slice(-1000));
    await delay(50);
  }
  return { port, log: () => readFileSync(logFile, 'utf8'), stop };
}
