/**
 * The package as a user gets it: built, packed, installed from the tarball into an empty folder without a network, and
 * used there by the example of the README, in Node and with only what a browser has.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { build, transformSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { methodologyIds, methodologyOf } from './documents/methodologies.ts';

const source = fileURLToPath(new URL('.', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'gw-methodology-'));
const [built, user] = [join(folder, 'built'), join(folder, 'user')];
const installed = join(user, 'node_modules/@gw/methodology');
const readme = readFileSync(join(source, 'README.md'), 'utf8');
const blockOf = (language: string): string => new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(readme)?.[1] ?? '';
const node = (...args: string[]): string => execFileSync(process.execPath, args, { cwd: user, encoding: 'utf8' });
const inUser = (name: string, text: string) => writeFileSync(join(user, name), text);
/** Without a network, and with nothing in its cache that a package could come from. */
const npm = (cwd: string, ...args: string[]): string =>
  execFileSync('npm', [...args, '--offline', '--cache', join(folder, 'cache')], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });

beforeAll(() => {
  execFileSync(process.execPath, [join(source, 'scripts/build.mjs'), built]);
  const [packed] = JSON.parse(npm(folder, 'pack', built, '--json')) as { filename: string }[];
  mkdirSync(user);
  inUser('package.json', '{"type":"module","private":true}');
  npm(user, 'install', join(folder, packed?.filename ?? ''));
  inUser('example.ts', blockOf('ts'));
  inUser('example.js', transformSync(blockOf('ts'), { loader: 'ts' }).code);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Manifest {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies?: unknown;
  readonly private?: unknown;
}
const manifest = (): Manifest => JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Manifest;

/** Returns what a module prints with only ECMAScript and the globals of every browser. */
async function inBrowser(entry: string): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: user,
    stdin: { contents: entry, resolveDir: user },
    bundle: true,
    format: 'iife',
    platform: 'browser',
    write: false,
  });
  const lines: string[] = [];
  const page = createContext({ TextEncoder, console: { log: (line: string) => lines.push(`${line}\n`) } });
  runInContext(outputFiles[0]?.text ?? '', page);
  return lines.join('');
}

describe('the published package', () => {
  it('needs no other package', () => {
    expect(readdirSync(join(user, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['@gw']);
    expect(readdirSync(join(user, 'node_modules/@gw'))).toEqual(['methodology']);
    expect(manifest()).not.toHaveProperty('dependencies');
  });

  it('runs the example of the README, which prints what the README says', () => {
    expect(node('example.js')).toBe(blockOf('text'));
  });

  it('runs that example in a browser too, without anything of Node', async () => {
    expect(await inBrowser(readFileSync(join(user, 'example.js'), 'utf8'))).toBe(blockOf('text'));
  });

  it('has no module that a browser could not load', async () => {
    const modules = Object.keys(manifest().exports).filter((name) => !/\*|\.json$/.test(name));
    const imports = modules.map((name, at) => `import * as m${at} from '@gw/methodology/${name.slice(2)}';`);
    const all = modules.map((_, at) => `m${at}`).join(', ');
    expect(await inBrowser(`${imports.join('\n')}\nconsole.log([${all}].length);`)).toBe(`${modules.length}\n`);
    expect(modules.length).toBeGreaterThan(10);
  });

  it('has the types that the example needs, without the sources and without those of Node', () => {
    const compiler = createRequire(import.meta.url).resolve('typescript/package.json');
    const { bin } = JSON.parse(readFileSync(compiler, 'utf8')) as { bin: { tsc: string } };
    const options = {
      strict: true,
      noEmit: true,
      target: 'es2022',
      module: 'nodenext',
      lib: ['es2022', 'dom'],
      types: [],
    };
    const compiled = (file: string) => {
      inUser('tsconfig.json', JSON.stringify({ compilerOptions: options, files: [file] }));
      return node(join(dirname(compiler), bin.tsc), '-p', '.');
    };
    expect(() => compiled('example.ts')).not.toThrow();
    inUser('wrong.ts', blockOf('ts').replace("boundary: 'comprehensive'", "boundary: 'wide'"));
    expect(() => compiled('wrong.ts')).toThrow();
  });

  it('holds the document of every methodology, whose SHA-256 is its hash', () => {
    for (const id of methodologyIds) {
      const bytes = readFileSync(join(installed, 'documents', `${id}.json`));
      expect(`sha256:${createHash('sha256').update(bytes).digest('hex')}`).toBe(methodologyOf(id).hash);
    }
  });

  it('holds modules, types, tables and licences, and no source or test', () => {
    const paths = readdirSync(installed, { recursive: true, encoding: 'utf8' });
    for (const wanted of [
      'assess.js',
      'types/receipt/assess.d.ts',
      'recompute.js',
      'types/facts/telemetry/greenpt.d.ts',
    ])
      expect(paths).toContain(wanted);
    const texts = ['LICENSE', 'NOTICE', 'README.md', 'data/annual-grid.json', 'licences/noble-hashes.txt'];
    expect(paths).toEqual(expect.arrayContaining([...texts, 'data/ecologits-mixes.json']));
    expect(paths.filter((path) => /\.test\.|testdata|(?<!\.d)\.ts$|tsconfig/.test(path))).toEqual([]);
    const notice = readFileSync(join(installed, 'NOTICE'), 'utf8');
    for (const owed of [
      'EcoLogits',
      'Mozilla Public License',
      'Ember',
      'Creative Commons Attribution 4.0',
      'CodeCarbon',
    ])
      expect(notice).toContain(owed);
  });

  it('has a README whose links lead to files of the package', () => {
    const links = [...readme.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, target = '']) => target);
    expect(links.filter((target) => !existsSync(join(installed, target)))).toEqual([]);
  });

  it('could be published: npm corrects nothing in it and warns of nothing but the missing login', () => {
    expect(manifest()).not.toHaveProperty('private');
    const { status, stderr } = spawnSync('npm', ['publish', '--dry-run', '--offline'], {
      cwd: built,
      encoding: 'utf8',
    });
    expect(stderr.match(/^npm (?:warn publish|error).*$/gm)).toEqual([expect.stringContaining('to be logged in')]);
    expect(status).toBe(0);
  });
});
