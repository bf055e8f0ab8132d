/** The form of an API is known in its own folder alone: adding one changes no other folder of the hot path. */
import { readdirSync, readFileSync } from 'node:fs';
import { inCheckout } from '@gw/stack/checkout';
import { describe, expect, test } from 'vitest';
import { shapeAt, shapeOf, shapes } from './shapes.ts';

/** Field names and marks of the APIs. */
const words =
  /(?<![\w-])(?:messages|choices|delta|finish_reason|stream_options|(?:prompt|completion|max(?:_completion)?)_tokens)(?![\w-])|\[DONE\]/g;
/** `messages.ts` of gRPC is a file, and comments may speak of Envoy's messages. */
const comment = /\/\*[\s\S]*?\*\/|(?<!:)\/\/.*|^\s*--.*$/gm;

/** Returns the words of the APIs in the code of a file. */
function wordsIn(text: string, isLua = false): string[] {
  const code = text.replaceAll(comment, (found) => (isLua || !found.trimStart().startsWith('--') ? '' : found));
  return [...code.matchAll(words)].map(([word]) => word);
}

const hotPath = ['receipt-sidecar', 'policy', 'envoy', 'ext-authz', 'service']
  .flatMap((folder) =>
    readdirSync(inCheckout(folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  )
  .filter((file) => /\.(?:ts|lua|yaml)$/.test(file) && !/\.test\.ts$|node_modules|^receipt-sidecar\/api\//.test(file))
  .sort();

describe('the words of the APIs', () => {
  test('stand nowhere in the hot path but in receipt-sidecar/api', () => {
    expect(hotPath.length).toBeGreaterThan(150);
    const found = hotPath.map((file) => [file, wordsIn(readFileSync(inCheckout(file), 'utf8'), file.endsWith('.lua'))]);
    expect(found.filter(([, each]) => each?.length)).toEqual([]);
  });

  test('are found wherever they are planted', () => {
    for (const [planted, word] of [
      ['const { messages } = body;', 'messages'],
      ["body['choices'].length", 'choices'],
      ['event.delta?.content', 'delta'],
      ["if (data === '[DONE]') end();", '[DONE]'],
      ['usage.prompt_tokens ?? null', 'prompt_tokens'],
      ['const stop = \',"choices":[]\'; // no comment', 'choices'],
    ] as const)
      expect(wordsIn(planted), planted).toEqual([word]);
    expect(wordsIn("local done = '[DONE]'", true)).toEqual(['[DONE]']);
  });

  test('are not taken for words of comments and of longer names', () => {
    for (const harmless of ['// Answers the messages.', '/** The choices of a region. */', 'const delta_t = 1;'])
      expect(wordsIn(harmless), harmless).toEqual([]);
  });
});

test('each API is found by its path and by its name', () => {
  for (const shape of shapes) expect([shapeAt(shape.path), shapeOf(shape.name)]).toEqual([shape, shape]);
  expect(shapeAt('/v1/models')).toBeUndefined();
  expect(() => shapeOf('telepathy')).toThrow('telepathy');
});
