/** Certificates that a service reads again, over real sockets. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type Server, type TLSSocket } from 'node:tls';
import { dayMs } from '@gw/contract/internal/durations';
import { makeCertificate, type TestCertificate } from '@gw/testing/envoy/certificate';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openTroubles } from '../health/troubles.ts';
import { type Certificates, openCertificates } from './certificates.ts';

const old = makeCertificate('old authority');
const next = makeCertificate('next authority');
const bySigner = (by: TestCertificate, until?: number) => makeCertificate('internal', { by, ...(until && { until }) });

let dir: string;
let lines: { msg: string; reason?: string; more_since?: number }[];
let now: number;
let certificates: Certificates;
let server: Server;
const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
const files = () => ({ certFile: join(dir, 'tls.crt'), keyFile: join(dir, 'tls.key'), caFile: join(dir, 'ca.crt') });

function install({ certificate, key }: TestCertificate, ...authorities: TestCertificate[]): void {
  writeFileSync(files().certFile, certificate);
  writeFileSync(files().keyFile, key);
  writeFileSync(files().caFile, authorities.map((each) => each.certificate).join(''));
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'gw-certificates-'));
  lines = [];
  // Certificates know whole seconds.
  now = Math.floor(Date.now() / 1000) * 1000;
  install(bySigner(old), old);
});
afterEach(() => {
  certificates?.stop();
  server?.close();
  rmSync(dir, { recursive: true, force: true });
});

async function start(of: 'internal' | 'operators' = 'internal'): Promise<void> {
  const { certFile, keyFile } = files();
  certificates = await openCertificates({
    internal: of === 'internal' ? files() : null,
    operators: of === 'operators' ? { certFile, keyFile } : null,
    log,
    troubles: openTroubles(log, () => now),
    now: () => now,
    everyMs: 10,
  });
  const served = certificates[of];
  if (served === null) throw new Error('There are certificates.');
  server = createServer(served.current(), (socket) => socket.on('data', (data) => socket.write(data)));
  served.follow(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}

interface Shown {
  readonly shows?: TestCertificate;
  readonly believes: TestCertificate;
  readonly session?: Buffer;
  readonly onSession?: (session: Buffer) => void;
}

/** Resolves to a connection that was answered, or rejects. */
function connectAs({ shows, believes, session, onSession }: Shown): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo;
    const identity = shows && { cert: shows.certificate, key: shows.key };
    const socket = connect({ host: '127.0.0.1', port, ca: believes.certificate, session, ...identity });
    if (onSession) socket.on('session', onSession);
    socket.once('secureConnect', () => socket.write('hello'));
    socket.once('data', () => resolve(socket));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed')));
  });
}

const talks = async (as: Shown): Promise<boolean> =>
  connectAs(as).then(
    (socket) => {
      socket.destroy();
      return true;
    },
    () => false,
  );

it('rolls from one authority to another while calls go on, and keeps connections that are open', async () => {
  await start();
  const before = { shows: bySigner(old), believes: old };
  const after = { shows: bySigner(next), believes: next };
  const kept = await connectAs(before);
  expect(await talks(after)).toBe(false);

  install(bySigner(old), old, next);
  await expect.poll(() => talks({ shows: bySigner(next), believes: old })).toBe(true);
  expect(await talks(before)).toBe(true);
  install(bySigner(next), old, next);
  await expect.poll(() => talks(after)).toBe(true);
  install(bySigner(next), next);
  await expect.poll(() => talks({ shows: bySigner(old), believes: next })).toBe(false);
  expect(await talks(after)).toBe(true);

  const echoed = new Promise((resolve) => kept.once('data', (data) => resolve(String(data))));
  kept.write('still here');
  expect(await echoed).toBe('still here');
  kept.destroy();
});

