/** A setting that a user exports for `./gw up` reaches the parts that read it, and no other. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { loadSecrets } from './secrets.ts';
import { environmentOf, type Layout } from './stack-plans.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-plans-'));
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true, force: true });
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
  const layout: Layout = {
    dir,
    logs: dir,
    sockets: dir,
    secrets: loadSecrets(dir),
    ports: { public: 1, control: 2, simulator: 3 },
    furtherPorts: {},
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
  };
  const ofClassifier = (part: (typeof parts)[number]) =>
    Object.fromEntries(
      Object.entries(environmentOf(part, layout)).filter(([name]) => name.startsWith('GW_CLASSIFIER_')),
    );
  for (const part of parts) expect(ofClassifier(part), part).toEqual(part.startsWith('receipt-sidecar') ? told : {});
});
