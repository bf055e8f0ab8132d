/** `./gw up` with a certificate: over TLS, or not at all. */
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask } from '@gw/stack/readiness';
import { makeCertificate } from '@gw/testing/envoy/certificate';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stack } from '../shared-stack.ts';
import { isGone, OwnGateway, run } from './gateway-of-its-own.ts';

const ports = ['--port', '0', '--control-port', '0'];
const gateway = new OwnGateway();
const at = (name: string) => join(gateway.dir, name);
const files = { GW_TLS_CERT_FILE: at('public.crt'), GW_TLS_KEY_FILE: at('public.key') };
const withVariables = (variables: Readonly<Record<string, string>>) =>
  Object.assign(Object.create(gateway), { env: { ...gateway.env, ...variables } }) as OwnGateway;

beforeAll(() => {
  mkdirSync(gateway.dir, { recursive: true });
  const { certificate, key } = makeCertificate('public');
  writeFileSync(files.GW_TLS_CERT_FILE, certificate);
  writeFileSync(files.GW_TLS_KEY_FILE, key);
  writeFileSync(at('other.key'), makeCertificate('other').key);
});
afterAll(() => gateway.dispose());

test.each([
  ['no key', { GW_TLS_CERT_FILE: files.GW_TLS_CERT_FILE }, /GW_TLS_KEY_FILE is not/],
  ['no certificate', { GW_TLS_KEY_FILE: files.GW_TLS_KEY_FILE }, /GW_TLS_CERT_FILE is not/],
  [
    'a file that is not there',
    { ...files, GW_TLS_KEY_FILE: at('gone.key') },
    /GW_TLS_KEY_FILE names a file .*gone\.key/,
  ],
  ['the key of another', { ...files, GW_TLS_KEY_FILE: at('other.key') }, /have to be a certificate and its key/],
  ['no certificate in the file', { ...files, GW_TLS_CERT_FILE: files.GW_TLS_KEY_FILE }, /have to be a certificate/],
])('%s is a sentence, and nothing is started', async (_name, variables, message) => {
  const { code, err } = await withVariables(variables).gw('up', '--detach', ...ports);
  // In front of it may stand that something was built.
  expect([code, err.trim().split('\n').at(-1)]).toEqual([1, expect.stringMatching(message)]);
  expect(err).not.toContain('Starting');
});

test('the listener speaks TLS, the command that is printed works, and the access log is nobody else’s to read', async () => {
  const { code, out, err } = await withVariables(files).gw(
    'up',
    '--detach',
    ...ports,
    '--provider',
    `${stack.simulatorUrl}/v1`,
  );
  expect(code, err).toBe(0);
  const { publicUrl, keys } = gateway.run();
  expect(publicUrl).toMatch(/^https:/);
  expect((await ask(`${publicUrl}/v1/models`, keys.audit)).status).toBe(200);
  const curl = /^curl [\s\S]*?\n\n/m.exec(out)?.[0] ?? '';
  expect(curl).toContain(`--cacert '${files.GW_TLS_CERT_FILE}'`);
  const reply = await run('bash', ['-c', curl], gateway.env);
  expect(JSON.parse(reply.out), reply.err).toMatchObject({ object: 'chat.completion', gw: { object: 'gw.receipt' } });
  expect(statSync(join(gateway.dir, 'logs', 'access.log')).mode & 0o777).toBe(0o600);
});

test('down leaves no process and no run.json', async () => {
  const { pids } = gateway.run();
  expect((await gateway.gw('down')).out).toBe('Stopped.\n');
  expect(Object.values(pids).filter((pid) => !isGone(pid))).toEqual([]);
  expect(existsSync(at('run.json'))).toBe(false);
  expect((await gateway.gw('status')).code).toBe(1);
  expect((await gateway.gw('down')).out).toBe('Nothing was running.\n');
});
