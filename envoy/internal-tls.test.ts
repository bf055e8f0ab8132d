/** Between machines: Envoy and a service show each other certificates of a private authority, which are exchanged while calls go on. */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:tls';
import { type Implementation, implementations, serveEnvoy } from '@gw/grpc/server';
import type { RpcServer } from '@gw/grpc/service';
import { type Certificates, openCertificates } from '@gw/service/certificates';
import { openTroubles } from '@gw/service/health/troubles';
import { openLog } from '@gw/service/log';
import { envoyBinary } from '@gw/stack/binaries';
import { type Child, startChild } from '@gw/stack/child';
import { freePorts } from '@gw/stack/ports';
import { makeCertificate, type TestCertificate } from '@gw/testing/envoy/certificate';
import { testSettings } from '@gw/testing/envoy/settings';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { writeEnvoyConfig } from './render.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-mtls-'));
const settings = testSettings(dir);
const token = 'a-token-of-the-tests-that-is-long-enough';
const old = makeCertificate('old authority');
const next = makeCertificate('next authority');
/** Each machine has files of its own, and gets new ones at a time of its own. */
const machines = ['envoy', ...implementations] as const;
type Machine = (typeof machines)[number];
const filesOf = (machine: Machine) => ({
  certFile: join(dir, machine, 'tls.crt'),
  keyFile: join(dir, machine, 'tls.key'),
  caFile: join(dir, machine, 'ca.crt'),
});

/** One file after the other, each by a move, as a certificate manager does it. */
async function install(machine: Machine, { certificate, key }: TestCertificate, ...trusted: TestCertificate[]) {
  const { certFile, keyFile, caFile } = filesOf(machine);
  const authorities = trusted.map((each) => each.certificate).join('');
  const contents = [
    [keyFile, key],
    [certFile, certificate],
    [caFile, authorities],
  ] as const;
  for (const [file, content] of contents) {
    writeFileSync(`${file}.new`, content);
    renameSync(`${file}.new`, file);
    await delay(100);
  }
}

let logged: Record<string, string>[] = [];
const log = openLog('test', 'info', { write: (line: string) => void logged.push(JSON.parse(line)) });
const services = new Map<Implementation, { readonly server: RpcServer; readonly certificates: Certificates }>();
let envoy: Child;
let port = 0;

async function serve(grpcServer: Implementation, listen = '127.0.0.1:0'): Promise<void> {
  const certificates = await openCertificates({
    internal: filesOf(grpcServer),
    log,
    troubles: openTroubles(log, () => performance.now()),
    everyMs: 50,
  });
  const denied = { status: { code: 16 }, deniedResponse: { status: { code: 401 as const }, body: grpcServer } };
  const server = await serveEnvoy(
    { listen, internalToken: token, certificates: certificates.internal, grpcServer },
    { check: async () => denied },
    () => undefined,
  );
  services.set(grpcServer, { server, certificates });
}

const portOf = (name: Implementation) => Number(services.get(name)?.server.port);

async function startAgain(name: Implementation): Promise<void> {
  const listen = `127.0.0.1:${portOf(name)}`;
  const before = services.get(name);
  await before?.server.leave();
  await before?.server.close(5000);
  before?.certificates.stop();
  await serve(name, listen);
}

async function startEnvoy(): Promise<void> {
  const command = await envoyBinary(() => undefined);
  const args = ['-c', join(dir, 'envoy.json'), '--disable-hot-restart', '--concurrency', '1', '--log-level', 'error'];
  envoy = await startChild({ command, args, env: { GW_INTERNAL_TOKEN: token }, logFile: join(dir, 'envoy.log') });
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await vi.waitUntil(answers, { timeout: 20_000, interval: 50 });
}

beforeAll(async () => {
  for (const machine of machines) {
    mkdirSync(join(dir, machine));
    await install(machine, makeCertificate(machine, { by: old }), old);
  }
  for (const name of implementations) await serve(name);
  [port = 0] = await freePorts(1);
  const extAuthz = implementations.map((name) => `127.0.0.1:${portOf(name)}`);
  const changes = { publicPort: port, extAuthz, internalTls: filesOf('envoy') };
  const configFile = join(dir, 'envoy.json');
  writeEnvoyConfig({ ...settings, ...changes }, configFile);
  // Nobody answers for clusters and listeners.
  const config = readFileSync(configFile, 'utf8');
  writeFileSync(configFile, config.replaceAll('"initial_fetch_timeout":"3s"', '"initial_fetch_timeout":"0.1s"'));
  await startEnvoy();
}, 60_000);

afterAll(async () => {
  await envoy?.stop();
  for (const { certificates, server } of services.values()) {
    certificates.stop();
    await server.close(100);
  }
  rmSync(dir, { recursive: true, force: true });
});

