/** `docker compose config` reads docker-compose.yml, for which it needs no engine. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inCheckout } from '@gw/stack/checkout';
import { pythonWith } from '@gw/stack/environments';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

const folder = mkdtempSync(join(tmpdir(), 'gw-compose-'));
const example = readFileSync(inCheckout('deploy', '.env.example'), 'utf8');
const filledIn = example.replaceAll(/^(\w+_(?:PASSWORD|TOKEN|PEPPER|KEY))=$/gm, `$1=${'a1'.repeat(32)}`);
let program = '';

beforeAll(async () => {
  const requirements = inCheckout('test', 'long', 'compose', 'requirements.txt');
  const python = await pythonWith('compose', requirements, () => undefined);
  const where = "import compose, pathlib; print(pathlib.Path(compose.__file__).parent / 'docker-compose')";
  program = execFileSync(python, ['-c', where], { encoding: 'utf8' }).trim();
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const port = z.object({ host_ip: z.string().optional(), published: z.string(), target: z.number() });
const projectSchema = z.object({
  services: z.record(
    z.string(),
    z.object({
      environment: z.record(z.string(), z.string().nullable()).default({}),
      ports: z.array(port).default([]),
      volumes: z.array(z.object({ type: z.string(), source: z.string(), target: z.string() })).default([]),
    }),
  ),
});

async function configOf(env: string) {
  const file = join(folder, 'settings');
  writeFileSync(file, env);
  const where = ['--env-file', file, '--file', inCheckout('docker-compose.yml'), '--profile', '*'];
  const { stdout } = await promisify(execFile)(program, [...where, 'config', '--format', 'json'], {
    env: { PATH: process.env.PATH, HOME: folder },
  });
  return projectSchema.parse(JSON.parse(stdout)).services;
}

test('the example with its secrets is whole, and publishes on loopback alone', async () => {
  const services = await configOf(filledIn);
  expect(services.envoy?.ports).toMatchObject([{ host_ip: '127.0.0.1', published: '8080', target: 8080 }]);
  for (const [name, { ports }] of Object.entries(services))
    for (const { host_ip } of ports) expect(host_ip, name).toBe(name === 'caddy' ? undefined : '127.0.0.1');
  expect(services['envoy-config']?.environment.GW_AUTHZ_LISTEN).toBe('unix:/run/gw/ext-authz.sock');
});

test('a folder of certificates is mounted where the settings say, and further instances are named', async () => {
  const env = filledIn.replace('GW_TLS_DIR=', 'GW_TLS_DIR=/srv/tls').replace('GW_PAIRS=', 'GW_PAIRS=1');
  const services = await configOf(env);
  const tls = services.envoy?.volumes.find(({ target }) => target === '/etc/gw/tls');
  expect(tls).toMatchObject({ type: 'bind', source: '/srv/tls' });
  expect(services['control-plane']?.environment.GW_AUTHZ_HEALTH_LISTEN).toBe('ext-authz:9101,ext-authz-2:9101');
});

test.each([
  ['GW_OBJECTS_DIR', /^GW_OBJECTS_DIR=.*$/m, 'add the line GW_OBJECTS_DIR=/var/lib/gw/objects to .env'],
  ['GW_LEDGER_KEY', /^GW_LEDGER_KEY=.*$/m, 'from openssl rand -hex 32'],
])('a file of settings without %s is told the cure', async (name, line, cure) => {
  const refusal = await configOf(filledIn.replace(line, '')).catch((cause: unknown) => String(cause));
  expect(refusal).toContain(`required variable ${name} is missing a value`);
  expect(refusal).toContain(cure);
});
