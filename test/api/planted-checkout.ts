/**
 * A checkout whose parts speak one API more, which a test plants: a line among the routes of the contract with its entry in the
 * OpenAPI document, a line among the shapes, and its name among those of all APIs and of those that providers usually speak.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkout, inCheckout } from '@gw/stack/checkout';
import { build, type Plugin } from 'esbuild';

export interface PlantedApi {
  readonly path: string;
  /** The module that exports the shape, and the name of the export. */
  readonly module: string;
  readonly shape: string;
}

const replaced = (file: string, from: string, to: string): string => {
  const text = readFileSync(file, 'utf8');
  if (!text.includes(from)) throw new Error(`${file} has no ${JSON.stringify(from)}.`);
  return text.replace(from, to);
};

const plantingOf = ({ module, path, shape }: PlantedApi): Plugin => ({
  name: 'planted-api',
  setup: (hooks) => {
    const plant = (filter: RegExp, after: string, planted: string, imports = '') =>
      hooks.onLoad({ filter }, ({ path: file }) => ({
        contents: `${imports}\n${replaced(file, after, `${after}${planted}, `)}`,
        loader: 'ts',
      }));
    plant(
      /\/contract\/routes\.ts$/,
      'export const routes: readonly Route[] = [',
      `{ method: 'POST', path: '${path}', scope: 'inference:write', limit: 'calls', handler: 'sidecar', needsActive: true, summary: '' }`,
    );
    plant(
      /\/contract\/openapi\/openapi-operations\.ts$/,
      'export const operations: Readonly<Record<string, Operation>> = {',
      `'POST ${path}': { id: 'planted', request: completionRequestSchema, response: completionResponseSchema }`,
    );
    plant(
      /\/receipt-sidecar\/api\/shapes\.ts$/,
      'export const shapes: readonly ApiShape[] = [',
      shape,
      `import { ${shape} } from ${JSON.stringify(module)};`,
    );
    plant(/\/contract\/api-names\.ts$/, 'export const apiNames = [', `'${shape}'`);
    plant(/\/contract\/internal\/catalogue\/apis\.ts$/, 'export const usualApis: readonly ApiName[] = [', `'${shape}'`);
    const isOurs = /^(?:@gw\/|#|\.|\/)/;
    hooks.onResolve({ filter: /^[^./]/ }, ({ kind, path: name }) =>
      kind === 'entry-point' || isOurs.test(name) ? undefined : { path: name, external: true },
    );
  },
});

/** Builds the parts that a call passes through. Returns the folder of the checkout, and what removes it. */
export async function plantApi(api: PlantedApi): Promise<{ readonly dir: string; readonly remove: () => void }> {
  const dir = mkdtempSync(inCheckout('node_modules', '.planted-'));
  mkdirSync(join(dir, 'dist'));
  cpSync(inCheckout('dist', 'health-worker.js'), join(dir, 'dist', 'health-worker.js'));
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}');
  symlinkSync(inCheckout('node_modules'), join(dir, 'node_modules'));
  cpSync(inCheckout('envoy'), join(dir, 'envoy'), { recursive: true });
  await build({
    entryPoints: {
      'ext-authz': inCheckout('ext-authz', 'main.ts'),
      'receipt-sidecar': inCheckout('receipt-sidecar', 'main.ts'),
      'body-worker': inCheckout('receipt-sidecar', 'call', 'body-worker.ts'),
      'render-envoy': inCheckout('envoy', 'render-main.ts'),
    },
    outdir: join(dir, 'dist'),
    absWorkingDir: checkout,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    loader: { '.lua': 'text' },
    logLevel: 'error',
    plugins: [plantingOf(api)],
  });
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
