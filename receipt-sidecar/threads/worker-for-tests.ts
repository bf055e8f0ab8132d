/** The thread's bundle, made of the sources at hand: Node itself reads no TypeScript here. */
import { mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { build } from 'esbuild';
import { resourceLimits } from './body-threads.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export interface BundleForTests {
  readonly start: () => Worker;
  readonly remove: () => void;
}

/** Lies within the checkout, so that it finds the packages. */
export async function bodyWorkerForTests(): Promise<BundleForTests> {
  const dir = mkdtempSync(join(root, 'node_modules', '.body-worker-'));
  const outfile = join(dir, 'body-worker.mjs');
  const external = {
    name: 'external-packages',
    setup: (hooks: import('esbuild').PluginBuild) =>
      hooks.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
        kind === 'entry-point' || path.startsWith('@gw/') ? undefined : { path, external: true },
      ),
  };
  await build({
    entryPoints: [join(root, 'receipt-sidecar', 'threads', 'body-worker.ts')],
    ...{ outfile, bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'error' },
    plugins: [external],
  });
  return {
    start: () => new Worker(outfile, { resourceLimits }),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}
