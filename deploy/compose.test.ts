/** No container engine is needed: everything that the compose file and the Dockerfiles name is looked up. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redisUsersFile } from '@gw/contract/internal/redis-users';
import { isCredential, settingReaders, settingsOf } from '@gw/contract/internal/settings';
import { defaultRoomBytes } from '@gw/service/idempotency';
import { envoyPackage } from '@gw/stack/binaries';
import { memoryOf } from '@gw/stack/internals/memory';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { replyEndFlags } from '../cli/reply-end.mjs';

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const serviceSchema = z.object({
  image: z.string(),
  build: z.object({ context: z.literal('.'), dockerfile: z.string() }).optional(),
  user: z.string(),
  restart: z.string(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  volumes: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.object({ condition: z.string(), required: z.boolean().optional() })).default({}),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  stop_grace_period: z.string().optional(),
  mem_limit: z.string(),
});
const composeText = read('docker-compose.yml');
const compose = z
  .object({ services: z.record(z.string(), serviceSchema), volumes: z.record(z.string(), z.unknown()) })
  .parse(parse(composeText, { merge: true }));
const services = Object.entries(compose.services);
const jobs = ['migrate', 'seed', 'envoy-config'];
/** Entry point of each bundle, as the build has them. */
const bundles = new Map(
  [...read('cli/prepare.mjs').matchAll(/^ {2}'?([a-z-]+)'?: '([a-z-]+\/[a-z-]+\.ts)',$/gm)].map((found) => [
    found[1] ?? '',
    found[2] ?? '',
  ]),
);
const typescript = services.filter(([, service]) => service.image === 'gw-services');

const partOf = (command: readonly string[]): string =>
  /^dist\/([a-z-]+)\.js$/.exec(command.find((word) => word.startsWith('dist/')) ?? '')?.[1] ?? '';

const readerOf = (command: readonly string[]) =>
  z.enum(settingReaders).parse(partOf(command).replace('render-envoy', 'envoy'));

test('the file is one of the Compose Specification', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  const isCompose = ajv.compile(JSON.parse(read('deploy/testdata/compose-spec.json')));
  expect(isCompose(parse(composeText, { merge: true })), ajv.errorsText(isCompose.errors)).toBe(true);
  expect(isCompose({ services: { envoy: { image: 'envoy', prots: [] } } })).toBe(false);
});

test('the stores keep what they acknowledged as those of ./gw up do (stack/services/services.pg.test.ts)', () => {
  const commandOf = (name: string) => compose.services[name]?.command?.join(' ');
  expect(commandOf('postgres')).toBe('postgres -c fsync=on -c synchronous_commit=on -c full_page_writes=on');
  expect(commandOf('valkey')).toContain('--appendonly yes --appendfsync everysec --maxmemory-policy noeviction');
});

test('no part takes the memory of the machine, and the replies of tenants leave room in Valkey for receipts', () => {
  const mebibytes = (size: string) => {
    const [, amount, unit] = /(\d+)(mb?|g)\}?$/.exec(size) ?? [];
    return Number(amount) * (unit === 'g' ? 1024 : 1);
  };
  const limits = new Map(services.map(([name, service]) => [name, mebibytes(service.mem_limit)]));
  for (const [name, limit] of limits) expect(limit, name).toBeGreaterThanOrEqual(1024);
  const [maxmemory = ''] = /\$\{GW_VALKEY_MAXMEMORY:-\w+\}/.exec(composeText) ?? [];
  const receiptsOnTheirWay = 512;
  expect(mebibytes(maxmemory)).toBeGreaterThan(1.5 * (defaultRoomBytes / 1024 / 1024 + receiptsOnTheirWay));
  expect(limits.get('valkey')).toBeGreaterThanOrEqual(1.5 * mebibytes(maxmemory));
  const heap = Number(/GW_ENVOY_MAX_HEAP_MB:-(\d+)/.exec(composeText)?.[1]);
  expect(limits.get('envoy')).toBeGreaterThanOrEqual(1.2 * heap);
});