it('resumes no session of an authority that was taken away', async () => {
  await start();
  const identity = bySigner(old);
  let session: Buffer = Buffer.alloc(0);
  const before = await connectAs({
    shows: identity,
    believes: old,
    onSession: (each) => {
      session = each;
    },
  });
  before.destroy();
  expect((await connectAs({ shows: identity, believes: old, session })).isSessionReused()).toBe(true);
  install(bySigner(next), next);
  await expect.poll(() => talks({ shows: bySigner(next), believes: next })).toBe(true);
  expect(await talks({ shows: identity, believes: next, session })).toBe(false);
});

it('waits for a key that is not there yet, and says so in the log at once and by health after half a minute', async () => {
  await start();
  const renewed = bySigner(old);
  writeFileSync(files().certFile, renewed.certificate);
  await expect
    .poll(() => lines.map(({ msg }) => msg).join())
    .toMatch(/not in use yet, .*tls\.key is not the key of .*tls\.crt/);
  expect(await talks({ shows: renewed, believes: old })).toBe(true);
  expect(certificates.problems()).toEqual([]);
  now += 31_000;
  expect(certificates.problems()).toEqual([expect.stringMatching(/tls\.key is not the key of .*tls\.crt/)]);
  expect(certificates.details()).toEqual({ certificates: false });
  // A look in the middle of the writing finds an empty file, which is another cause.
  expect(lines.filter(({ msg }) => /not in use yet, .*tls\.key is not the key of/.test(msg))).toHaveLength(1);

  writeFileSync(files().keyFile, renewed.key);
  await expect.poll(() => certificates.problems()).toEqual([]);
  expect(lines.map(({ msg }) => msg)).toContain('took up new internal certificates');
});

