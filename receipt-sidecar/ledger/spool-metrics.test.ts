import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { expect, onTestFinished, test } from 'vitest';
import { createSpoolMetrics } from './spool-metrics.ts';

test('metrics tell how many receipts wait on the disk, and for how long', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gwspool-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, bytes, age] of [
    ['a.spool', 10, 5],
    ['a-1-000000.replay', 100, 3600],
    ['a.reserve', 1000, 0],
    ['a-1-000001.damaged', 1000, 9999],
  ] as const) {
    writeFileSync(join(folder, name), 'x'.repeat(bytes));
    utimesSync(join(folder, name), Date.now() / 1000, Date.now() / 1000 - age);
  }
  const registry = new Registry();
  const metrics = createSpoolMetrics(folder);
  onTestFinished(() => metrics.stop());
  metrics.register(registry);
  await expect.poll(() => registry.metrics()).toMatch(/^gw_spool_files 2$/m);
  expect(await registry.metrics()).toMatch(/^gw_spool_bytes 110$/m);
  expect(await registry.metrics()).toMatch(/^gw_spool_oldest_seconds 36\d\d/m);
});
