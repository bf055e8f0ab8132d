import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { databaseSettings } from '@gw/prisma/roles';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from './config.ts';

const good = {
  GW_CONTROL_INTERNAL_LISTEN: 'unix:/run/gw/control.sock',
  GW_PROBE_LISTEN: 'unix:/run/gw/envoy-probe.sock',
  ...databaseSettings(() => 'postgresql://gw@localhost/gw'),
  GW_REDIS_URL: '/run/valkey.sock',
  GW_INTERNAL_TOKEN: 'x'.repeat(32),
  GW_KEY_PEPPER: 'ab'.repeat(32),
  GW_LEDGER_KEY: 'cd'.repeat(32),
  GW_LEDGER_ENTRY_KEY: 'ce'.repeat(32),
  GW_WITNESS_KEY: 'ee'.repeat(32),
  GW_EVIDENCE_KEY: 'e1'.repeat(32),
  GW_NAMES_KEY: 'a3'.repeat(32),
  GW_OBJECTS_DIR: '/var/lib/gw/objects',
  GW_IDEMPOTENCY_KEY: 'ab'.repeat(32),
};

test('credentials are read by their reference, an empty one counts as absent', () => {
  const { credentials } = loadConfig({ ...good, GW_CREDENTIAL_OPENAI: 'sk-1\n', GW_CREDENTIAL_EMPTY: '' });
  expect(() => loadConfig({ ...good, GW_CREDENTIAL_ODD: 'sk\nx-evil: 1' })).toThrow(
    /GW_CREDENTIAL_ODD is not one line/,
  );
  expect([...credentials.environment]).toEqual([['OPENAI', 'sk-1']]);
  expect(credentials).toMatchObject({ dir: null, vault: null });
});

test('the key that encrypts credentials has its form, and the previous one stands beside it alone', () => {
  const key = 'ef'.repeat(32);
  expect(loadConfig({ ...good, GW_CREDENTIALS_KEY: key }).credentials.vault).not.toBeNull();
  expect(() => loadConfig({ ...good, GW_CREDENTIALS_KEY: 'short' })).toThrow(
    /GW_CREDENTIALS_KEY does not have the right form/,
  );
  expect(() => loadConfig({ ...good, GW_CREDENTIALS_KEY_PREVIOUS: key })).toThrow(/GW_CREDENTIALS_KEY is needed/);
});

test('problems of the grid sources are reported together with the others', () => {
  const wrong = { ...good, GW_REDIS_URL: '', GW_GRID_SOURCES: 'SWE=electricity-maps:SE,GBR=weather' };
  expect(() => loadConfig(wrong)).toThrow(/GW_REDIS_URL[\s\S]*"GBR=weather"[\s\S]*GW_GRID_ELECTRICITY_MAPS_KEY/);
});

test('problems of the counters of GPUs are reported together with the others', () => {
  const wrong = { ...good, GW_REDIS_URL: '', GW_GPU_COUNTERS: '{"a":{"energy":"sum(x)","tokens":["y"]}}' };
  expect(() => loadConfig(wrong)).toThrow(/GW_REDIS_URL[\s\S]*a\.energy: is not a metric/);
});

