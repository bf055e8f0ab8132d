/** The gauges show operators the state of long packs. */
import { startStores } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { registerPacks } from './gauges.ts';

const stores = forFile(startStores);

test('the gauges have packs of each state, also those of which there are none, and the bytes of all', async () => {
  const registry = new Registry();
  registerPacks(registry, stores.db);
  expect(await registry.metrics()).toContain('gw_evidence_packs{state="queued"} 0\n');
  const pack = { accountId: 'acct_gauge', format: 'csv', request: {}, createdAt: new Date(), changedAt: new Date() };
  await stores.db.evidencePack.createMany({
    data: [
      { ...pack, id: 'pack_1', state: 'ready', keptBytes: 1000 },
      { ...pack, id: 'pack_2', state: 'ready', keptBytes: 200 },
      { ...pack, id: 'pack_3', state: 'queued' },
    ],
  });
  const text = await registry.metrics();
  for (const line of ['gw_evidence_packs{state="ready"} 2', 'gw_evidence_packs{state="queued"} 1'])
    expect(text).toContain(`${line}\n`);
  expect(text).toContain('gw_evidence_packs{state="failed"} 0\n');
  expect(text).toMatch(/^gw_evidence_pack_bytes 1200$/m);
});
