/** A setting that a user exports for `./gw up`, and a key, reach the parts that need them, and no other. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ignoredSettings } from '@gw/contract/internal/ignored-settings';
import { settingReaders, settingsOf } from '@gw/contract/internal/settings';
import { reasonAgainstUp } from '@gw/contract/internal/settings-of-up';
import { afterEach, expect, it, vi } from 'vitest';
import { envoyVariables } from './envoy-plan.ts';
import { loadSecrets } from './secrets.ts';
import { environmentOf, type Layout } from './stack-plans.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-plans-'));
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true, force: true });
});

const layoutOf = (): Layout => ({
  dir,
  logs: dir,
  sockets: dir,
  secrets: loadSecrets(dir),
  ports: { public: 1, control: 2, simulator: 3 },
  furtherPorts: {},
  internalPorts: {},
  internalTls: null,
  instances: 2,
  envoys: 1,
  controlPlanes: 1,
  healthPorts: {},
  publicUrl: 'http://127.0.0.1:1',
  ownerDatabaseUrl: 'postgresql://owner@/gw',
  valkeyUrl: '/run/valkey.sock',
  providerKey: null,
  overrides: {},
  durable: false,
  drainS: null,
  checkoutOf: () => dir,
});
const parts = ['simulator', 'control-plane', 'ext-authz', 'receipt-sidecar', 'receipt-sidecar-2'] as const;

it('tells the classifier and its key to each sidecar, and to nobody else', () => {
  const told = {
    GW_CLASSIFIER_URL: 'http://127.0.0.1:8000/v1/moderations',
    GW_CLASSIFIER_KEY: 'a key of the classifier',
    GW_CLASSIFIER_MODEL: 'guard',
    GW_CLASSIFIER_TIMEOUT_MS: '250',
  };
  for (const [name, value] of Object.entries(told)) vi.stubEnv(name, value);
  const layout = layoutOf();
  const ofClassifier = (part: (typeof parts)[number]) =>
    Object.fromEntries(
      Object.entries(environmentOf(part, layout)).filter(([name]) => name.startsWith('GW_CLASSIFIER_')),
    );
  for (const part of parts) expect(ofClassifier(part), part).toEqual(part.startsWith('receipt-sidecar') ? told : {});
});

it('tells the identity provider of operators to the control plane, and to nobody else', () => {
  const told = {
    GW_OIDC_ISSUER: 'http://127.0.0.1:9400',
    GW_OIDC_CLIENT_ID: 'gw',
    GW_OIDC_CLIENT_SECRET: 'a secret of the tests',
    GW_OIDC_CLAIM: 'oid',
  };
  for (const [name, value] of Object.entries(told)) vi.stubEnv(name, value);
  const layout = layoutOf();
  const ofLogins = (part: (typeof parts)[number]) =>
    Object.fromEntries(Object.entries(environmentOf(part, layout)).filter(([name]) => name.startsWith('GW_OIDC_')));
  for (const part of parts) expect(ofLogins(part), part).toEqual(part === 'control-plane' ? told : {});
});

it.each([
  ['GW_LEDGER_ENTRY_KEY', ['control-plane', 'receipt-sidecar', 'receipt-sidecar-2']],
  ['GW_WITNESS_KEY', ['control-plane', 'ext-authz']],
  ['GW_LEDGER_KEY', ['control-plane']],
  ['GW_EVIDENCE_KEY', ['control-plane']],
  ['GW_NAMES_KEY', ['control-plane']],
])('gives %s to %j alone', (name, holders) => {
  const layout = layoutOf();
  expect(parts.filter((part) => environmentOf(part, layout)[name] !== undefined)).toEqual(holders);
});

/** The reader of a part, and the variables that it is started with. */
const started = (layout: Layout) => [
  ...(['ext-authz', 'receipt-sidecar', 'control-plane'] as const).map(
    (reader) => [reader, environmentOf(reader, layout)] as const,
  ),
  ['envoy', envoyVariables('envoy', layout, 'envoy', null)] as const,
];

it('passes each setting of its user on to the parts that read it, and chooses the others itself', () => {
  const all = [...new Set(settingReaders.flatMap((reader) => settingsOf[reader]))];
  for (const name of all) vi.stubEnv(name, "the user's");
  vi.stubEnv('GW_CREDENTIAL_ACME', "the user's");
  const layout = layoutOf();
  for (const [reader, variables] of started(layout)) {
    const passed = Object.keys(variables).filter((name) => variables[name] === "the user's");
    // The certificate is checked before (public-tls.ts).
    const others = reader === 'envoy' ? ['GW_TLS_CERT_FILE', 'GW_TLS_KEY_FILE'] : [];
    const wanted = settingsOf[reader].filter((name) => reasonAgainstUp(name) === null && !others.includes(name));
    expect(passed.sort(), reader).toEqual(
      [...wanted, ...(reader === 'control-plane' ? ['GW_CREDENTIAL_ACME'] : [])].sort(),
    );
  }
});

it('gives no part a variable that this part ignores', () => {
  for (const name of Object.keys(process.env)) if (name.startsWith('GW_')) vi.stubEnv(name, '');
  const layout = layoutOf();
  for (const [reader, variables] of started(layout))
    expect(ignoredSettings(variables, reader, new Set(settingsOf[reader])), reader).toEqual([]);
});