/** Resolves to the name of the service that has answered, or to what else came. */
const ask = (): Promise<string> =>
  fetch(`http://127.0.0.1:${port}/v1/models`).then(async (reply) => {
    const body = await reply.text();
    return reply.status === 401 ? body : `${reply.status} ${body}`;
  });

const untilAllAnswer = () =>
  expect
    .poll(async () => new Set(await Promise.all(Array.from({ length: 8 }, ask))), { timeout: 20_000 })
    .toEqual(new Set(implementations));

it('Envoy asks each service over TLS, with its certificate', untilAllAnswer);

/** Resolves to the serial number of the certificate that the service shows, or null if it cuts the client off before it can say anything. */
const shownTo = (name: Implementation, client: { readonly cert?: string; readonly key?: string }) =>
  new Promise<string | null>((resolve) => {
    const [host, port, ALPNProtocols] = ['127.0.0.1', portOf(name), ['h2']];
    const socket = connect({ host, port, rejectUnauthorized: false, ALPNProtocols, ...client });
    // With TLS 1.3 the refusal comes after the client believes the handshake to be over.
    socket.on('secureConnect', () => socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'));
    socket.on('data', () => {
      resolve(socket.getPeerCertificate().serialNumber.toLowerCase());
      socket.destroy();
    });
    socket.on('error', () => resolve(null));
    socket.on('close', () => resolve(null));
  });

it.each(implementations)('a client without a certificate of the authority is cut off (%s)', async (name) => {
  const { certificate: cert, key } = makeCertificate('stranger');
  for (const shown of [{}, { cert, key }]) expect(await shownTo(name, shown)).toBeNull();
});

/** Envoy waits 0.4 s for a connection, in which a handshake takes several turns of the thread. */
const standstillMs = 100;

/**
 * Calls until it is stopped, which resolves to the answers of no service. The services share its thread: what was called while a busy
 * machine gave it no time is not counted.
 */
function startLoad(): () => Promise<string[]> {
  let goesOn = true;
  let stoodStillAt = Number.NEGATIVE_INFINITY;
  const watch = async () => {
    for (let at = performance.now(); goesOn; at = performance.now()) {
      await delay(20);
      if (performance.now() - at > standstillMs) stoodStillAt = performance.now();
    }
  };
  const others: string[] = [];
  const call = async () => {
    while (goesOn) {
      const begunAt = performance.now();
      const answer = await ask().catch(String);
      // Until the watch has had its turn.
      await delay(50);
      if (stoodStillAt < begunAt && !implementations.some((name) => name === answer)) others.push(answer);
    }
  };
  const calls = [watch(), call(), call(), call(), call()];
  return async () => {
    goesOn = false;
    await Promise.all(calls);
    return others;
  };
}

const certificatesOfEnvoy = async (): Promise<string> => {
  const asked = request({ socketPath: settings.adminSocket, path: '/certs' }).end();
  const reply = await new Promise<Parameters<typeof text>[0]>((resolve) => asked.once('response', resolve));
  return text(reply);
};

it('exchanges certificates and then their authority, on both sides one after the other, without a lost call', async () => {
  const stop = startLoad();
  const installOnAll = async (by: TestCertificate, ...trusted: TestCertificate[]) => {
    const serials: string[] = [];
    for (const machine of machines) {
      const made = makeCertificate(machine, { by });
      await install(machine, made, ...trusted);
      serials.push(made.serial);
    }
    const [ofEnvoy, ...ofServices] = serials;
    // Whatever is shown and trusted has to be taken up before the next exchange builds on it.
    for (const serial of [ofEnvoy, ...trusted.map((each) => each.serial)])
      await expect.poll(certificatesOfEnvoy).toContain(serial);
    for (const authority of trusted) {
      const { certificate: cert, key } = makeCertificate('client', { by: authority });
      const shown = () => Promise.all(implementations.map((name) => shownTo(name, { cert, key })));
      await expect.poll(shown).toEqual(ofServices);
    }
  };
  await installOnAll(old, old);
  await installOnAll(old, old, next);
  await installOnAll(next, old, next);
  await installOnAll(next, next);
  // From now on new connections are needed.
  for (const name of implementations) {
    await startAgain(name);
    await untilAllAnswer();
  }
  const lost = await stop();
  // Envoy's own words of why are of more use than its answer.
  const told = () =>
    readFileSync(settings.accessLog, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"status":503'));
  expect(lost, lost.length > 0 ? told().join('\n') : '').toEqual([]);
});

it('says in the log of a service that Envoy refuses its certificate', async () => {
  logged = [];
  await install('own', makeCertificate('own', { by: makeCertificate('stranger') }), next);
  await expect.poll(() => logged.map(({ msg }) => msg)).toContain('took up new internal certificates');
  await startAgain('own');
  const alert = {
    reason: 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
    msg: expect.stringContaining('GW_INTERNAL_TLS_CA_FILE there'),
  };
  await expect.poll(() => logged, { timeout: 20_000 }).toContainEqual(expect.objectContaining(alert));
});
