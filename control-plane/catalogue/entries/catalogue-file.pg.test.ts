/** `./gw admin catalogue export|diff|import`, as typed in a shell by an admin. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAdmin } from '@gw/cli/internals/commands/admin';
import { openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import { addAll, as, at, testApp, tokenOf, useTestApp, version } from '@gw/testing/control-plane/entries';
import { afterAll, beforeAll, expect, test } from 'vitest';

useTestApp();
let dir: string;
let file: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-yaml-'));
  file = join(dir, 'gw.yaml');
});
afterAll(() => rmSync(dir, { recursive: true }));

async function gw(...args: string[]): Promise<{ readonly out: string; readonly told: string }> {
  const said = { out: '', told: '' };
  const api = () => openOperatorApi({ url: testApp().operatorUrl, token: tokenOf('admin') });
  const print = (text: string) => {
    said.out += text;
  };
  const tell = (text: string) => {
    said.told += text;
  };
  expect(await runAdmin(args, { openApi: api, print, tell })).toBe(0);
  return said;
}
const refusal = (text: string): Promise<string> => {
  writeFileSync(file, text);
  return gw('catalogue', 'import', file).then(
    () => 'none',
    (error: Error) => error.message.replace(file, 'gw.yaml'),
  );
};

test('what is exported differs in nothing; what is edited is shown, and then applied', async () => {
  await addAll();
  const { out: yaml } = await gw('catalogue', 'export');
  writeFileSync(file, yaml);
  expect(await gw('catalogue', 'diff', file)).toEqual({ out: 'Nothing differs.\n', told: '' });
  const edited = yaml
    .replace('name: Warsaw', 'name: "Warszawa"')
    .replace(/ {2}- id: acme-pl\n(?: {4}.*\n)+/, '')
    .replace(
      'models:\n',
      'models:\n  - {id: acme/m-2, owned_by: acme, kind: chat, total_parameters_b: 8, active_parameters_b: 8}\n',
    );
  writeFileSync(file, edited);
  const before = await version();
  const diff = await gw('catalogue', 'diff', file);
  expect(diff.out.split('\n')).toEqual([
    '- deployment acme-pl',
    '+ model acme/m-2',
    '    owned_by: acme',
    '    kind: chat',
    '    modalities: ["text"]',
    '    takes_temperature: true',
    '    active_parameters_b: {"min":8,"max":8}',
    '    total_parameters_b: {"min":8,"max":8}',
    '~ region pl-east',
    '    name: Warsaw → Warszawa',
    '1 added, 1 changed, 1 removed.',
    '',
  ]);
  expect(diff.told).toBe(`To apply it: ./gw admin catalogue import ${file}\n`);
  expect(await version()).toBe(before);
  expect((await gw('catalogue', 'import', file)).out).toBe(diff.out);
  expect((await as('viewer')('GET', at('models', 'acme/m-2'))).statusCode).toBe(200);
  expect(await gw('catalogue', 'diff', file)).toMatchObject({ out: 'Nothing differs.\n' });
});

test('a provider in the own network is written with its mark, and read with it alone', async () => {
  await as('admin')('POST', at('providers'), {
    id: 'acme',
    name: 'Acme',
    base_url: 'http://gpu-1:8000/v1',
    local: true,
  });
  const { out: yaml } = await gw('catalogue', 'export');
  expect(yaml.match(/local: true/g)).toHaveLength(1);
  expect(yaml).toContain('base_url: http://gpu-1:8000/v1');
  writeFileSync(file, yaml);
  expect((await gw('catalogue', 'diff', file)).out).toBe('Nothing differs.\n');
  const unmarked = yaml.replace(/\n +local: true/, '');
  const line = unmarked.split('\n').findIndex((each) => each.includes('gpu-1')) + 1;
  expect(await refusal(unmarked)).toMatch(
    new RegExp(`^gw\\.yaml:${line}:\\d+: .*provider acme.*plain http to gpu-1:8000.*local: true`),
  );
  await as('admin')('DELETE', at('providers', 'acme'));
  writeFileSync(file, yaml);
  await gw('catalogue', 'import', file);
  expect((await as('viewer')('GET', at('providers', 'acme'))).json()).toMatchObject({ local: true });
});

test.each<[string, string, RegExp]>([
  ['is no YAML', 'regions:\n  - code: [x\n', /^gw\.yaml:\d:\d+: .*\]/],
  ['holds a key twice', 'models: []\nmodels: []\n', /^gw\.yaml:2:1: Map keys must be unique/],
  ['is empty', '', /^gw\.yaml:1:1: holds no catalogue/],
  ['is a list', '- a\n', /^gw\.yaml:1:1: holds no catalogue/],
  [
    'repeats without end',
    `a: &a [x, x]\n${[...'bcdefghijk'].map((name, at) => `${name}: &${name} [${`*${'abcdefghij'[at]},`.repeat(9)}]`).join('\n')}\n`,
    /^gw\.yaml:1:1: refers to itself/,
  ],
  [
    'has a wrong value',
    'regions:\n  - code: x\n    name: X\n    country: Xland\n    grid_zone: POL\n',
    /^gw\.yaml:4:14: .*country.*Nothing was changed\.$/,
  ],
  ['lacks a field', 'regions:\n  - code: x\n    name: X\n', /^gw\.yaml:2:5: .*regions\[0\]\.country.* is required/],
  ['has a field that nobody knows', 'regions: []\nregoins: []\n', /^gw\.yaml:2:10: .*regoins/],
  [
    'refers to what is not there',
    'deployments:\n  - {id: d, provider: nobody, region: us-east, models: {}, pue: 1}\n',
    /^gw\.yaml:2:23: .*no provider nobody/,
  ],
])('a file that %s is refused with its line and the reason, and the old state stays', async (_, text, message) => {
  const before = await version();
  expect(await refusal(text)).toMatch(message);
  expect(await version()).toBe(before);
});
