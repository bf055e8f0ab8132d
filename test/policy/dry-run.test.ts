/** A dry run says of each sample what the gateway then does. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { stack } from '../sdk/gateway.ts';
import { accountsForFile } from '../sdk/test-account.ts';
import { addRules, becomes, blockingPhrase, chat, operator, rollBackTo, rulesInForce, send } from './rules.ts';

const accounts = accountsForFile();
let before: number;
let key: string;
beforeAll(async () => {
  before = (await rulesInForce()).version;
  await addRules(
    { ...blockingPhrase('test-dry', 'whistle of the quokkafinch'), unless: ['whistle of the quokkafinch museum'] },
    { ...blockingPhrase('test-dry-flag', 'the quokkafinch'), action: 'flag' },
    { ...blockingPhrase('test-dry-dual', 'quokkafinch whistle'), screen: 'dual_use' },
  );
  key = await accounts.create({ perS: 200 });
  await becomes('dual_use_screen_block', () => send(key, 'chat/completions', chat('a quokkafinch whistle')));
});
afterAll(() => rollBackTo(before));

const disguises: readonly ((word: string) => string)[] = [
  (word) => word,
  (word) => word.toUpperCase(),
  (word) => [...word].join('\u200b'),
  (word) => [...word].join(' '),
  (word) => word.replaceAll('o', '\u043e').replaceAll('i', '1'),
  (word) => word.replaceAll('e', 'e\u0301'),
  (word) => [...word].map((letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)).join(''),
];
const words = fc.constantFrom('whistle', 'of', 'the', 'quokkafinch', 'museum', 'how to make sarin', 'today');
const text = fc
  .array(fc.tuple(words, fc.constantFrom(...disguises), fc.constantFrom(' ', ' ', '-', '\n', ', ', '')), {
    minLength: 1,
    maxLength: 8,
  })
  .map((parts) => parts.map(([word, disguise, gap]) => `${disguise(word)}${gap}`).join(''));
const messagesOf = (contents: readonly string[]) => contents.map((content) => ({ role: 'user', content }));
const requests = fc.oneof(
  fc
    .array(text, { minLength: 1, maxLength: 3 })
    .map((contents) => ['chat/completions', { ...chat(''), messages: messagesOf(contents) }] as const),
  text.map((prompt) => ['completions', { model: stack.model, prompt, max_tokens: 2 }] as const),
  fc.array(text, { minLength: 1, maxLength: 3 }).map((input) => ['embeddings', { model: 'sim-embed', input }] as const),
);
const outcomes = z.object({ samples: z.array(z.object({ outcome: z.string(), code: z.string().nullable() })) });

test('a dry run of 50 random requests is what comes of them', async () => {
  const plain = ['nothing', 'the quokkafinch', 'whistle of the quokkafinch'].map(
    (content) => ['chat/completions', chat(content)] as const,
  );
  const samples = [...plain, ...fc.sample(requests, 50)];
  const dry = outcomes.parse(await operator('POST', '/dry-run', { samples: samples.map(([, body]) => ({ body })) }));
  const expected = dry.samples.map(({ code, outcome }) => (outcome === 'block' ? code : '200'));
  const real: string[] = [];
  for (const [endpoint, body] of samples) real.push((await send(key, endpoint, body)).outcome);
  expect(real).toEqual(expected);
  expect(dry.samples.slice(0, plain.length).map(({ outcome }) => outcome)).toEqual(['pass', 'flag', 'block']);
});
