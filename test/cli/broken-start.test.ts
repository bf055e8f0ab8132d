import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inCheckout } from '@gw/stack/checkout';
import { startStack } from '@gw/stack/stack';
import { expect, test } from 'vitest';

test('a part that does not start ends the start with its own words, and leaves nothing running', async () => {
  const parent = process.env.GW_TEST_DIR ?? inCheckout('.gw');
  mkdirSync(parent, { recursive: true });
  const dir = mkdtempSync(join(parent, 'broken-'));
  const lines: string[] = [];
  const env = { 'receipt-sidecar': { GW_SIDECAR_LISTEN: undefined } };
  const start = startStack({ dir, durable: false, env, log: (line) => lines.push(line) });
  await expect(start).rejects.toThrow(/receipt-sidecar does not start: .*GW_SIDECAR_LISTEN is not set/);
  expect(lines.filter((line) => line.startsWith('receipt-sidecar was ended'))).not.toEqual([]);
  const left = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('postmaster.pid'),
  );
  expect(left).toEqual([]);
  rmSync(dir, { recursive: true, force: true });
});
