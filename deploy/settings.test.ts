/** The table of settings, the code, the documentation and docker-compose.yml know the same settings. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  isCredential,
  isOfTests,
  notInCompose,
  type SettingReaderName,
  settingReaders,
  settingsOf,
  settingsOfCommands,
  settingsOfCompose,
} from '@gw/contract/internal/settings';
import { loadConfig as loadControlPlane } from '@gw/control-plane/internals/config';
import { loadEnvoySettings } from '@gw/envoy/config';
import { loadConfig as loadExtAuthz } from '@gw/ext-authz/internals/config';
import { readMigrateConfig } from '@gw/prisma/internals/config';
import { loadConfig as loadSidecar } from '@gw/receipt-sidecar/internals/config';
import { readConfig as readSimulator } from '@gw/simulator/internals/config';
import { sourceFiles } from '@gw/testing/source-files';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const all = new Set(settingReaders.flatMap((reader) => settingsOf[reader]));
const namesIn = (text: string): string[] => text.match(/\bGW_[A-Z0-9_]*[A-Z0-9](?![A-Z0-9_*…<])/g) ?? [];

/** With these values the reading of one setting leads to that of others; each problem is only noted. */
const everythingIsOn = {
  GW_GRID_SOURCES: 'SWE=electricity-maps:SE,GBR=neso,FRA=entsoe:10YFR-RTE------C,USA=watttime:CAISO_NORTH',
  GW_GPU_COUNTERS: '{"gpu":{"energy":"e","tokens":["t"]}}',
  GW_SEED: 'demo',
};

/** The names that `load` asks an environment for in which all settings are set. */
function askedBy(load: (environment: Record<string, string>) => unknown): string[] {
  const asked = new Set<string>();
  const values: Record<string, string> = {
    ...Object.fromEntries([...all].map((name) => [name, '1'.repeat(64)])),
    ...everythingIsOn,
  };
  const environment = new Proxy(values, {
    get(target, name: string) {
      asked.add(name);
      return target[name];
    },
    // The search for variables without an effect finds none.
    ownKeys: () => [],
  });
  try {
    load(environment);
  } catch (error) {
    // The values are no good.
    expect(String(error)).toMatch(/The configuration has|has to be host:port/);
  }
  return [...asked].filter((name) => !isCredential(name)).sort();
}

const loads: Readonly<
  Record<Exclude<SettingReaderName, 'envoy-image'>, (environment: Record<string, string>) => unknown>
> = {
  'ext-authz': loadExtAuthz,
  'receipt-sidecar': loadSidecar,
  'control-plane': loadControlPlane,
  envoy: (environment) => loadEnvoySettings(environment, '.'),
  migrate: readMigrateConfig,
  simulator: readSimulator,
};

test.each(Object.entries(loads))('%s reads the settings of the table, and no others', (reader, load) => {
  expect(askedBy(load)).toEqual([...settingsOf[reader as SettingReaderName]].sort());
});

test("Envoy's image reads those of the table, and its configuration one more when it runs", () => {
  const names = namesIn(read('envoy/run-main.ts') + read('envoy/envoy.template.yaml'));
  expect([...new Set(names)].sort()).toEqual([...settingsOf['envoy-image']].sort());
});

const documents = [...sourceFiles('md')].filter(([path]) =>
  /^(docs\/[^/]+|README|CONTRIBUTING|SECURITY)\.md$/.test(path),
);

test('each setting is documented', () => {
  const documented = new Set(documents.flatMap(([, text]) => namesIn(text)));
  for (const name of [...all, ...settingsOfCommands, ...settingsOfCompose]) expect(documented, name).toContain(name);
});

test('what the documentation names is read by somebody', () => {
  const known = new Set([...all, ...settingsOfCommands, ...settingsOfCompose]);
  const others = documents.flatMap(([path, text]) =>
    namesIn(text)
      .filter((name) => !known.has(name) && !isCredential(name) && !isOfTests(name) && !ofDevelopers.includes(name))
      .map((name) => `${path}: ${name}`),
  );
  expect(others).toEqual([]);
});

/** CONTRIBUTING.md names these for developers. */
const ofDevelopers = ['GW_SCREENSHOTS', 'GW_AIGW_BIN'];

/** The labels of the column "Read by" in docs/operations.md. */
const labels: Readonly<Record<string, readonly SettingReaderName[]>> = {
  all: ['ext-authz', 'receipt-sidecar', 'control-plane', 'envoy'],
  services: ['ext-authz', 'receipt-sidecar', 'control-plane'],
  'ext-authz': ['ext-authz'],
  sidecar: ['receipt-sidecar'],
  'control plane': ['control-plane'],
  Envoy: ['envoy'],
  "Envoy's image": ['envoy-image'],
  migration: ['migrate'],
  seed: ['migrate'],
  simulator: ['simulator'],
};

