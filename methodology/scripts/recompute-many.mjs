/**
 * Makes random receipts of all tiers and methodologies and recomputes each from its lineage. Fails if one number differs,
 * or if a single change of a lineage goes unseen.
 *
 *   node scripts/recompute-many.mjs [count]      default: 10000
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const count = Number(process.argv[2] ?? 10_000);
const folder = mkdtempSync(join(tmpdir(), 'gw-recompute-'));
try {
  const outfile = join(folder, 'lineages.mjs');
  await build({
    absWorkingDir: resolve(fileURLToPath(import.meta.url), '../..'),
    entryPoints: ['testdata/lineages.ts'],
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile,
    logLevel: 'warning',
  });
  const { recomputeMany } = await import(pathToFileURL(outfile).href);
  const start = performance.now();
  const { measured, same, unseen } = recomputeMany(count);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${same} of ${count} receipts, ${measured} of them measured, follow from their lineages (${seconds} s)`);
  if (unseen.length > 0) console.log(`changed unseen: ${unseen.join(', ')}`);
  if (same !== count || unseen.length > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
