/** The walls between the packages are held by the static checks of `./gw check`: what is planted here is found by them. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inCheckout } from '@gw/stack/checkout';
import { afterEach, beforeEach, expect, test } from 'vitest';

let dir: string;

/** A checkout with the settings and manifests of this one, and nothing else in it. */
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-walls-'));
  const { workspaces } = JSON.parse(readFileSync(inCheckout('package.json'), 'utf8')) as { workspaces: string[] };
  const settings = ['package.json', 'biome.json', 'knip.json', 'tsconfig.json', '.gitignore'];
  for (const file of [...settings, ...workspaces.map((workspace) => join(workspace, 'package.json'))])
    cpSync(inCheckout(file), join(dir, file));
  symlinkSync(inCheckout('node_modules'), join(dir, 'node_modules'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function plant(file: string, text: string): void {
  mkdirSync(dirname(join(dir, file)), { recursive: true });
  writeFileSync(join(dir, file), text);
}

function check(tool: string, ...args: string[]): { passed: boolean; said: string } {
  const { status, stdout, stderr } = spawnSync(inCheckout('node_modules', '.bin', tool), args, {
    cwd: dir,
    encoding: 'utf8',
  });
  return { passed: status === 0, said: `${stdout}${stderr}` };
}
const style = () =>
  check('biome', 'check', '--error-on-warnings', '--linter-enabled=true', '--max-diagnostics=200', '.');

test('an allowed import passes, and an internal of another package in a test', () => {
  plant('receipt-sidecar/a.ts', "import { x } from '@gw/contract/errors';\n\nexport const used = [x];\n");
  plant('cli/a.test.ts', "import { x } from '@gw/contract/internals/x';\n\nexport const used = [x];\n");
  expect(style()).toMatchObject({ passed: true });
});

/** From the top down. */
const sidecarRooms = [
  'call',
  'admission',
  'reply',
  'receipt',
  'routing',
  'attempts',
  'guards',
  'ledger',
  'api',
  'catalogue',
  'wire',
];

test('a forbidden import is found', () => {
  const forbidden = {
    'a service by another service': ['receipt-sidecar/a.ts', '@gw/ext-authz/check'],
    'an upper floor': ['contract/b.ts', '@gw/service/log'],
    'anything of ours by the methodology': ['methodology/c.ts', '@gw/contract/errors'],
    'what serves tests, by the product': ['control-plane/d.ts', '@gw/testing/control-plane/fixtures'],
    'an internal of another package': ['control-plane/e.ts', '@gw/contract/internals/x'],
    'another package by a path': ['ext-authz/keys/f.ts', '../../contract/errors.ts'],
    'a package of its own floor by a path': ['prisma/g.ts', '../service/log.ts'],
    'screening by a path': ['control-plane/ledger/h.ts', '../../policy/compile.ts'],
    'what serves tests, by a path': ['receipt-sidecar/i.ts', '../testing/stores.ts'],
    ...Object.fromEntries(
      sidecarRooms.map((room, at): [string, [string, string]] => [
        `what lies above the room ${room} of the sidecar`,
        [`receipt-sidecar/${room}/j.ts`, at === 0 ? '../start.ts' : `../${sidecarRooms[at - 1]}/x.ts`],
      ]),
    ),
    'an upper room of the sidecar, from a folder of a room': ['receipt-sidecar/api/k/l.ts', '../../call/call.ts'],
    'what wires the sidecar': ['receipt-sidecar/wire/m.ts', '../config.ts'],
  } satisfies Record<string, [string, string]>;
  for (const [file, specifier] of Object.values(forbidden))
    plant(file, `import { x } from '${specifier}';\n\nexport const used = [x];\n`);
  const { passed, said } = style();
  for (const [name, [file]] of Object.entries(forbidden))
    expect(said, name).toMatch(new RegExp(`^${file}:.* lint/style/noRestrictedImports`, 'm'));
  expect(passed).toBe(false);
});

test('an import circle is found, also one of types', () => {
  plant('contract/a.ts', "import type { B } from './b.ts';\n\nexport type A = B | null;\n");
  plant('contract/b.ts', "import type { A } from './a.ts';\n\nexport type B = { a: A };\n");
  const { passed, said } = style();
  expect(said).toContain('lint/suspicious/noImportCycles');
  expect(passed).toBe(false);
});

test('a promise that nobody awaits is found', () => {
  plant(
    'service/a.ts',
    'const wait = async (): Promise<void> => undefined;\n\nexport const start = () => {\n  wait();\n};\n',
  );
  const { passed, said } = style();
  expect(said).toContain('lint/nursery/noFloatingPromises');
  expect(passed).toBe(false);
});

test('a file of more than 250 lines is found', () => {
  plant('service/a.ts', `export const lines = [\n${'  0,\n'.repeat(250)}];\n`);
  const { passed, said } = style();
  expect(said).toContain('lint/style/noExcessiveLinesPerFile');
  expect(passed).toBe(false);
});

test('a function that is longer than 50 lines is found, but for one that says why', () => {
  const body = '  n += 1;\n'.repeat(50);
  const long = (name: string) => `export function ${name}(n: number): number {\n${body}  return n;\n}\n`;
  const reason = '// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the reason.\n';
  plant('service/a.ts', long('unexplained'));
  plant('service/b.ts', `${reason}${long('explained')}`);
  const { passed, said } = style();
  expect(said).toMatch(/^service\/a\.ts:.* lint\/complexity\/noExcessiveLinesPerFunction/m);
  expect(said).not.toContain('service/b.ts');
  expect(passed).toBe(false);
});

test('an export that nobody uses is found', () => {
  plant('contract/a.ts', 'export const used = 1;\nexport const unusedPlant = 2;\n');
  plant('contract/a.test.ts', "import { used } from './a.ts';\n\nused.toFixed();\n");
  const { passed, said } = check('knip');
  expect(said).toMatch(/^unusedPlant +contract\/a\.ts/m);
  expect(said).not.toMatch(/^used /m);
  expect(passed).toBe(false);
});
