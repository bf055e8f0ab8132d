/**
 * Makes a checkout runnable: installs the packages, generates code, builds the bundles. Each step has a stamp of
 * everything that it depends on and is skipped while that is the same, so a second start costs a fraction of a second.
 *
 * Plain JavaScript without packages, since it runs before there are any.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { compileReplyEnd, compilerOf, replyEnd } from './reply-end.mjs';
import { at, Failure, root, run } from './run-step.mjs';

/** Bundle → entry point; a part whose entry is not there is left out. */
const bundles = {
  cli: 'cli/main.ts',
  'ext-authz': 'ext-authz/main.ts',
  'receipt-sidecar': 'receipt-sidecar/main.ts',
  'control-plane': 'control-plane/main.ts',
  // The thread that hashes credentials; the control plane starts it as a file.
  'hash-worker': 'control-plane/people/access/hash-worker.js',
  // The thread that reads large bodies; the sidecar starts it as a file.
  'body-worker': 'receipt-sidecar/call/body-worker.ts',
  // The thread that serves the health of a service, which starts it as a file.
  'health-worker': 'service/health/health-worker.js',
  // Prints the OpenAPI document of the operators' port, of which the pages' types are made.
  'operator-document': 'control-plane/operator-document-main.ts',
  simulator: 'simulator/main.ts',
  migrate: 'prisma/migrate-main.ts',
  'render-envoy': 'envoy/render-main.ts',
  bench: 'bench/main.ts',
  'bare-sidecar': 'bench/bare-sidecar/main.ts',
};

/** @param {readonly string[]} files */
function digest(files, extra = '') {
  const hash = createHash('sha256').update(extra);
  for (const file of files) hash.update(`\0${relative(root, file)}\0`).update(readFileSync(file));
  return hash.digest('hex');
}

/**
 * Runs `step` unless it has succeeded before for the same `stamp` and its `result` is still there.
 *
 * @param {string} name
 * @param {string} stamp
 * @param {string} result
 * @param {() => Promise<void>} step
 */
async function once(name, stamp, result, step) {
  const file = at('.deps', 'stamps', name);
  if (existsSync(result) && existsSync(file) && readFileSync(file, 'utf8') === stamp) return;
  await step();
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, stamp);
}

/**
 * True if an optional package is made for this very machine. npm chooses among those for a C library.
 *
 * @param {{ os?: string | string[], cpu?: string | string[], libc?: unknown }} entry
 */
const isForThisMachine = ({ os, cpu, libc }) =>
  [os].flat().includes(process.platform) && [cpu].flat().includes(process.arch) && libc === undefined;

/** True if every package of the lock file is installed in that very version; npm notes what it installed. */
function isInstalled() {
  const installed = at('node_modules', '.package-lock.json');
  if (!existsSync(installed)) return false;
  const there = JSON.parse(readFileSync(installed, 'utf8')).packages;
  const wanted = JSON.parse(readFileSync(at('package-lock.json'), 'utf8')).packages;
  return Object.entries(wanted).every(([path, entry]) => {
    if (!path.includes('node_modules/')) return true;
    if (entry.link) return existsSync(at(path));
    if (entry.optional && !there[path]) return !isForThisMachine(entry);
    return there[path]?.version === entry.version;
  });
}

/** npm would otherwise keep its downloads and logs in the home folder. */
const cache = process.env.npm_config_cache || at('.deps', 'npm-cache');

async function install() {
  if (isInstalled()) return;
  await run('Installing packages', 'npm', ['ci', '--no-audit', '--no-fund', '--no-update-notifier'], {
    npm_config_cache: cache,
  });
}

async function generate() {
  const lock = at('package-lock.json');
  await once(
    'protos',
    digest([lock, at('grpc', 'package.json'), at('grpc', 'generate.mjs')]),
    at('grpc', 'generated', 'protocols.json'),
    () =>
      run('Generating protocol types', 'npm', ['run', '--silent', 'generate', '--workspace=grpc'], {
        npm_config_cache: cache,
      }),
  );
  const filter = at('envoy', 'first-event');
  await once(
    'first-event',
    digest([
      lock,
      join(filter, 'compile.mjs'),
      join(filter, 'filter.as'),
      at('contract', 'internal', 'first-event.ts'),
      at('contract', 'internal', 'safety-words.ts'),
    ]),
    at('envoy', 'generated', 'first-event.ts'),
    () => run('Compiling the filter of first events', process.execPath, [join(filter, 'compile.mjs')]),
  );
  const compiler = compilerOf(process.env.PATH);
  await once('reply-end', digest([replyEnd.source], `${compiler} ${process.arch}`), replyEnd.module, () =>
    compileReplyEnd(compiler),
  );
  // Only the client is generated, which needs no native engine; naming a stand-in keeps Prisma from downloading one.
  const quiet = {
    PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true',
    CHECKPOINT_DISABLE: '1',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    HOME: at('.deps', 'home'),
    XDG_CONFIG_HOME: at('.deps', 'home'),
  };
  const schema = at('prisma', 'schema.prisma');
  await once('client', digest([lock, schema]), at('prisma', 'generated', 'client.ts'), () =>
    run(
      'Generating the database client',
      at('node_modules', '.bin', 'prisma'),
      ['generate', '--config', 'prisma/prisma.config.ts'],
      quiet,
    ),
  );
}