it("follows the files of the operators' port, where clients show no certificate", async () => {
  const [first, second] = [makeCertificate('first'), makeCertificate('second')];
  const said = () => lines.map(({ msg }) => msg).filter((msg) => /operators' certificates .* not in use yet/.test(msg));
  install(first);
  await start('operators');
  expect(await talks({ believes: first })).toBe(true);
  expect(await talks({ believes: second })).toBe(false);

  writeFileSync(files().certFile, second.certificate);
  await expect.poll(() => said().join()).toMatch(/tls\.key is not the key of/);
  expect(await talks({ believes: first })).toBe(true);
  writeFileSync(files().keyFile, second.key);
  await expect.poll(() => talks({ believes: second })).toBe(true);
  expect(await talks({ believes: first })).toBe(false);

  rmSync(files().keyFile);
  await expect.poll(() => said().at(-1)).toMatch(/no such file/);
  now += 31_000;
  expect(certificates.problems().join()).toContain("The operators' certificates");
  expect(await talks({ believes: second })).toBe(true);
  expect(JSON.stringify(lines)).not.toContain('PRIVATE KEY');
});

it("does not start without usable files of the operators' port, and names the settings", async () => {
  install(bySigner(old));
  writeFileSync(files().keyFile, next.key);
  await expect(start('operators')).rejects.toThrow(
    /GW_CONTROL_TLS_CERT_FILE, GW_CONTROL_TLS_KEY_FILE.*tls\.key is not the key of .*tls\.crt/,
  );
});

it('follows a symbolic link that is swapped, as Kubernetes does it', async () => {
  const volume = join(dir, 'volume');
  const write = (name: string, { certificate, key }: TestCertificate) => {
    mkdirSync(join(volume, name), { recursive: true });
    for (const [file, text] of Object.entries({ 'tls.crt': certificate, 'tls.key': key, 'ca.crt': old.certificate }))
      writeFileSync(join(volume, name, file), text);
    symlinkSync(name, join(volume, '..data_tmp'));
    renameSync(join(volume, '..data_tmp'), join(volume, '..data'));
  };
  write('first', bySigner(old));
  for (const file of ['tls.crt', 'tls.key', 'ca.crt']) {
    rmSync(join(dir, file));
    symlinkSync(join('volume', '..data', file), join(dir, file));
  }
  await start();
  write('second', bySigner(old));
  await expect.poll(() => lines.map(({ msg }) => msg)).toContain('took up new internal certificates');
});

it.each([
  ['no certificate', (): void => writeFileSync(files().certFile, ''), /tls\.crt contains no certificate/],
  ['no authority', (): void => writeFileSync(files().caFile, 'x'), /ca\.crt contains no certificate/],
  ['no key', (): void => writeFileSync(files().keyFile, 'secret'), /tls\.key contains no private key in PEM/],
  ['no file', (): void => rmSync(files().keyFile), /tls\.key/],
])('does not start with %s, and names the file', async (_, spoil, problem) => {
  spoil();
  const error = await start().catch((cause: Error) => cause.message);
  expect(error).toMatch(problem);
  expect(error).not.toContain('secret');
});

it('tells in the last tenth of a certificate that it ends, by metric, health and log, and of an old authority that nobody needs nothing', async () => {
  const ending = makeCertificate('ended', { until: now + dayMs / 100 });
  const short = makeCertificate('internal', { by: old, from: now - 8.5 * dayMs, until: now + dayMs });
  install(short, ending, old);
  await start();
  const registry = new Registry();
  certificates.register(registry);
  const text = await registry.metrics();
  expect(text).toContain(`gw_tls_certificate_expiry_seconds{file="${files().certFile}"} 86400`);
  const authority = new RegExp(`gw_tls_certificate_expiry_seconds\\{file="${files().caFile}"\\} (\\d+)`).exec(
    text,
  )?.[1];
  // It was made at the begin of this file.
  expect(Number(authority)).toBeGreaterThan(80_000);
  expect(certificates.problems()).toEqual([]);
  now += 0.06 * dayMs;
  const problem = new RegExp(`The certificate in ${files().certFile} expires at .*, in 0\\.9 days\\. Renew it\\.`);
  expect(certificates.problems()).toEqual([expect.stringMatching(problem)]);
  await expect.poll(() => lines.at(-1)?.msg).toMatch(problem);
  now += dayMs;
  expect(certificates.problems().join()).toMatch(/expired at/);
});

it("watches the end of Envoy's certificates where it can read them, and says where it cannot", async () => {
  const [file, gone] = [join(dir, 'public.crt'), join(dir, 'gone.crt')];
  writeFileSync(file, makeCertificate('public', { from: now - 10 * dayMs, until: now + dayMs / 2 }).certificate);
  certificates = await openCertificates({
    internal: null,
    watched: [file, gone],
    log,
    troubles: openTroubles(log, () => now),
    now: () => now,
  });
  expect(certificates.problems()).toEqual([expect.stringContaining(file)]);
  expect(lines.map(({ msg }) => msg).join()).toMatch(/not watched.*gone\.crt/);
});

it('logs why a handshake was refused, once per second and reason, and counts all', async () => {
  await start();
  const registry = new Registry();
  certificates.register(registry);
  const stranger = makeCertificate('stranger');
  for (let count = 0; count < 3; count += 1) expect(await talks({ shows: stranger, believes: old })).toBe(false);
  expect(await talks({ believes: old })).toBe(false);
  expect(await talks({ shows: makeCertificate('internal', { by: old, until: now - 1 }), believes: old })).toBe(false);
  const said = () => Object.fromEntries(lines.map(({ reason, msg }) => [reason, msg]));
  // A client that hangs up early may be told as a further one.
  await expect.poll(said).toMatchObject({
    DEPTH_ZERO_SELF_SIGNED_CERT: expect.stringContaining('add the authority to GW_INTERNAL_TLS_CA_FILE here'),
    ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: expect.stringContaining('set GW_INTERNAL_TLS_CERT_FILE there'),
    CERT_HAS_EXPIRED: expect.stringContaining('renew it there'),
  });
  expect(await registry.metrics()).toContain('refused_total{reason="DEPTH_ZERO_SELF_SIGNED_CERT"} 3');
  now += 1001;
  expect(await talks({ shows: stranger, believes: old })).toBe(false);
  await expect.poll(() => lines.at(-1)).toMatchObject({ more_since: 2 });
});
