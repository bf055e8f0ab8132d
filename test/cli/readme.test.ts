/** This test types the commands of the README, against the shared stack. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkout, inCheckout } from '@gw/stack/checkout';
import { expect, test } from 'vitest';
import { pythonWithClient } from '../sdk/python-client.ts';
import { stack } from '../shared-stack.ts';
import { run } from './gateway-of-its-own.ts';

const readme = readFileSync(inCheckout('README.md'), 'utf8');

/** The first block of that language that holds `marker`, with the address of the shared stack. */
function block(language: string, marker: string): string {
  const blocks = [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))];
  const found = blocks.map((each) => each[1] ?? '').find((text) => text.includes(marker));
  if (!found) throw new Error(`The README has no ${language} block with ${marker}.`);
  return found.replaceAll('http://127.0.0.1:8080', stack.publicUrl);
}

const env = { ...process.env, GW_KEY: stack.keys.audit };
const reads = /\d Wh \d[\d.e-]* g CO2e in [a-z-]+\n$/;

test('the curl answers with a receipt and a routing trace; its key is found where the README looks', async () => {
  const script = block('sh', 'curl -sS').replace('./.gw/run.json', join(stack.dir, 'run.json'));
  const { out, err } = await run('sh', ['-c', script], process.env);
  const reply = JSON.parse(out || JSON.stringify(err));
  expect(reply.choices[0].message.content).toBeTypeOf('string');
  expect(reply.gw.object).toBe('gw.receipt');
  expect(reply.routing_trace.region).toBe(reply.gw.region);
});

test('the Node example prints the answer and its receipt', async () => {
  const { code, out, err } = await run(process.execPath, ['--input-type=module', '-e', block('js', 'openai')], env);
  expect(err).toBe('');
  expect(code).toBe(0);
  expect(out).toMatch(reads);
});

test('the Python example prints the answer and its receipt', async () => {
  const python = await pythonWithClient(console.log);
  const { code, out, err } = await run(python, ['-c', block('python', 'openai')], env);
  expect(code, err).toBe(0);
  expect(out).toMatch(reads);
}, 240_000);

test('every file that the README points to is there', () => {
  const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)/g)].map((found) => found[1] ?? '');
  expect(links.length).toBeGreaterThan(5);
  expect(links.filter((link) => !existsSync(join(checkout, link)))).toEqual([]);
});
