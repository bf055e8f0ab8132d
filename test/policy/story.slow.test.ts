/** Rules and exemptions from the outside: what operators type takes effect on calls while the gateway runs. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { policyRulesSchema } from '@gw/contract/internal/policy-rules';
import { compileRules } from '@gw/policy/compile';
import { inCheckout } from '@gw/stack/checkout';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../cli/gateway-of-its-own.ts';
import { operatorVariables } from '../operator-api.ts';
import { stack } from '../sdk/gateway.ts';
import { accountsForFile } from '../sdk/test-account.ts';
import {
  accountOf,
  addRules,
  becomes,
  blockingPhrase,
  chat,
  operator,
  rollBackTo,
  rulesInForce,
  send,
} from './rules.ts';

const accounts = accountsForFile();
let before: number;
let dir: string;
let [one, other]: string[] = [];
beforeAll(async () => {
  dir = mkdtempSync(join(stack.dir, 'policy-'));
  before = (await rulesInForce()).version;
  [one, other] = [await accounts.create({ perS: 100 }), await accounts.create({ perS: 100 })];
});
afterAll(async () => {
  await rollBackTo(before);
  rmSync(dir, { recursive: true, force: true });
});

const ask = (key = '', content = 'tell of the quokkafinch') => send(key, 'chat/completions', chat(content));

const phrase = 'tell of the quokkafinch';
const message = (content: unknown) => ({ role: 'user', content });
const chatOf = (...messages: object[]) => ({ ...chat(''), messages });
const ways: [string, string, object][] = [
  ['a chat', 'chat/completions', chat(phrase)],
  ['a streamed chat', 'chat/completions', { ...chat(phrase), stream: true }],
  ['a completion', 'completions', { model: stack.model, prompt: phrase, max_tokens: 4 }],
  ['a streamed completion', 'completions', { model: stack.model, prompt: ['a', phrase], max_tokens: 4, stream: true }],
  ['an embedding', 'embeddings', { model: 'sim-embed', input: phrase }],
  ['a list to embed', 'embeddings', { model: 'sim-embed', input: ['a', phrase] }],
  [
    'a chat split over messages',
    'chat/completions',
    chatOf(message('tell of '), message('the quokka'), message('finch')),
  ],
  [
    'a chat split over parts',
    'chat/completions',
    chatOf(message(['tell of', 'the', 'quokkafinch'].map((text) => ({ type: 'text', text })))),
  ],
  ['a chat in disguise', 'chat/completions', chat('T\u00adell of the Qu\u043ekk\u0430\u200bf\u00efnch')],
  [
    'a description of a tool',
    'chat/completions',
    {
      ...chat('hi'),
      tools: [{ type: 'function', function: { name: 'f', description: phrase, parameters: { type: 'object' } } }],
    },
  ],
];

test('a rule that is published blocks every way of asking, spares others, and is gone after a roll-back', async () => {
  for (const [name, endpoint, body] of ways)
    expect([name, (await send(one ?? '', endpoint, body)).outcome]).toEqual([name, '200']);
  await addRules(blockingPhrase('test-story', phrase));
  await becomes('acceptable_use_violation', () => ask(one));
  for (const [name, endpoint, body] of ways)
    expect([name, (await send(one ?? '', endpoint, body)).outcome]).toEqual([name, 'acceptable_use_violation']);
  expect((await ask(one, 'tell of the finch')).outcome).toBe('200');

  await operator('POST', '/exemptions', {
    account_id: await accountOf(accounts.db, one),
    rule_id: 'test-story',
    reason: 'a test',
  });
  await becomes('200', () => ask(one));
  expect((await ask(other)).outcome).toBe('acceptable_use_violation');
  await operator('DELETE', `/exemptions/${await accountOf(accounts.db, one)}/test-story`);
  await becomes('acceptable_use_violation', () => ask(one));

  await operator('PATCH', '/rules/test-story', { action: 'flag', note: 'a test' });
  await becomes('200', () => ask(other));
  await operator('PATCH', '/rules/test-story', { action: 'block', note: 'a test' });
  await becomes('acceptable_use_violation', () => ask(other));
  await rollBackTo(before);
  await becomes('200', () => ask(one));
});

const page = readFileSync(inCheckout('docs/use-policy.md'), 'utf8');
const blocks = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(([, language = '', code = '']) => ({
  language,
  code,
}));
const env = { ...process.env, ...operatorVariables(stack) };
const shell = async (line: string): Promise<string> => {
  const { code, err, out } = await run('sh', ['-c', line.replaceAll(/\brules\.json/g, `${dir}/rules.json`)], env);
  expect(code, `${line}: ${err}`).toBe(0);
  return out;
};

test('what the page tells operators to type does what it says', async () => {
  await rollBackTo(1);
  const lines = blocks.flatMap(({ code, language }) =>
    language === 'sh' && code.startsWith('./gw') ? code.trim().split('\n') : [],
  );
  expect(lines).toHaveLength(10);
  const outputs = new Map<string, string[]>();
  for (const line of lines) {
    const verb = line.split(' ')[3] ?? '';
    outputs.set(verb, [...(outputs.get(verb) ?? []), await shell(line)]);
    // Else publishing it would change nothing.
    if (line.endsWith('> rules.json')) {
      const file = join(dir, 'rules.json');
      const shown = JSON.parse(readFileSync(file, 'utf8'));
      writeFileSync(file, JSON.stringify({ ...shown, rules: [...shown.rules, blockingPhrase('test-page', phrase)] }));
    }
  }
  const out = (verb: string, at = 0): string => outputs.get(verb)?.[at] ?? '';
  expect(out('dry-run')).toMatch(/^text 1 +block +dual_use_screen_block +chemical-weapons/m);
  expect(out('dry-run')).toMatch(/^text 2 +pass +-/m);
  expect(out('dry-run')).toContain('"added":["test-page"]');
  expect(out('publish')).toMatch(/^test-page +acceptable_use +block/m);
  expect(out('versions').split('\n')[1]).toContain('Quarterly review');
  expect(out('set')).toMatch(/^chemical-weapons +dual_use +flag/m);
  expect(out('roll-back')).toMatch(/^chemical-weapons +dual_use +block/m);
  expect(out('exemptions')).toContain('Licensed by the national authority');
  expect(out('dry-run', 1)).toMatch(/^text 1 +(pass|block) .*chemical-weapons +block +true/m);
  expect(await shell('./gw admin policy exemptions --account acct_demo_enterprise')).toBe('None.\n');
});

test('the rules that the page shows are rules that can be published', async () => {
  const [shown] = blocks.filter(({ code, language }) => language === 'json' && code.startsWith('['));
  const rules = policyRulesSchema.parse(JSON.parse(shown?.code ?? 'null'));
  expect(compileRules(rules)).toMatchObject({ ok: true });
  const samples = ['Our project bluebird', 'project bluebird museum', 'Please design a centrifuge cascade'].map(
    (text) => ({ text }),
  );
  expect(await operator('POST', '/dry-run', { rules, samples })).toMatchObject({
    samples: [{ outcome: 'flag' }, { outcome: 'pass' }, { outcome: 'block', code: 'dual_use_screen_block' }],
  });
});