test('the control plane can write to the directory of objects that the example of settings names', () => {
  const [folder = ''] = /\/var\/lib\/gw\/objects/.exec(read('deploy/.env.example')) ?? [];
  expect(compose.services['control-plane']?.volumes).toContain(`objects:${folder}`);
  expect(read('deploy/Dockerfile.services')).toContain(`${folder} `);
});

test('the users of Valkey are those of the product', async () => {
  const file = redisUsersFile((user) => `>$VALKEY_${user.toUpperCase()}_PASSWORD`);
  await expect(file).toMatchFileSnapshot(join(root, 'deploy/valkey-users.acl'));
});

test('the command of Valkey puts the passwords into the file of users, where nobody else reads them', () => {
  const [shell = '', flag = '', script = ''] = compose.services.valkey?.command ?? [];
  const dir = mkdtempSync(join(tmpdir(), 'gw-compose-'));
  // As Compose reads it, and in a folder of this test.
  const local = script
    .replaceAll('$$', '$')
    .replaceAll('/tmp/', `${dir}/`)
    .replaceAll('/etc/valkey-users.acl', join(root, 'deploy/valkey-users.acl'))
    .replace(/^exec .*$/m, '');
  const env = Object.fromEntries(
    ['OWNER', 'EXT_AUTHZ', 'SIDECAR', 'CONTROL_PLANE'].map((user) => [`VALKEY_${user}_PASSWORD`, `secret-${user}`]),
  );
  execFileSync(shell, [flag, local], { env: { PATH: process.env.PATH, ...env } });
  const file = join(dir, 'users.acl');
  const written = readFileSync(file, 'utf8');
  expect(written).toBe(
    read('deploy/valkey-users.acl').replace(/\$(\w+)/g, (_, name: string) => env[name] ?? 'missing'),
  );
  expect(written).toContain('user gw_sidecar on >secret-SIDECAR -@all');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  rmSync(dir, { recursive: true, force: true });
});

test('each TypeScript part runs a bundle that the build makes', () => {
  expect(typescript).toHaveLength(9);
  for (const [name, { command = [] }] of typescript) {
    const entry = bundles.get(partOf(command));
    expect(entry, `${name} runs ${command.join(' ')}`).toBeDefined();
    expect(existsSync(join(root, entry ?? '')), `${entry}`).toBe(true);
  }
});

test('the services have the memory that those of ./gw up have', () => {
  const served = typescript.filter(([, { command = [] }]) => partOf(command) in memoryOf);
  expect(new Set(served.map(([, { command = [] }]) => partOf(command)))).toEqual(new Set(Object.keys(memoryOf)));
  for (const [name, { command = [], environment = {} }] of served) {
    const { args, env } = memoryOf[partOf(command) as keyof typeof memoryOf];
    expect(command.slice(1, -1), name).toEqual(args);
    expect(Object.fromEntries(Object.entries(environment).filter(([key]) => key.startsWith('MALLOC_'))), name).toEqual(
      env,
    );
  }
});

