import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const repository = dirname(dirname(fileURLToPath(import.meta.url)));
const wings = ['people', 'customers', 'catalogue', 'ledger', 'shared'];
const imports = [
  ...wings.map((wing) => `../../${wing}/folder/file.ts`),
  '../../app.ts',
  '../../services.ts',
  '@gw/ext-authz/check',
  '@gw/contract/catalogue',
];

let dir: string;
let report: string;
/** A file in each wing that imports everything, judged by the settings of the repository. */
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-wings-'));
  copyFileSync(join(repository, 'biome.json'), join(dir, 'biome.json'));
  for (const wing of wings) {
    const folder = join(dir, 'control-plane', wing, 'planted');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'file.ts'), imports.map((from) => `import '${from}';\n`).join(''));
  }
  const biome = join(repository, 'node_modules/.bin/biome');
  const options = ['--only=style/noRestrictedImports', '--vcs-enabled=false', '--max-diagnostics=none'];
  const { stderr, stdout } = spawnSync(biome, ['lint', ...options, '.'], { cwd: dir, encoding: 'utf8' });
  report = stdout + stderr;
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test.each([
  ['people', ['customers', 'catalogue', 'ledger']],
  ['customers', ['catalogue', 'ledger']],
  ['catalogue', ['customers', 'ledger']],
  ['ledger', ['customers']],
  ['shared', ['people', 'customers', 'catalogue', 'ledger']],
])('%s may import neither %j, nor the app, nor another service', (wing, others) => {
  const found = [...report.matchAll(/control-plane\/(\w+)\/planted\/file\.ts:(\d+):\d+ lint/g)];
  const refused = found.flatMap(([, of, line]) => (of === wing ? (imports[Number(line) - 1] ?? '') : []));
  const neighbours = others.map((other) => `../../${other}/folder/file.ts`);
  expect(refused.sort()).toEqual([...neighbours, '../../app.ts', '../../services.ts', '@gw/ext-authz/check'].sort());
});
