/** The package as a user gets it: built, packed, and used by the example of the README. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const source = fileURLToPath(new URL('.', import.meta.url));
const user = mkdtempSync(join(tmpdir(), 'gw-methodology-'));
const installed = join(user, 'node_modules/@gw/methodology');
const readme = readFileSync(join(source, 'README.md'), 'utf8');
const blockOf = (language: string): string => new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(readme)?.[1] ?? '';
const node = (...args: string[]): string => execFileSync(process.execPath, args, { cwd: user, encoding: 'utf8' });

beforeAll(() => {
  node(join(source, 'scripts/build.mjs'), installed);
  writeFileSync(join(user, 'package.json'), '{"type":"module"}');
  writeFileSync(join(user, 'example.ts'), blockOf('ts'));
}, 60_000);
afterAll(() => rmSync(user, { recursive: true, force: true }));

describe('the published package', () => {
  it('runs the example of the README, which prints what the README says', () => {
    writeFileSync(join(user, 'example.js'), transformSync(blockOf('ts'), { loader: 'ts' }).code);
    expect(node('example.js')).toBe(blockOf('text'));
  });

  it('has the types that the example needs, without the sources', () => {
    const resolver = createRequire(import.meta.url);
    const compiler = resolver.resolve('typescript/package.json');
    const { bin } = JSON.parse(readFileSync(compiler, 'utf8')) as { bin: { tsc: string } };
    const types = dirname(resolver.resolve('@types/node/package.json'));
    mkdirSync(join(user, 'node_modules/@types'), { recursive: true });
    cpSync(types, join(user, 'node_modules/@types/node'), { recursive: true });
    cpSync(dirname(resolver.resolve('undici-types/package.json')), join(user, 'node_modules/undici-types'), {
      recursive: true,
    });
    const options = ['--strict', '--noEmit', '--target', 'es2023', '--module', 'nodenext', '--types', 'node'];
    expect(() => node(join(dirname(compiler), bin.tsc), ...options, 'example.ts')).not.toThrow();
    writeFileSync(join(user, 'wrong.ts'), blockOf('ts').replace("boundary: 'comprehensive'", "boundary: 'wide'"));
    expect(() => node(join(dirname(compiler), bin.tsc), ...options, 'wrong.ts')).toThrow();
  });

  it('holds modules, types, tables and licences, and no source or test', () => {
    const list = execFileSync('npm', ['pack', installed, '--dry-run', '--json', '--offline'], {
      cwd: user,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [packed] = JSON.parse(list) as { files: { path: string }[] }[];
    const paths = packed?.files.map(({ path }) => path) ?? [];
    for (const wanted of [
      'assess.js',
      'assess.d.ts',
      'recompute.js',
      'telemetry/greenpt.d.ts',
      'data/annual-grid.json',
    ]) {
      expect(paths).toContain(wanted);
    }
    expect(paths).toEqual(expect.arrayContaining(['LICENSE', 'NOTICE', 'README.md', 'package.json']));
    expect(paths.filter((path) => /\.test\.|testdata|(?<!\.d)\.ts$|tsconfig/.test(path))).toEqual([]);
  });
});
