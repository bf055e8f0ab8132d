/** Builds the pages into `dist/dashboard`, each file also compressed; `control-plane/dashboard.ts` serves them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const compressible = /\.(js|css|svg)$/;

/** Once at the build instead of at each request. */
const compressed: Plugin = {
  name: 'compressed',
  apply: 'build',
  writeBundle({ dir = '' }) {
    const assets = join(dir, 'assets');
    for (const name of readdirSync(assets)) {
      if (!compressible.test(name)) continue;
      const bytes = readFileSync(join(assets, name));
      writeFileSync(join(assets, `${name}.br`), brotliCompressSync(bytes));
      writeFileSync(join(assets, `${name}.gz`), gzipSync(bytes, { level: 9 }));
    }
  },
};

export default defineConfig({
  root: import.meta.dirname,
  base: '/dashboard/',
  // The server puts a new one there for each request.
  html: { cspNonce: '{nonce}' },
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    // All files, since a page may load nothing but its own.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // Lists the licences of the packages in the scripts.
    license: { fileName: 'assets/licences.txt' },
  },
  // Modules, so that the parser of certificates is a file of its own, which is loaded for packs that have some.
  worker: { format: 'es' },
  // For changes: the pages as they are written, with the port of a running gateway behind them.
  server: {
    proxy: Object.fromEntries(
      ['/session', '/organisation', '/operator', '/healthz', '/metrics'].map((path) => [path, 'http://127.0.0.1:8081']),
    ),
  },
  plugins: [compressed],
});
