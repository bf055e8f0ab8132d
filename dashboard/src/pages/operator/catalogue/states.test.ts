import { expect, test } from 'vitest';
import type { Credential, DeploymentHealth } from '../../../api/types.ts';
import { credentialState, healthOf, priceStates, servedAlone } from './states.ts';

const provider = { id: 'acme', base_url: 'https://llm.acme.example/v1', credential_ref: 'ACME' };
const credential = { name: 'ACME', origin: 'https://llm.acme.example', readable: true } as Credential;
const deployment = { id: 'acme-pl', provider: 'acme', region: 'pl', models: { m: 'm' } };
const health = (known: boolean, data: object[] = []) => ({ object: 'list', known, data }) as DeploymentHealth;
const well = {
  regions: [{ code: 'pl', status: 'active' as const }],
  providers: [provider],
  credentials: [credential],
  health: health(true),
};
const labels = (known: object, of = deployment) => healthOf(of, { ...well, ...known }).map(({ label }) => label);

test('a credential is set, missing, for another address, or cannot be opened', () => {
  expect(credentialState(provider, [credential])).toBe('set');
  expect(credentialState(provider, [{ ...credential, origin: null }])).toBe('set');
  expect(credentialState(provider, [])).toBe('missing');
  expect(credentialState({ ...provider, base_url: 'https://other.example/v1' }, [credential])).toBe('elsewhere');
  expect(credentialState(provider, [{ ...credential, readable: false }])).toBe('unreadable');
  expect(credentialState({ ...provider, credential_ref: null }, [])).toBe('none');
});

test('a deployment is well only if it is known to be', () => {
  expect(labels({})).toEqual(['no trouble known']);
  expect(labels({ health: undefined })).toEqual([]);
  expect(labels({ health: health(false) })).toEqual(['not known']);
});

test('all that keeps calls away from a deployment is said', () => {
  const trouble = { deployment: 'acme-pl', model: 'm', failures: 6, failed_at: '2026-11-26T11:00:00.000Z' };
  const troubles = [
    { ...trouble, status: 'saturated' },
    { ...trouble, status: 'auth_failed' },
    { ...trouble, deployment: 'another', status: 'degraded' },
  ];
  const known = { regions: [{ code: 'pl', status: 'degraded' }], credentials: [], health: health(true, troubles) };
  expect(labels(known, { ...deployment, models: {} as typeof deployment.models })).toEqual([
    'region in incident mode',
    'offers no model',
    'credential missing',
    'reports overload',
    'refuses its credential',
  ]);
});

const regions = [
  { code: 'se', status: 'active' },
  { code: 'fr', status: 'active' },
  { code: 'us', status: 'degraded' },
] as const;
const deployments: Parameters<typeof servedAlone>[2] = [
  { region: 'se', models: { small: 's', large: 'l', only: 'o' } },
  { region: 'se', models: { only: 'o2' } },
  { region: 'fr', models: { small: 's' } },
  { region: 'us', models: { large: 'l' } },
];

test('a region serves alone what no other active one does', () => {
  expect(servedAlone('se', regions, deployments)).toEqual(['large', 'only']);
  expect(servedAlone('fr', regions, deployments)).toEqual([]);
  expect(servedAlone('nowhere', regions, deployments)).toEqual([]);
});

const price = (id: string, valid_from: string, region: string | null = null) => ({
  id,
  valid_from,
  region,
  provider: 'acme',
  model: 'm',
});

test('of each provider, model and region the newest price that has begun is in force', () => {
  const prices = [
    price('new', '2026-11-01T00:00:00.000Z'),
    price('old', '2026-01-01T00:00:00.000Z'),
    price('regional', '2026-01-01T00:00:00.000Z', 'se'),
    price('next', '2026-12-01T00:00:00.000Z'),
  ];
  expect([...priceStates(prices, Date.parse('2026-11-26T00:00:00Z'))]).toEqual([
    ['new', 'now'],
    ['old', 'over'],
    ['regional', 'now'],
    ['next', 'later'],
  ]);
});
