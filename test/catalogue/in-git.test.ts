/** The catalogue as a file, as the page tells operators to type it: an edit takes effect on calls, and is undone again. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inCheckout } from '@gw/stack/checkout';
import { afterAll, expect, test } from 'vitest';
import { run } from '../cli/gateway-of-its-own.ts';
import { operatorVariables } from '../operator-api.ts';
import { eventually, messages, openAi, stack } from '../sdk/gateway.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-in-git-'));
const file = join(dir, 'gw.yaml');
const [, block = ''] =
  /^```sh\n(\.\/gw admin catalogue [\s\S]*?)^```/m.exec(readFileSync(inCheckout('docs/catalogue.md'), 'utf8')) ?? [];
const [exported = '', diffed = '', imported = ''] = block.replaceAll('gw.yaml', file).trim().split('\n');
const env = { ...process.env, ...operatorVariables(stack) };

async function shell(line: string): Promise<string> {
  const { code, err, out } = await run('sh', ['-c', line], env);
  expect(code, `${line}: ${err}`).toBe(0);
  return out;
}
const outcome = () =>
  openAi()
    .chat.completions.create({ model: 'git/m', messages, max_tokens: 4 })
    .then(
      () => '200',
      (error) => String(error.code),
    );
const becomes = (wanted: string) =>
  eventually(`calls to be answered with ${wanted}`, async () => ((await outcome()) === wanted ? true : null));

let original = '';
afterAll(async () => {
  // Even if the test has failed: others share the gateway.
  writeFileSync(file, original);
  await shell(imported);
  rmSync(dir, { recursive: true });
});

test('a file brings a model into service that was not there, and the file of before takes it out again', async () => {
  await shell(exported);
  original = readFileSync(file, 'utf8');
  expect(original).not.toContain('sk-');
  expect(await shell(diffed)).toBe('Nothing differs.\n');
  const model = '  - { id: git/m, owned_by: git, kind: chat, model_class: small }\n';
  const deployment =
    '  - { id: git-m, provider: simulator, region: eu-north, models: { git/m: sim-small }, pue: 1.1 }\n';
  const edited = original.replace('models:\n', `models:\n${model}`);
  writeFileSync(file, edited.replace('deployments:\n', `deployments:\n${deployment}`));
  expect(await shell(diffed)).toMatch(
    /^\+ model git\/m\n[\s\S]*\+ deployment git-m\n[\s\S]*2 added, 0 changed, 0 removed\.\n$/,
  );
  expect(await outcome()).toBe('invalid_model');
  await shell(imported);
  await becomes('200');
  writeFileSync(file, original);
  await shell(imported);
  await becomes('invalid_model');
});