test('the settings of evidence packs have defaults and bounds, and what is wrong is named with an example', () => {
  expect(loadConfig(good).packs).toEqual({ quotaBytes: 5_000_000_000, builds: 1, timestampUrl: null });
  const timestampUrl = 'https://tsa.example.com/tsr';
  const set = { GW_EVIDENCE_QUOTA_MB: '1', GW_EVIDENCE_BUILDS: '0', GW_TIMESTAMP_URL: timestampUrl };
  expect(loadConfig({ ...good, ...set }).packs).toEqual({ quotaBytes: 1_000_000, builds: 0, timestampUrl });
  for (const [name, text] of [
    ['GW_EVIDENCE_QUOTA_MB', '0'],
    ['GW_EVIDENCE_BUILDS', '17'],
    ['GW_EVIDENCE_BUILDS', '-1'],
    ['GW_EVIDENCE_KEY', 'e1'],
    ['GW_TIMESTAMP_URL', 'http://tsa.example.com/tsr'],
    ['GW_TIMESTAMP_URL', 'https://me@tsa.example.com/tsr'],
    ['GW_TIMESTAMP_URL', 'https://:secret@tsa.example.com/tsr'],
  ] as const)
    expect(() => loadConfig({ ...good, [name]: text }), `${name}=${text}`).toThrow(name);
  const other = 'A'.repeat(43);
  expect(() => loadConfig({ ...good, GW_EVIDENCE_PUBLIC_KEYS: other })).toThrow(
    /GW_EVIDENCE_PUBLIC_KEYS does not begin with the public part of GW_EVIDENCE_KEY[\s\S]*Example/,
  );
});

test('the key of evidence can be in a file, or stay in a key service', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'gw-key-')), 'seed');
  onTestFinished(() => rmSync(dirname(file), { recursive: true }));
  writeFileSync(file, `${'e1'.repeat(32)}\n`);
  const { publicJwk } = loadConfig(good).evidenceKey;
  expect(loadConfig({ ...good, GW_EVIDENCE_KEY: `file:${file}` }).evidenceKey.publicJwk).toEqual(publicJwk);
  writeFileSync(file, 'e1');
  expect(() => loadConfig({ ...good, GW_EVIDENCE_KEY: `file:${file}` })).toThrow('GW_EVIDENCE_KEY does not have');
  expect(() => loadConfig({ ...good, GW_EVIDENCE_KEY: 'file:/no/seed' })).toThrow('/no/seed cannot be read');
  const remote = {
    ...good,
    GW_EVIDENCE_KEY: 'https://bao.example.com:8200/v1/transit/keys/gw?version=2',
    GW_EVIDENCE_KEY_TOKEN_FILE: file,
    GW_EVIDENCE_PUBLIC_KEYS: publicJwk.x,
  };
  expect(loadConfig(remote).evidenceKey.publicJwk).toEqual(publicJwk);
  for (const [name, value] of [
    ['GW_EVIDENCE_KEY', 'http://bao.example.com/v1/transit/keys/gw'],
    ['GW_EVIDENCE_KEY', 'https://bao.example.com/v1/transit/gw'],
    ['GW_EVIDENCE_KEY', 'https://me:secret@bao.example.com/v1/transit/keys/gw'],
    ['GW_EVIDENCE_KEY_TOKEN_FILE', ''],
    ['GW_EVIDENCE_PUBLIC_KEYS', ''],
  ] as const)
    expect(() => loadConfig({ ...remote, [name]: value }), `${name}=${value}`).toThrow(name);
});

test('a second internal token is taken while the two are exchanged, and has the same form', () => {
  expect(loadConfig(good)).toMatchObject({ internalToken: 'x'.repeat(32), previousInternalToken: null });
  const previous = 'y'.repeat(32);
  expect(loadConfig({ ...good, GW_INTERNAL_TOKEN_PREVIOUS: previous })).toMatchObject({
    previousInternalToken: previous,
  });
  expect(() => loadConfig({ ...good, GW_INTERNAL_TOKEN_PREVIOUS: 'y' })).toThrow(/GW_INTERNAL_TOKEN_PREVIOUS does not/);
});

test('every problem is reported at once, and no secret is', () => {
  const secret = 'short-secret';
  expect(() => loadConfig({ GW_INTERNAL_TOKEN: secret })).toThrow(
    /GW_CONTROL_INTERNAL_LISTEN[\s\S]*GW_DATABASE_URL[\s\S]*GW_REDIS_URL[\s\S]*GW_INTERNAL_TOKEN/,
  );
  expect(() => loadConfig({ GW_INTERNAL_TOKEN: secret })).not.toThrow(secret);
});
