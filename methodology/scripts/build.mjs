/**
 * Builds the package as it is published: a folder of its own with bundled ES modules, their types, a package.json whose
 * exports name them, the documents of the methodologies, and the texts of the licences. In the workspace the sources
 * themselves are imported.
 *
 * Invariant: what is published is listed here and nothing else; the folder is made anew. It needs no other package and
 * nothing of Node: the build fails on an import that a browser does not have.
 *
 *   node scripts/build.mjs [folder]      default: dist
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const source = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const target = resolve(process.argv[2] ?? join(source, 'dist'));

/** The modules that a user of the package imports, by the names of the workspace's exports. */
const ofTheGateway = new Set(['./amounts', './factors', './lineage-digest', './internals/*']);
const { exports: faces } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
/** @type {readonly (readonly [name: string, file: string])[]} */
const modules = Object.entries(faces)
  .filter(([name]) => !ofTheGateway.has(name))
  .map(([name, file]) => [name.slice(2), file]);

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });

await build({
  absWorkingDir: source,
  entryPoints: modules.map(([name, file]) => ({ out: name, in: file })),
  outdir: target,
  bundle: true,
  splitting: true,
  chunkNames: 'shared/[hash]',
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  logLevel: 'warning',
});

writeTypes();
await writeDocuments();
writeManifest();
for (const name of ['README.md', 'methodologies.md', 'worked-example.md'])
  cpSync(join(source, name), join(target, name));
// The tables in the form that their licences ask for; the modules hold them too.
cpSync(join(source, 'data'), join(target, 'data'), { recursive: true });
for (const name of ['LICENSE', 'NOTICE']) cpSync(join(source, '..', name), join(target, name));
// Its code is within the modules.
cpSync(join(packageFolder('@noble/hashes/sha2.js'), 'LICENSE'), join(target, 'licences', 'noble-hashes.txt'));

/** @param {string} specifier a module at the top of its package */
function packageFolder(specifier) {
  return dirname(fileURLToPath(import.meta.resolve(specifier)));
}

/** The texts that the hashes are over, to the byte. */
async function writeDocuments() {
  const { methodologyIds, methodologyOf } = await import(pathToFileURL(join(target, 'methodologies.js')).href);
  mkdirSync(join(target, 'documents'));
  for (const id of methodologyIds) writeFileSync(join(target, 'documents', `${id}.json`), methodologyOf(id).document);
}

function writeTypes() {
  const configuration = join(target, 'tsconfig.json');
  writeFileSync(
    configuration,
    JSON.stringify({
      extends: join(source, '..', 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        emitDeclarationOnly: true,
        declaration: true,
        rewriteRelativeImportExtensions: true,
        rootDir: source,
        outDir: join(target, 'types'),
        typeRoots: [join(source, '..', 'node_modules/@types')],
      },
      include: [],
      files: modules.map(([, file]) => join(source, file)),
    }),
  );
  const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
  const compiler = join(dirname(manifest), JSON.parse(readFileSync(manifest, 'utf8')).bin.tsc);
  execFileSync(process.execPath, [compiler, '-p', configuration], { stdio: 'inherit' });
  rmSync(configuration);
}

function writeManifest() {
  // The modules contain all dependencies; the workspace itself, which has no JavaScript, is never published.
  const {
    dependencies: _,
    devDependencies: __,
    private: ___,
    scripts: ____,
    ...manifest
  } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const entries = modules.map(([name, file]) => [
    `./${name}`,
    { types: file.replace(/^\.\/(.*)\.ts$/, './types/$1.d.ts'), default: `./${name}.js` },
  ]);
  const published = {
    ...manifest,
    engines: { node: '>=20' },
    sideEffects: false,
    exports: { ...Object.fromEntries(entries), './documents/*': './documents/*', './package.json': './package.json' },
    files: ['**/*.js', '**/*.d.ts', 'data', 'documents', 'licences', '*.md', 'NOTICE'],
    publishConfig: { access: 'public' },
  };
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
}