const notSources = new Set(['node_modules', 'dist', 'docs', 'test']);

/**
 * @param {string} folder
 * @returns {string[]}
 */
function sources(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.name.startsWith('.') || notSources.has(entry.name) || path === at('methodology', 'generated')) return [];
    if (entry.isDirectory()) return sources(path);
    const isSource = /\.(tsx?|js|mjs|json|lua|html|svg|css)$/.test(entry.name) && !/\.(test|d)\.ts$/.test(entry.name);
    return isSource ? [path] : [];
  });
}

/** Deletes the compile cache of former bundles. It stays if a process that is just ending still writes to it. */
function forgetCompiled() {
  try {
    rmSync(at('.deps', 'compile-cache'), { recursive: true, force: true });
  } catch {
    // It costs room on the disk alone.
  }
}

/** The types are made beside the pages, whose build does not read them, so their progress is not shown. */
async function generateTypes() {
  const generator = at('dashboard', 'generate-types.mjs');
  const types = at('dashboard', 'generated', 'operator-api.d.ts');
  const stamp = digest([at('package-lock.json'), generator, at('dist', 'operator-document.js')]);
  await once('operator-types', stamp, types, () =>
    run('Generating the types of the dashboard', process.execPath, [generator], {}, () => () => {}),
  );
}

/** The pages of the operators' port. They change places with the former ones once they are whole: a gateway may be serving those. */
async function buildDashboard() {
  const next = at('dist', `.dashboard-${process.pid}`);
  const vite = at('node_modules', 'vite', 'bin', 'vite.js');
  try {
    // Tests may build it too, and Vite would make larger pages for another environment than this.
    const environment = { NODE_ENV: 'production' };
    await run(
      'Building the dashboard',
      process.execPath,
      [vite, 'build', at('dashboard'), '--outDir', next],
      environment,
    );
    rmSync(at('dist', 'dashboard'), { recursive: true, force: true });
    renameSync(next, at('dist', 'dashboard'));
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
}

async function bundle() {
  await run('Compiling the formulas', process.execPath, [at('methodology', 'scripts', 'compile.mjs')]);
  const started = Date.now();
  const { build } = await import('esbuild');
  const next = at('dist', `.next-${process.pid}`);
  const entryPoints = Object.entries(bundles)
    .filter(([, entry]) => existsSync(at(entry)))
    .map(([out, entry]) => ({ out, in: at(entry) }));
  // Packages of npm stay outside; our own, which are TypeScript, go into the bundle.
  const isOurs = (/** @type {string} */ path) => path.startsWith('@gw/') || path.startsWith('#');
  /** @type {import('esbuild').Plugin} */
  const external = {
    name: 'external-packages',
    setup: (hooks) =>
      hooks.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
        kind === 'entry-point' || isOurs(path) ? undefined : { path, external: true },
      ),
  };
  try {
    await build({
      entryPoints,
      outdir: next,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      sourcemap: true,
      loader: { '.lua': 'text' },
      plugins: [external],
      logLevel: 'error',
    });
    // Renaming file by file: a process that starts meanwhile sees the old or the new file, never half of one.
    for (const file of readdirSync(next)) renameSync(join(next, file), at('dist', file));
  } catch (cause) {
    const [reason] = String(cause instanceof Error ? cause.message : cause).split('\n');
    throw new Failure(`The build failed: ${reason}`);
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
  forgetCompiled();
  process.stderr.write(`Built in ${((Date.now() - started) / 1000).toFixed(1)} s\n`);
}

try {
  const lock = at('package-lock.json');
  await once(
    'packages',
    digest([lock], `${process.platform} ${process.arch}`),
    at('node_modules', '.package-lock.json'),
    install,
  );
  await generate();
  // The formulas are compiled on the way, and other steps read them.
  const compiled = at('methodology', 'generated', 'receipt.ts');
  const bundled = existsSync(compiled) ? at('dist', 'cli.js') : compiled;
  await once('bundles', digest(sources(root).sort()), bundled, bundle);
  const pages = ['dashboard', 'methodology', 'evidence', 'contract'].flatMap((name) => sources(at(name))).sort();
  await Promise.all([
    generateTypes(),
    once('dashboard', digest([lock, ...pages]), at('dist', 'dashboard', 'index.html'), buildDashboard),
  ]);
  for (const left of ['npm-cache', 'home']) rmSync(at('.deps', left), { recursive: true, force: true });
} catch (cause) {
  if (!(cause instanceof Failure)) throw cause;
  process.stderr.write(`gw: ${cause.message}\n`);
  process.exitCode = 1;
}
