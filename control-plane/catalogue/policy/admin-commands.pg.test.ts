import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAdmin } from '@gw/cli/internals/commands/admin';
import { openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import { account, pattern, phrases, publish, testApp, tokenOf, useTestApp } from '@gw/testing/control-plane/policy';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

let url: string;
let dir: string;
useTestApp();
const rules = [phrases('one', 'the first phrase'), pattern('two', 'second wording', 'second')];
beforeAll(async () => {
  url = testApp().operatorUrl;
  dir = mkdtempSync(join(tmpdir(), 'gw-policy-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));
beforeEach(async () => {
  await testApp().context.db.policyExemption.deleteMany();
  await publish(rules);
});

/** As typed in a shell. `%` stands for the folder of the test's files. */
async function gw(line: string, role: 'admin' | 'support' = 'admin'): Promise<string> {
  let out = '';
  const args = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  const print = (text: string) => {
    out += text;
  };
  const openApi = () => openOperatorApi({ url, token: tokenOf(role) });
  expect(
    await runAdmin(
      args.map((arg) => arg.replace('%', dir)),
      { openApi, print, tell: print },
    ),
  ).toBe(0);
  return out;
}
const json = async (line: string) => JSON.parse(await gw(`${line} --json`));
const write = (name: string, content: unknown) => writeFileSync(join(dir, name), JSON.stringify(content));

test('what is shown as JSON is changed by hand and published', async () => {
  const shown = await json('policy show');
  write('rules.json', { ...shown, rules: [...shown.rules, phrases('three', 'third phrase')] });
  const published = await json('policy publish %/rules.json --note "a third one"');
  expect(published).toMatchObject({ version: shown.version + 1, note: 'a third one', rules: { length: 3 } });
  await expect(gw('policy publish %/rules.json --note again')).rejects.toThrow('(invalid_transition)');
  write('list.json', rules);
  await expect(gw('policy publish %/list.json --note x')).rejects.toThrow('--based-on');
  expect((await json(`policy publish %/list.json --note x --based-on ${published.version}`)).rules).toEqual(rules);
  const versions = await json('policy versions');
  expect(versions.map(({ version }: { version: number }) => version)).toEqual(
    Array.from({ length: published.version + 1 }, (_, at) => published.version + 1 - at),
  );
});

test('people see the rules, the versions and the defaults as tables', async () => {
  expect(await gw('policy show')).toMatch(/^one +acceptable_use +block +true +phrases +1 +The rule one$/m);
  expect(await gw('policy versions')).toMatch(/^1 .*the rules that the software came with$/m);
  expect(await gw('policy show --version 1')).toMatch(/^version +1$/m);
  expect(await gw('policy show --version defaults')).toMatch(/^sha256 +[0-9a-f]{64}$/m);
  expect(await gw('policy --help')).toMatch(/^ +dry-run/m);
});

test('a rule is switched off, and an older version brought back', async () => {
  const { version } = await json('policy show');
  expect(await gw('policy set one --enabled no --note "false alarms"')).toMatch(/^one +acceptable_use +block +false/m);
  expect((await json('policy set two --action block --note stricter')).rules[1].action).toBe('block');
  expect(await json(`policy roll-back ${version} --note back`)).toMatchObject({ version: version + 3, rules });
  await expect(gw('policy set one --note x')).rejects.toThrow('Nothing to change');
  await expect(gw('policy set one --enabled perhaps --note x')).rejects.toThrow('--enabled takes yes or no');
  await expect(gw('policy set none --enabled no --note x')).rejects.toThrow('(invalid_policy_rule)');
});

test('support tries rules on texts and requests, and publishes none', async () => {
  write('draft.json', [phrases('draft', 'some words')]);
  write('body.json', { messages: [{ role: 'user', content: 'With some words.' }] });
  writeFileSync(join(dir, 'text.txt'), 'The first phrase.');
  const line = 'policy dry-run --rules %/draft.json --text "Some words!" --text-file %/text.txt --body %/body.json';
  const out = await gw(line, 'support');
  expect(out).toMatch(/^text 1 +block +acceptable_use_violation +draft +block +false$/m);
  expect(out).toMatch(/text\.txt +pass +- /);
  expect(out).toMatch(/body\.json +block +acceptable_use_violation +draft +block +false$/m);
  expect(out).toMatch(/^changes +\{"added":\["draft"\],"removed":\["one","two"\],"changed":\[\]\}$/m);
  expect(await gw('policy dry-run --text "the first phrase"', 'support')).toMatch(/^text 1 +block/m);
  expect((await json('policy dry-run --version 1')).samples).toEqual([]);
  await expect(gw('policy publish %/draft.json --note x --based-on 1', 'support')).rejects.toThrow('role admin');
});

test('accounts are exempted, listed and held to the rules again', async () => {
  expect(await gw('policy exemptions')).toBe('None.\n');
  await gw(`policy exempt ${account} one --reason "a licensed laboratory"`);
  expect(await gw(`policy exemptions --account ${account}`)).toMatch(/ one +.*a licensed laboratory$/m);
  const run = await json(`policy dry-run --account ${account} --text "the first phrase"`);
  expect(run.samples).toMatchObject([{ outcome: 'pass', matches: [{ exempt: true }] }]);
  expect(await json(`policy unexempt ${account} one`)).toMatchObject({ deleted: true });
  await expect(gw(`policy unexempt ${account} one`)).rejects.toThrow('(invalid_policy_exemption)');
});

test('a file that cannot be read says so, without what is in it', async () => {
  writeFileSync(join(dir, 'broken.json'), '{"prompt": "confidential');
  expect(readFileSync(join(dir, 'broken.json'), 'utf8')).toContain('confidential');
  const failed = gw('policy dry-run --body %/broken.json').catch(String);
  expect(await failed).toMatch(/broken\.json is not JSON\.$/);
  await expect(gw('policy publish %/none.json --note x')).rejects.toThrow('cannot be read');
  write('other.json', { of: 'something else' });
  await expect(gw('policy publish %/other.json --note x')).rejects.toThrow('neither a list of rules nor an object');
});