test('each part gets the variables that its configuration requires, and none that it does not know', () => {
  for (const [name, { command = [], environment = {} }] of typescript) {
    const folder = (bundles.get(partOf(command)) ?? '').split('/')[0] ?? '';
    const known = new Set(settingsOf[readerOf(command)]);
    for (const variable of Object.keys(environment)) {
      const isKnown = known.has(variable) || (isCredential(variable) && folder === 'control-plane');
      const isOfC = variable.startsWith('MALLOC_');
      expect(isKnown || isOfC, `${name}: ${variable}`).toBe(true);
    }
    const required = new Set(
      [
        ...read(join(folder, 'config.ts')).matchAll(/(?:required|secret|hexKey|demand|instances)\(\s*'(GW_[A-Z_]+)'/g),
      ].map((found) => found[1] ?? ''),
    );
    const optional = [
      'GW_TLS_KEY_FILE',
      ...(folder === 'prisma' ? [...required].filter((each) => !/DATABASE/.test(each)) : []),
    ];
    for (const variable of required) {
      if (!optional.includes(variable)) expect(environment[variable], `${name}: ${variable}`).toBeTruthy();
    }
  }
});

test('Envoy gets each variable that its configuration reads when it starts', () => {
  const wanted = [...read('envoy/envoy.template.yaml').matchAll(/%ENVIRONMENT\((\w+)\)%/g)].map(
    (found) => found[1] ?? '',
  );
  expect(new Set(wanted)).toEqual(new Set(['GW_INTERNAL_TOKEN']));
  for (const variable of wanted) expect(compose.services.envoy?.environment?.[variable], variable).toBeTruthy();
});

test('each part that stays has a health check and restarts, and none is root', () => {
  for (const [name, { user, restart, healthcheck }] of services) {
    expect(user, name).not.toMatch(/^(0|root)\b/);
    expect(restart, name).toBe(jobs.includes(name) ? 'no' : 'unless-stopped');
    if (!jobs.includes(name)) expect(healthcheck, name).toBeDefined();
  }
});

test('no secret has a value in the file, and the example names every variable that the file asks for', () => {
  const asked = [...composeText.matchAll(/(?<!\$)\$\{([A-Z_]+)(:[?-])?/g)];
  const example = new Set([...read('deploy/.env.example').matchAll(/^([A-Z_]+)=/gm)].map((found) => found[1] ?? ''));
  for (const [, name = '', kind] of asked) {
    expect(example.has(name), name).toBe(true);
    // Grid sources, counters of GPUs, tiers and the first operator's token are optional, and their keys with them; so is a second pepper.
    if (
      /PASSWORD|TOKEN(?!_FILE)|PEPPER/.test(name) &&
      !/^GW_(GRID|GPU|TIER|FIRST_OPERATOR)_|_(PREVIOUS|VERSION)$/.test(name)
    )
      expect(kind, name).toBe(':?');
  }
  expect([...example].filter((name) => !asked.some((found) => found[1] === name))).toEqual([]);
});

test('ports that are checked, published or connected to are those that are listened on', () => {
  const listening = (name: string): string => Object.values(compose.services[name]?.environment ?? {}).join(' ');
  expect(listening('envoy-config')).toContain('0.0.0.0:8080');
  for (const [name, { healthcheck, ports }] of typescript) {
    const port = /127\.0\.0\.1:(\d+)\/(?:health|ready)z/.exec(healthcheck?.test.join(' ') ?? '')?.[1];
    if (port) expect(listening(name), name).toContain(`:${port}`);
    for (const published of ports) expect(listening(name)).toContain(`0.0.0.0:${published.split(':').at(-1)}`);
  }
  expect(listening('seed')).toContain('simulator:9000');
  expect(listening('simulator')).toContain(':9000');
});

test('volumes and dependencies exist', () => {
  for (const [name, { volumes, depends_on }] of services) {
    for (const volume of volumes) {
      // A folder of the machine or, by default, a volume.
      const [from = ''] = volume.replace(/^\$\{GW_TLS_DIR:-(\w+)\}/, '$1').split(':');
      if (from.startsWith('./')) expect(existsSync(join(root, from)), from).toBe(true);
      else expect(Object.keys(compose.volumes), name).toContain(from);
    }
    for (const other of Object.keys(depends_on)) expect(Object.keys(compose.services), name).toContain(other);
  }
});

test('Dockerfiles end as a user that is not root, and copy only what is there', () => {
  for (const [, { build }] of services) {
    if (!build) continue;
    const text = read(build.dockerfile);
    const users = [...text.matchAll(/^USER (\S+)/gm)].map((found) => found[1]);
    expect(users.at(-1)).toBe('1000:1000');
    for (const [, sources = ''] of text.matchAll(/^COPY --from=build (.+) \S+$/gm)) {
      for (const source of sources.split(' ')) {
        const path = source.replace(/^\/gw\//, '');
        const isMade = ['node_modules', 'dist'].includes(path);
        expect(isMade || existsSync(join(root, path)), path).toBe(true);
      }
    }
  }
});

test('the image that makes the configuration of Envoy has all files that go into it', () => {
  const text = read('deploy/Dockerfile.services');
  const parts = readdirSync(join(root, 'envoy')).filter((name) => /\.(lua|yaml)$/.test(name));
  expect(parts).toContain('envoy.template.yaml');
  for (const name of parts) expect(text).toContain(` /gw/envoy/${name} `);
});

test('Envoy is stopped before what it calls, and it and the sidecars have more time than they wait for calls', () => {
  const called = services
    .map(([name]) => name)
    .filter((name) => /^(ext-authz|receipt-sidecar|control-plane)/.test(name));
  expect(Object.keys(compose.services.envoy?.depends_on ?? {})).toEqual(expect.arrayContaining(called));
  for (const name of ['envoy', 'receipt-sidecar', 'receipt-sidecar-2'])
    expect(compose.services[name]?.stop_grace_period, name).toBe('11m');
  for (const name of ['ext-authz', 'ext-authz-2', 'control-plane'])
    expect(compose.services[name]?.stop_grace_period, name).toBe('30s');
  for (const file of ['envoy/run-main.ts', 'receipt-sidecar/config.ts']) expect(read(file)).toMatch(/\b600\b/);
});

test('the image of Envoy runs it by what drains it at SIGTERM, and has all that this imports', () => {
  const text = read('deploy/Dockerfile.envoy');
  expect(text).toContain('ENTRYPOINT ["node", "/gw/envoy/run-main.ts", "envoy"]');
  const copied = /^COPY (envoy\/.*) \/gw\/envoy\/$/m.exec(text)?.[1]?.split(' ') ?? [];
  for (const path of copied) expect(existsSync(join(root, path)), path).toBe(true);
  const imported = copied.flatMap((path) =>
    [...read(path).matchAll(/from '(?!node:)([^']+)'/g)].map((found) => found[1]),
  );
  expect(imported.map((path) => path?.replace('./', 'envoy/')).filter((path) => !copied.includes(path ?? ''))).toEqual(
    [],
  );
});

test('the image of Envoy compiles the filter that ends replies as a checkout does, and its configuration names it', () => {
  const text = read('deploy/Dockerfile.envoy');
  const module = compose.services['envoy-config']?.environment?.GW_REPLY_END_MODULE;
  expect(text).toContain(`RUN cc ${replyEndFlags.join(' ')} -o /reply-end/reply-end.so /reply-end/filter.c\n`);
  expect(text).toContain(`COPY --from=reply-end /reply-end/reply-end.so ${module}\n`);
  // A module is for one version of Envoy.
  const images = [...text.matchAll(/^FROM envoyproxy\/envoy:v(\S+)/gm)].map((found) => found[1]);
  expect(images).toEqual([envoyPackage.version, envoyPackage.version]);
});

test('with pairs Envoy is told of the socket of each instance, and each instance of their number', () => {
  const settings = (name: string) => compose.services[name]?.environment ?? {};
  for (const [service, prefix] of [
    ['ext-authz', 'GW_AUTHZ'],
    ['receipt-sidecar', 'GW_SIDECAR'],
  ] as const) {
    const [first, second] = [service, `${service}-2`].map((name) => settings(name)[`${prefix}_LISTEN`]);
    expect(second).not.toBe(first);
    expect(settings('envoy-config')[`${prefix}_LISTEN`]).toBe(`${first}\${GW_PAIRS:+,${second}}`);
    for (const name of [service, `${service}-2`]) expect(settings(name)[`${prefix}_INSTANCES`]).toBe(`\${GW_PAIRS:+2}`);
  }
  const spools = ['receipt-sidecar', 'receipt-sidecar-2'].map((name) => compose.services[name]?.volumes.at(-1));
  expect(new Set(spools).size).toBe(2);
});
