/**
 * Runs generate.ts, which compiles the documents of the methodologies, on any Node that runs the workspace: bundled first, since
 * not each of them runs TypeScript.
 *
 *   node scripts/compile.mjs
 */
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

// Beside the source, where it finds the packages that it imports.
const script = new URL(`.generate-${process.pid}.mjs`, import.meta.url);
// Packages of npm stay outside; our own, which are TypeScript, go into the bundle.
/** @type {import('esbuild').Plugin} */
const external = {
  name: 'external-packages',
  setup: (hooks) =>
    hooks.onResolve({ filter: /^[^./]/ }, ({ kind, path }) =>
      kind === 'entry-point' || path.startsWith('@gw/') || path.startsWith('#') ? undefined : { path, external: true },
    ),
};
try {
  await build({
    entryPoints: [fileURLToPath(new URL('generate.ts', import.meta.url))],
    outfile: fileURLToPath(script),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    plugins: [external],
    logLevel: 'error',
  });
  const { writeGenerated } = await import(script.href);
  writeGenerated();
} finally {
  rmSync(script, { force: true });
}
