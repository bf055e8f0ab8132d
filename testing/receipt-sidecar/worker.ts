/** Bundles the worker of the body threads from the sources. */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { resourceLimits } from '@gw/receipt-sidecar/internals/wire/threads/body-threads';
import { inCheckout } from '@gw/stack/checkout';
import { build } from 'esbuild';

export interface BundleForTests {
  readonly start: () => Worker;
  readonly remove: () => void;
}

/** The bundle lies within the checkout, so that it finds the packages. */
export async function bodyWorkerForTests(): Promise<BundleForTests> {
  const dir = mkdtempSync(inCheckout('node_modules', '.body-worker-'));
  const outfile = join(dir, 'body-worker.mjs');
  const external = {
    name: 'external-packages',
    setup: (hooks: import('esbuild').PluginBuild) =>
      hooks.onResolve({ filter: /^[^#./]/ }, ({ path, kind }) =>
        kind === 'entry-point' || path.startsWith('@gw/') ? undefined : { path, external: true },
      ),
  };
  await build({
    entryPoints: [inCheckout('receipt-sidecar', 'call', 'body-worker.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    plugins: [external],
  });
  return {
    start: () => new Worker(outfile, { resourceLimits }),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}
