import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seam } from './normalise.ts';
import { requestText } from './request-text.ts';

const prose = (body: Record<string, unknown>): string[] => (requestText(body).texts[0] ?? '').split(seam);
const other = (body: Record<string, unknown>): string[] => (requestText(body).texts[1] ?? '').split(seam);

test('what a model reads as prose is one text in the order of the body: contents, parts, refusals, calls of tools', () => {
  const body = {
    messages: [
      { role: 'system', content: 'one' },
      {
        role: 'user',
        name: 'Ann',
        content: [
          { type: 'text', text: 'two' },
          { type: 'text', text: 'three' },
        ],
      },
      {
        role: 'assistant',
        content: null,
        refusal: 'four',
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: 'five' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'six' },
    ],
    prediction: { type: 'content', content: 'seven' },
  };
  expect(prose(body)).toEqual(['one', 'two', 'three', 'four', 'five', 'six', 'seven']);
});

test('prompts, inputs, suffixes and descriptions at any depth are prose', () => {
  const schema = { type: 'object', properties: { a: { type: 'string', description: 'deep' } } };
  expect(prose({ prompt: ['a', 'b'], suffix: 'c' })).toEqual(['a', 'b', 'c']);
  expect(prose({ input: 'text' })).toEqual(['text']);
  expect(prose({ tools: [{ function: { name: 'f', description: 'top', parameters: schema } }] })).toEqual([
    'top',
    'deep',
  ]);
  expect(prose({ response_format: { json_schema: { schema } } })).toEqual(['deep']);
});

/** Strings as values and as names, so that none can be taken for another. */
const anyBody = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue({ maxDepth: 4 })).map((body) => {
  let count = 0;
  const strings: string[] = [];
  const named = (text: string): string => {
    const name = `${text.replaceAll('\0', '')}#${count++}`;
    strings.push(name);
    return name;
  };
  const mark = (value: unknown): unknown => {
    if (typeof value === 'string') return named(value);
    if (Array.isArray(value)) return value.map(mark);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [named(name), mark(inner)]));
  };
  return { body: mark(body) as Record<string, unknown>, strings };
});

test('no string of a body is left out, neither a value nor a name, in fields that nobody knows', () => {
  fc.assert(
    fc.property(anyBody, ({ body, strings }) => {
      const read = new Set([...prose(body), ...other(body)]);
      for (const string of strings) expect(read).toContain(string);
    }),
  );
});

test('names, roles, stops, users and fields that nobody knows are the other text', () => {
  const body = {
    model: 'm',
    stop: ['s1', 's2'],
    user: 'u',
    logit_bias: { 50256: -100 },
    extension: { deep: [{ key: 'value' }] },
  };
  expect(other(body)).toEqual([
    'model',
    'm',
    'stop',
    's1',
    's2',
    'user',
    'u',
    'logit_bias',
    '50256',
    'extension',
    'deep',
    'key',
    'value',
  ]);
});

test('the bytes of images, sound and files are left out where they belong, and nothing else that looks like them', () => {
  const bytes = 'aGVsbG8='.repeat(200).replaceAll('=', 'A');
  const content = (part: object) => [
    ...prose({ messages: [{ content: [part] }] }),
    ...other({ messages: [{ content: [part] }] }),
  ];
  const holds = (part: object, text: string) => content(part).some((each) => each.includes(text));
  expect(holds({ image_url: { url: `data:image/png;base64,${bytes}` } }, 'data:image/png;base64,')).toBe(true);
  for (const part of [
    { image_url: { url: `data:image/png;base64,${bytes}` } },
    { input_audio: { data: bytes, format: 'wav' } },
    { file: { file_data: `data:application/pdf;base64,${bytes}` } },
  ])
    expect(holds(part, 'aGVsbG8'), JSON.stringify(part).slice(0, 40)).toBe(false);
  for (const part of [
    { text: `data:image/png;base64,${bytes}` },
    { image_url: { url: `https://example.org/${bytes}` } },
    { image_url: { url: `data:image/png;base64,aGVsbG8 and words` } },
    { data: bytes },
    { input_audio: { data: 'aGVsbG8 and words' } },
  ])
    expect(holds(part, 'aGVsbG8'), JSON.stringify(part).slice(0, 40)).toBe(true);
});

test('of a response the instructions, the items and what tools returned are prose, and what is encrypted is none', () => {
  const bytes = 'gAAAAAB_-x'.repeat(40);
  const picture = `data:image/png;base64,${'iVBORw0K'.repeat(40)}`;
  const body = {
    instructions: 'one',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'two' },
          { type: 'input_image', image_url: picture },
        ],
      },
      { type: 'function_call', arguments: '{"a":"three"}' },
      { type: 'function_call_output', output: 'four' },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'five' }], encrypted_content: bytes },
      { type: 'reasoning', encrypted_content: 'six in plain words' },
    ],
  };
  const read = prose(body).join(' ');
  for (const word of ['one', 'two', 'three', 'four', 'five']) expect(read).toContain(word);
  const all = `${read} ${other(body).join(' ')}`;
  expect(all).toContain('six in plain words');
  expect([all.includes('gAAAA'), all.includes('iVBOR')]).toEqual([false, false]);
});

test('bytes are left out in no other field, however they look', () => {
  const url = 'data:;base64,how/to/make/a/nerve/agent';
  for (const body of [
    { messages: [{ role: 'user', name: url, content: 'x' }] },
    { tools: [{ function: { name: 'f', parameters: { title: url, enum: [url], default: url } } }] },
    { stop: [url] },
    { url },
    { unknown: { data: url } },
    { input_audio: { other: { data: url } } },
  ])
    expect(other(body), JSON.stringify(body)).toContain(url);
});

test('arguments of a tool call are read as they stand, and as what their JSON says', () => {
  const args = '{"q":"how to\\nmake \\u0073arin","p":"a \\"b\\" \\ud83d\\ude00 \\u0000"}';
  const body = { messages: [{ tool_calls: [{ function: { name: 'f', arguments: args } }] }] };
  expect(prose(body)).toEqual([args, '{"q":"how to\nmake sarin","p":"a "b" 😀 "}']);
  expect(prose({ arguments: '{"q":"plain"}' })).toEqual(['{"q":"plain"}']);
});

test('what is written in invisible tag characters is prose of its own', () => {
  const hidden = [...'make it'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
  expect(prose({ messages: [{ content: `Hello${hidden}` }] })).toEqual([`Hello${hidden}`, 'make it']);
  expect(prose({ prompt: 'A flag: 🏳️‍🌈' })).toEqual(['A flag: 🏳️‍🌈']);
});

test('token lists are named, and their texts join the prose; strings in one are read all the same', () => {
  expect(requestText({ prompt: [1, 2, 3] }, ['decoded'])).toEqual({
    texts: ['decoded', 'prompt'],
    tokens: [[1, 2, 3]],
  });
  expect(requestText({ input: [[1], [2]] }, ['a', 'b']).texts[0]).toBe(`a${seam}b`);
  expect(requestText({ input: [[1], [2]] }).tokens).toEqual([[1], [2]]);
  expect(prose({ input: [['words'], ['more']] })).toEqual(['words', 'more']);
});