test('docs/operations.md says of each of its settings who reads it', () => {
  const [, table = ''] = /\n## Settings\n([\s\S]*?)\n## /.exec(read('docs/operations.md')) ?? [];
  const rows = [...table.matchAll(/^\| (`GW_[^|]*) \| ([^|]+) \|/gm)];
  expect(rows.length).toBeGreaterThan(60);
  const stated = rows.flatMap(([, names = '', readers = '']) => namesIn(names).map((name) => [name, readers] as const));
  for (const [name, text] of stated) {
    const readers = new Set(text.split(/, /).flatMap((label) => labels[label] ?? []));
    const wanted = settingReaders.filter((reader) => settingsOf[reader].includes(name));
    expect([...readers].sort(), `${name}: ${text}`).toEqual([...wanted].sort());
  }
});

const composeText = read('docker-compose.yml');
const compose = z
  .object({
    services: z.record(z.string(), z.object({ environment: z.record(z.string(), z.unknown()).default({}) })),
  })
  .parse(parse(composeText, { merge: true }));

/** The services of docker-compose.yml that run each program. */
const servicesOf: Readonly<Record<SettingReaderName, readonly string[]>> = {
  'ext-authz': ['ext-authz', 'ext-authz-2'],
  'receipt-sidecar': ['receipt-sidecar', 'receipt-sidecar-2'],
  'control-plane': ['control-plane'],
  envoy: ['envoy-config'],
  'envoy-image': ['envoy'],
  // The seed is the migration once more, with what makes it one.
  migrate: ['seed'],
  simulator: ['simulator'],
};

test.each(settingReaders)('docker-compose.yml gives %s all that it reads', (reader) => {
  for (const service of servicesOf[reader]) {
    const passed = Object.keys(compose.services[service]?.environment ?? {});
    const missing = settingsOf[reader].filter((name) => !passed.includes(name) && notInCompose[name] === undefined);
    expect(missing, service).toEqual([]);
  }
});

test('what docker-compose.yml does not pass on is named in docs/operations.md, with the reason', () => {
  const text = read('docs/operations.md').replaceAll(/\s+/g, ' ');
  const passed = Object.values(compose.services).flatMap(({ environment }) => Object.keys(environment));
  for (const [name, reason] of Object.entries(notInCompose)) {
    expect(passed, name).not.toContain(name);
    expect(all, name).toContain(name);
    expect(text, name).toContain(reason);
  }
});

test('what docker-compose.yml reads itself is in the table, and nothing else is', () => {
  const asked = [...composeText.matchAll(/\$\{(GW_[A-Z_]+)/g)].map(([, name = '']) => name);
  const own = [...new Set(asked)].filter((name) => !all.has(name) && !isCredential(name));
  expect(own.sort()).toEqual([...settingsOfCompose].sort());
});

test('images are named by their exact versions', () => {
  const dockerfiles = ['deploy/Dockerfile.services', 'deploy/Dockerfile.envoy'].map(read).join('\n');
  const named = [
    ...[...composeText.matchAll(/^ {4}image: (\S+)$/gm)].map(([, image = '']) => image),
    ...[...dockerfiles.matchAll(/^(?:FROM |COPY --from=)([a-z/]+:\S+)/gm)].map(([, image = '']) => image),
  ];
  expect(named.length).toBeGreaterThan(6);
  for (const image of named.filter((each) => !each.startsWith('gw-')))
    expect(image).toMatch(/:v?\d+\.\d+(\.\d+|-bookworm)/);
});

/** The expressions of the alerts, and the metrics that each asks for. */
function alerts() {
  const rules = z
    .object({ groups: z.array(z.object({ rules: z.array(z.object({ expr: z.string() })) })) })
    .parse(parse(read('deploy/alerts.yml')));
  return rules.groups.flatMap(({ rules: each }) =>
    each.map(({ expr }) => {
      const [, prefix = '', middles = '', suffix = ''] = /"(gw_)\(([a-z_|]+)\)([a-z_]+)"/.exec(expr) ?? [];
      const names = middles
        ? middles.split('|').map((middle) => prefix + middle + suffix)
        : (expr.match(/gw_[a-z_]+/g) ?? []);
      return { expr, names };
    }),
  );
}

test('the alerts ask for metrics that docs/operations.md describes', () => {
  const described = read('docs/operations.md');
  for (const { expr, names } of alerts()) for (const name of names) expect(described, expr).toContain(`\`${name}`);
});

test('there is an alert for each sign that the ground has moved, and for each kind of altered record', () => {
  const asked = new Set(alerts().flatMap(({ names }) => names));
  const signs = [
    'degraded',
    'postgres_went_back',
    'secret_fits',
    'tls_certificate_expiry_seconds',
    'oidc_logins_total',
  ];
  for (const sign of signs) expect(asked).toContain(`gw_${sign}`);
  const faults = [...read('control-plane/ledger/integrity/gauges.ts').matchAll(/'(gw_[a-z_]+_faults)'/g)];
  expect(faults.length).toBeGreaterThan(5);
  for (const [, name] of faults) expect(asked).toContain(name);
});

test('an alert about logins asks for outcomes that there are', () => {
  const [, outcomes = ''] = /gw_oidc_logins_total\{outcome=~"([a-z_|]+)"\}/.exec(read('deploy/alerts.yml')) ?? [];
  const known = read('control-plane/people/access/oidc-failure.ts');
  for (const outcome of outcomes.split('|')) expect(known).toMatch(new RegExp(`^  ${outcome}:`, 'm'));
});

test('Prometheus asks each service where it listens, over the network of metrics', () => {
  const { services } = z
    .object({ services: z.record(z.string(), z.object({ networks: z.array(z.string()).default(['default']) })) })
    .parse(parse(composeText, { merge: true }));
  const prometheus = read('deploy/prometheus.yml');
  for (const service of ['ext-authz', 'ext-authz-2', 'receipt-sidecar', 'receipt-sidecar-2', 'control-plane']) {
    expect(services[service]?.networks, service).toContain('metrics');
    expect(prometheus).toContain(service);
  }
  expect(services.prometheus?.networks).toContain('metrics');
  for (const store of ['postgres', 'valkey']) expect(services[store]?.networks, store).toEqual(['stores']);
  for (const file of ['prometheus.yml', 'alerts.yml', 'Caddyfile'])
    expect(existsSync(join(root, 'deploy', file))).toBe(true);
});
