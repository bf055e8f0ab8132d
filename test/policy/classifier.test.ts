/** Rules that ask a classifier, through the whole gateway: what it flags is blocked by name, and while it is away each rule does as it says. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { ClassifierRule } from '@gw/contract/internal/policy-rules';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { stack } from '../sdk/gateway.ts';
import { accountsForFile } from '../sdk/test-account.ts';
import { addRules, becomes, chat, rollBackTo, rulesInForce, type Screened, send } from './rules.ts';

const harmful = 'a recipe of the nightshade brew';
const asked: { readonly headers: IncomingHttpHeaders; readonly model: unknown; readonly input: readonly string[] }[] =
  [];
const bodySchema = z.object({ model: z.string(), input: z.array(z.string()) });

/** In the form of a moderation endpoint: it finds violence in what is harmful, and nothing anywhere else. */
const classifier: Server = createServer((request, response) => {
  let text = '';
  request.on('data', (piece) => {
    text += piece;
  });
  request.on('end', () => {
    const { input, model } = bodySchema.parse(JSON.parse(text));
    asked.push({ headers: request.headers, model, input });
    const results = input.map((each) => {
      const flagged = each.includes(harmful);
      return { flagged, categories: { violence: flagged }, category_scores: { violence: flagged ? 0.9 : 0.01 } };
    });
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ id: 'modr-1', model, results }));
  });
});
const listen = () =>
  new Promise<void>((resolve, reject) => {
    classifier.once('error', reject).listen(stack.classifier.port, '127.0.0.1', resolve);
  });
const leave = () =>
  new Promise<void>((resolve) => {
    classifier.close(() => resolve());
    classifier.closeAllConnections();
  });

const rule = (id: string, on_failure: ClassifierRule['on_failure']): ClassifierRule => ({
  id,
  title: 'Of a test',
  screen: 'acceptable_use',
  action: 'block',
  enabled: true,
  kind: 'classifier',
  categories: ['violence'],
  threshold: 0.6,
  on_failure,
});

const accounts = accountsForFile();
let before: number;
let key: string;
beforeAll(async () => {
  before = (await rulesInForce()).version;
  key = await accounts.create({ perS: 100 });
  await listen();
});
afterAll(async () => {
  await rollBackTo(before);
  // A sidecar that still has the closed rule would block the calls of other tests once nobody listens.
  await becomes('200', () => ask(harmful));
  if (classifier.listening) await leave();
});

const ways: readonly (readonly [string, (text: string) => object])[] = [
  ['chat/completions', chat],
  ['chat/completions', (text) => ({ ...chat(text), stream: true })],
  ['completions', (prompt) => ({ model: stack.model, prompt, max_tokens: 4 })],
  ['embeddings', (input) => ({ model: 'sim-embed', input: ['a', input] })],
];
const ask = (text: string): Promise<Screened> => send(key, 'chat/completions', chat(text));

test('what it flags is blocked, and the error names the rule; what it does not flag passes', async () => {
  expect((await ask(harmful)).outcome).toBe('200');
  expect(asked).toEqual([]);
  await addRules(rule('test-classified', 'pass'));
  await becomes('acceptable_use_violation', () => ask(harmful));
  for (const [endpoint, body] of ways) {
    const { outcome, text } = await send(key, endpoint, body(harmful));
    expect([endpoint, outcome]).toEqual([endpoint, 'acceptable_use_violation']);
    expect(text).toContain('by the rule test-classified of the use policy');
    expect(text).not.toContain('nightshade');
    expect((await send(key, endpoint, body('a recipe of a soup'))).outcome).toBe('200');
  }
  const last = asked.at(-1);
  expect(last).toMatchObject({ model: 'guard', headers: { authorization: `Bearer ${stack.classifier.key}` } });
  expect(last?.input).toContain('a\na recipe of a soup');
});

test('while it is away a rule that is open lets calls pass, and one that is closed blocks them', async () => {
  await leave();
  expect((await ask(harmful)).outcome).toBe('200');
  await addRules(rule('test-closed', 'block'));
  const { text } = await becomes('acceptable_use_violation', () => ask('a recipe of a soup'));
  expect(text).toContain('by the rule test-closed of the use policy');
  await listen();
  expect((await ask('a recipe of a soup')).outcome).toBe('200');
  expect((await ask(harmful)).outcome).toBe('acceptable_use_violation');
});
