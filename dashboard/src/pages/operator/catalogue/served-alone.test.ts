import { expect, test } from 'vitest';
import { servedAlone } from './served-alone.ts';

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
