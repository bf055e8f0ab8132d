/** The catalogue applied from a file a hundred times and a credential rotated ten times, under 32 connections: no call fails. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { apiOf } from '../operator-api.ts';
import { eventually, startOwnGateway } from '../outage/own-gateway.ts';
import { startLoad } from '../outage/steady-load.ts';

const gateway = forFile(startOwnGateway);

const entries = z.array(z.record(z.string(), z.unknown()));
const documentSchema = z.object({ models: entries, regions: entries, providers: entries, deployments: entries });
type Document = z.infer<typeof documentSchema>;
const path = '/operator/v1/catalogue';

/** Each turn another mix: a region more or less, another preference, a deployment more or less, another PUE. */
function changed(original: Document, turn: number): Document {
  const region = { code: 'git', name: 'Git', country: 'FR', grid_zone: 'FRA', preference: turn % 3 };
  const extra = { id: 'git', provider: 'simulator', region: 'git', models: { 'sim-small': 'sim-small' }, pue: 1.2 };
  const isThere = turn % 2 === 0;
  return {
    ...original,
    regions: [
      ...original.regions.map((each, at) =>
        at === turn % original.regions.length ? { ...each, preference: turn } : each,
      ),
      ...(isThere ? [region] : []),
    ],
    deployments: [
      ...original.deployments.map((each) => ({ ...each, pue: 1 + (turn % 10) / 10 })),
      ...(isThere ? [extra] : []),
    ],
  };
}

test('a hundred changes and ten rotations, and every call is answered whole', async () => {
  const api = apiOf(gateway.stack);
  const credential = '/operator/v1/credentials/SIM';
  const rotate = () => api.send('PUT', credential, { value: `sk-${randomBytes(16).toString('hex')}` });
  await api.send('PUT', credential, { value: 'sk-first', base_url: gateway.stack.simulatorUrl });
  await api.send('PATCH', '/operator/v1/providers/simulator', { credential_ref: 'SIM', auth_header: 'authorization' });
  const seen = z.object({ requests: z.array(z.object({ headers: z.record(z.string(), z.unknown()) })) });
  await eventually('the credential to be used', async () => {
    await gateway.client.chat();
    const { requests } = seen.parse(await (await fetch(`${gateway.stack.simulatorUrl}/sim/requests?limit=1`)).json());
    return requests.some(({ headers }) => headers.authorization === 'sk-first');
  });
  const original = documentSchema.parse(await api.get(path));
  const load = startLoad(gateway.stack, 200);
  for (let turn = 0; turn < 100; turn += 1) {
    await api.send('PUT', path, changed(original, turn));
    if (turn % 10 === 5) await rotate();
    await delay(1000);
  }
  await api.send('PUT', path, original);
  await delay(3000);
  const failed = await load.stop();
  console.log({ calls: load.ended.length, failed: failed.length });
  expect(failed.map(({ outcome }) => outcome)).toEqual([]);
  expect(await api.send('PUT', `${path}?dry_run=true`, original)).toMatchObject({ changes: [] });
}, 600_000);
