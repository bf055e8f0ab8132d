import { expect, test } from 'vitest';
import { readMigrateConfig } from './config.ts';

const databaseUrl = 'postgresql://gw@/gw?host=/run/pg';
const seeding = {
  GW_DATABASE_URL: databaseUrl,
  GW_SEED: 'demo',
  GW_KEY_PEPPER: 'ab'.repeat(32),
  GW_SEED_FILE: 'k.json',
};

test('without GW_SEED the database is only migrated, and the roles are named after the product', () => {
  const roles = { prefix: 'gw', passwords: {} };
  expect(readMigrateConfig({ GW_DATABASE_URL: databaseUrl })).toEqual({ databaseUrl, roles, seed: null });
});

test('the roles have a prefix of their own if it is set, and passwords where the server asks for one', () => {
  const rolesOf = (env: object) => readMigrateConfig({ GW_DATABASE_URL: databaseUrl, ...env }).roles;
  expect(rolesOf({ GW_DATABASE_ROLE_PREFIX: 'east' }).prefix).toBe('east');
  const password = 'a'.repeat(32);
  expect(rolesOf({ GW_DATABASE_PASSWORD_LEDGER: password }).passwords).toEqual({ ledger: password });
  const short = { GW_DATABASE_PASSWORD_EXT_AUTHZ: 'too-short' };
  expect(() => rolesOf(short)).toThrow('GW_DATABASE_PASSWORD_EXT_AUTHZ is not valid');
  expect(() => rolesOf(short)).not.toThrow('too-short');
  expect(() => rolesOf({ GW_DATABASE_ROLE_PREFIX: 'a;b' })).toThrow('GW_DATABASE_ROLE_PREFIX is not valid');
});

test('demo keys are hashed with the pepper in use, whose version is 1 unless said otherwise', () => {
  const pepperOf = (env: object) => readMigrateConfig({ ...seeding, ...env }).seed?.pepper;
  expect(pepperOf({})).toEqual({ version: 1, secret: Buffer.alloc(32, 0xab) });
  expect(pepperOf({ GW_KEY_PEPPER_VERSION: '2' })?.version).toBe(2);
  expect(() => pepperOf({ GW_KEY_PEPPER_VERSION: '0' })).toThrow('GW_KEY_PEPPER_VERSION is not valid');
  expect(() => pepperOf({ GW_KEY_PEPPER_VERSION: '32768' })).toThrow('GW_KEY_PEPPER_VERSION is above');
});

test('a provider of one’s own is described by its address, models, credential name and grid', () => {
  const provider = {
    GW_PROVIDER_URL: 'https://llm/v1',
    GW_PROVIDER_MODELS: 'a, b/c,',
    GW_PROVIDER_CREDENTIAL_REF: 'CUSTOM',
    GW_PROVIDER_GRID_ZONE: 'DEU',
  };
  expect(readMigrateConfig({ ...seeding, ...provider }).seed?.provider).toEqual({
    url: 'https://llm/v1',
    models: ['a', 'b/c'],
    credentialRef: 'CUSTOM',
    gridZone: 'DEU',
  });
  const inQuebec = { ...seeding, ...provider, GW_PROVIDER_GRID_ZONE: 'CA-QC' };
  expect(readMigrateConfig(inQuebec).seed?.provider).toMatchObject({ gridZone: 'CA-QC' });
});

test('all problems are reported together, and the pepper is not', () => {
  const broken = { GW_SEED: 'demo', GW_KEY_PEPPER: 'not-a-pepper', GW_SIM_URL: 'ftp://x', GW_PROVIDER_URL: 'x' };
  expect(() => readMigrateConfig(broken)).toThrow(
    /GW_DATABASE_URL[\s\S]*GW_KEY_PEPPER is not valid[\s\S]*GW_SEED_FILE[\s\S]*GW_SIM_URL[\s\S]*GW_PROVIDER_URL[\s\S]*GW_PROVIDER_MODELS/,
  );
  expect(() => readMigrateConfig(broken)).not.toThrow('not-a-pepper');
});
