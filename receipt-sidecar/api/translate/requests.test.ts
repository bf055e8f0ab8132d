/** One table for all pairs: each row says the same call in the words of each API. */
import { type JsonObject, readJsonText } from '@gw/contract/internal/strict-json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Fields } from '../port/translator.ts';
import { translate } from './translate.ts';

const names = ['chat', 'messages', 'responses'] as const;
type Name = (typeof names)[number];
const pairs = names.flatMap((from) => names.filter((to) => to !== from).map((to) => [from, to] as const));
const defaults = { maxTokens: 512, now: 1_700_000_000 };

function fieldsOf(json: string): Fields {
  const read = readJsonText(Buffer.from(json));
  if (!read.ok) throw new Error(read.error.problem);
  return { body: read.value.value as JsonObject, texts: read.value.members };
}
const given = (body: object): Fields => fieldsOf(JSON.stringify({ model: 'm', ...body }));

/** Returns the translated body. */
function request(from: Name, to: Name, fields: Fields) {
  const translated = translate(from, to)?.request(fields, defaults);
  if (!translated?.ok) throw new Error(JSON.stringify(translated?.error));
  const { terms, texts } = translated.value;
  const json = `{${[...texts].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join()}}`;
  return { body: JSON.parse(json) as JsonObject, json, left: terms.left };
}
const refusal = (from: Name, to: Name, body: object) => {
  const translated = translate(from, to)?.request(given(body), defaults);
  return translated?.ok === false ? translated.error.field : null;
};

const png = 'data:image/png;base64,iVBORw0KGgo=';
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const user = (text: string) => ({ messages: [{ role: 'user', content: text }] });
/** Responses that go out ask for reasoning in a form that can come back, and let nothing be stored. */
const always = { store: false, include: ['reasoning.encrypted_content'] };
const limit = { max_tokens: 64 };

interface SameCall {
  readonly chat: JsonObject;
  readonly messages: JsonObject;
  readonly responses: JsonObject;
}

const rows: Readonly<Record<string, SameCall>> = {
  'a text': {
    chat: { ...limit, ...user('Hi'), temperature: 0.5, top_p: 0.9, user: 'u1' },
    messages: { ...limit, ...user('Hi'), temperature: 0.5, top_p: 0.9, metadata: { user_id: 'u1' } },
    responses: {
      ...always,
      max_output_tokens: 64,
      input: [{ role: 'user', content: 'Hi' }],
      temperature: 0.5,
      top_p: 0.9,
      user: 'u1',
    },
  },
  'instructions and a stream': {
    chat: {
      ...limit,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
      stream: true,
    },
    messages: { ...limit, ...user('Hi'), system: 'Be brief.', stream: true },
    responses: {
      ...always,
      max_output_tokens: 64,
      instructions: 'Be brief.',
      input: [{ role: 'user', content: 'Hi' }],
      stream: true,
    },
  },
  'a later instruction': {
    chat: {
      ...limit,
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'system', content: 'In French.' },
      ],
    },
    messages: {
      ...limit,
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'system', content: 'In French.' },
      ],
    },
    responses: {
      ...always,
      max_output_tokens: 64,
      input: [
        { role: 'user', content: 'Hi' },
        { role: 'system', content: 'In French.' },
      ],
    },
  },
  'pictures and a file': {
    chat: {
      ...limit,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Compare.' },
            { type: 'image_url', image_url: { url: png } },
            { type: 'image_url', image_url: { url: 'https://img.example/a.png' } },
            { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' } },
          ],
        },
      ],
    },
    messages: {
      ...limit,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Compare.' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
            { type: 'image', source: { type: 'url', url: 'https://img.example/a.png' } },
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
              title: 'a.pdf',
            },
          ],
        },
      ],
    },
    responses: {
      ...always,
      max_output_tokens: 64,
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Compare.' },
            { type: 'input_image', image_url: png, detail: 'auto' },
            { type: 'input_image', image_url: 'https://img.example/a.png', detail: 'auto' },
            { type: 'input_file', file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' },
          ],
        },
      ],
    },
  },
  'tools, two calls at once, and their results': {
    chat: {
      ...limit,
      messages: [
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [
            {
              id: 'c1',
              type: 'function',
              function: { name: 'weather', arguments: '{"city":"Bonn","id":12345678901234567890}' },
            },
            { id: 'c2', type: 'function', function: { name: 'weather', arguments: '{"2":1,"1":2.0}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'rain' },
        { role: 'tool', tool_call_id: 'c2', content: '' },
        { role: 'user', content: 'And now?' },
      ],
      tools: [
        { type: 'function', function: { name: 'weather', description: 'Tells.', parameters: schema, strict: true } },
      ],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      parallel_tool_calls: false,
    },
    messages: {
      ...limit,
      messages: [
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'c1', name: 'weather', input: 'RAW1' },
            { type: 'tool_use', id: 'c2', name: 'weather', input: 'RAW2' },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: 'rain' },
            { type: 'tool_result', tool_use_id: 'c2' },
          ],
        },
        { role: 'user', content: 'And now?' },
      ],
      tools: [{ name: 'weather', description: 'Tells.', input_schema: schema, strict: true }],
      tool_choice: { type: 'tool', name: 'weather', disable_parallel_tool_use: true },
    },
    responses: {
      ...always,
      max_output_tokens: 64,
      input: [
        { role: 'user', content: 'Weather?' },
        { role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
        {
          type: 'function_call',
          call_id: 'c1',
          name: 'weather',
          arguments: '{"city":"Bonn","id":12345678901234567890}',
        },
        { type: 'function_call', call_id: 'c2', name: 'weather', arguments: '{"2":1,"1":2.0}' },
        { type: 'function_call_output', call_id: 'c1', output: 'rain' },
        { type: 'function_call_output', call_id: 'c2', output: '' },
        { role: 'user', content: 'And now?' },
      ],
      tools: [{ type: 'function', name: 'weather', description: 'Tells.', parameters: schema, strict: true }],
      tool_choice: { type: 'function', name: 'weather' },
      parallel_tool_calls: false,
    },
  },
  'structured output and effort': {
    chat: {
      ...limit,
      ...user('Where?'),
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
      reasoning_effort: 'high',
    },
    messages: {
      ...limit,
      ...user('Where?'),
      output_config: { effort: 'high', format: { type: 'json_schema', schema } },
      thinking: { type: 'adaptive' },
    },
    responses: {
      ...always,
      max_output_tokens: 64,
      input: [{ role: 'user', content: 'Where?' }],
      text: { format: { type: 'json_schema', name: 'answer', schema, strict: true } },
      reasoning: { effort: 'high' },
    },
  },
};

/** In Messages the arguments are JSON of the body itself: digits and order stay as they are. */
const raw = (json: string) =>
  json.replace('"RAW1"', '{"city":"Bonn","id":12345678901234567890}').replace('"RAW2"', '{"2":1,"1":2.0}');

describe.each(pairs)('%s → %s', (from, to) => {
  it.each(Object.entries(rows))('says the same: %s', (_, row) => {
    const { json } = request(from, to, fieldsOf(raw(JSON.stringify({ model: 'm', ...row[from] }))));
    expect(sorted(json)).toEqual(sorted(raw(JSON.stringify(row[to]))));
  });

  it('refuses what is not known by the name of its field', () => {
    const body: JsonObject = { ...rows['a text']?.[from], guided_regex: 'a+' };
    expect(refusal(from, to, body)).toBe('guided_regex');
  });

  it('takes a field that is null for none', () => {
    const body: JsonObject = { ...rows['a text']?.[from], guided_regex: null, tools: null };
    expect(refusal(from, to, body)).toBeNull();
  });
});

/** Returns the members of a JSON object, which may come in another order, by their texts. */
function sorted(json: string): readonly (readonly [string, unknown])[] {
  const { body, texts } = fieldsOf(json);
  const entries = Object.keys(body).map((name) => [name, comparable(String(texts.get(name)))] as const);
  return entries.sort(([a], [b]) => (a < b ? -1 : 1));
}
/** Numbers as they are written, and names in any order. */
const comparable = (json: string): unknown =>
  JSON.parse(
    json.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
      token.startsWith('"') ? token : `"number ${token}"`,
    ),
  );

describe('what has no counterpart', () => {
  const chat = (body: object) => ({ ...user('Hi'), ...body });
  it.each([
    ['n', chat({ n: 2 })],
    ['seed', chat({ seed: 1 })],
    ['logit_bias', chat({ logit_bias: { 1: 2 } })],
    ['presence_penalty', chat({ presence_penalty: 0.5 })],
    ['logprobs', chat({ logprobs: true })],
    ['temperature', chat({ temperature: 1.5 })],
    ['response_format', chat({ response_format: { type: 'json_object' } })],
    ['reasoning_effort', chat({ reasoning_effort: 'minimal' })],
    ['verbosity', chat({ verbosity: 'low' })],
    ['tools[0].type', chat({ tools: [{ type: 'custom', custom: { name: 'f' } }] })],
    ['messages[0].name', { messages: [{ role: 'user', content: 'x', name: 'Ann' }] }],
    ['messages[0].role', { messages: [{ role: 'function', content: 'x', name: null }] }],
    [
      'messages[0].content[0].type',
      { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: '', format: 'wav' } }] }] },
    ],
    [
      'messages[0].content[0]',
      {
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/tiff;base64,AA' } }] }],
      },
    ],
    [
      'messages[0].tool_calls[0]',
      {
        messages: [
          {
            role: 'assistant',
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":' } }],
          },
        ],
      },
    ],
    ['functions', chat({ functions: [{ name: 'f' }] })],
  ])('of chat in Messages is refused by %s', (field, body) => expect(refusal('chat', 'messages', body)).toBe(field));

  it.each([
    ['stop', chat({ stop: 'x' })],
    ['top_k', chat({ top_k: 5 })],
    ['store', chat({ store: true })],
  ])('of chat in Responses is refused by %s', (field, body) => expect(refusal('chat', 'responses', body)).toBe(field));

  const messages = (body: object) => ({ ...limit, ...user('Hi'), ...body });
  it.each([
    ['container', messages({ container: 'c' })],
    ['mcp_servers', messages({ mcp_servers: [] })],
    ['tools[0].type', messages({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] })],
    ['context_management', messages({ context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } })],
    ['messages[0].content[0].type', messages({ messages: [{ role: 'user', content: [{ type: 'search_result' }] }] })],
    [
      'messages[0].content[0].source',
      messages({ messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] }),
    ],
  ])('of Messages in chat is refused by %s', (field, body) => expect(refusal('messages', 'chat', body)).toBe(field));

  it.each([
    ['truncation', { input: 'Hi', truncation: 'auto' }],
    ['input[0].type', { input: [{ type: 'item_reference', id: 'i' }] }],
    ['tools[0].type', { input: 'Hi', tools: [{ type: 'web_search' }] }],
    ['input[0].content[0]', { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] }],
  ])('of Responses in chat is refused by %s', (field, body) => expect(refusal('responses', 'chat', body)).toBe(field));

  it('and labels the client is left out', () => {
    const body = { input: 'Hi', client_metadata: { turn_id: 't' } };
    expect(request('responses', 'chat', given(body)).left).toEqual(['client_metadata']);
  });

  it('and changes no answer is named once', () => {
    const cached = { cache_control: { type: 'ephemeral' } };
    const text = { type: 'text', text: 'x', ...cached };
    const body = messages({ system: [text], messages: [{ role: 'user', content: [text, text] }] });
    expect(request('messages', 'chat', given(body)).left).toEqual([
      'system[].cache_control',
      'messages[].content[].cache_control',
    ]);
  });
});

describe('a call that asks to see the reasoning', () => {
  const thinking = { type: 'enabled', budget_tokens: 1024 };
  it.each([
    [{ thinking }, 'auto'],
    [{ thinking: { ...thinking, display: 'omitted' } }, undefined],
    [{ thinking: { type: 'adaptive' } }, undefined],
    [{ thinking: { type: 'adaptive', display: 'summarized' } }, 'auto'],
  ])('asks a provider of Responses for it, too: %j', (fields, summary) => {
    const { body } = request('messages', 'responses', given({ ...limit, ...user('Hi'), ...fields }));
    expect((body.reasoning as JsonObject | undefined)?.summary).toBe(summary);
  });
  it.each([
    [{ effort: 'low', summary: 'detailed' }, 'summarized', ['include', 'reasoning.summary']],
    [{ effort: 'low' }, undefined, ['include']],
  ])('asks a provider of Messages for it, too: %j', (reasoning, display, left) => {
    const made = request('responses', 'messages', given({ ...always, input: 'Hi', reasoning }));
    expect(made.body.thinking).toEqual({ type: 'adaptive', ...(display && { display }) });
    expect(made.left).toEqual(left);
  });
});

describe('a call of Messages in chat', () => {
  it('says that a tool has failed, and shows its pictures behind its text', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } };
    const content = [
      { type: 'tool_result', tool_use_id: 'c1', is_error: true, content: [{ type: 'text', text: 'no' }, image] },
    ];
    const { body } = request('messages', 'chat', given({ ...limit, messages: [{ role: 'user', content }] }));
    expect(body.messages).toEqual([
      {
        role: 'tool',
        tool_call_id: 'c1',
        content: 'The tool failed.\nno',
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What the tool call c1 returned beside its text:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
        ],
      },
    ]);
  });

  it('returns thoughts that no other provider has signed', () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: '' },
      { type: 'thinking', thinking: 'Signed.', signature: 'abc' },
      { type: 'text', text: 'Yes.' },
    ];
    const { body, left } = request('messages', 'chat', given({ ...limit, messages: [{ role: 'assistant', content }] }));
    expect(body.messages).toEqual([{ role: 'assistant', content: 'Yes.', reasoning_content: 'Hm.' }]);
    expect(left).toEqual(['messages[].content[]']);
  });
});

describe('what servers refuse is not written', () => {
  const chosen = [
    { tool_choice: 'auto', parallel_tool_calls: true },
    { tool_choice: 'none', tools: [] },
  ];
  it.each(chosen)('a choice among no tools: %j', (choice) => {
    for (const [to, body] of [
      ['chat', { input: 'Hi', ...choice }],
      ['messages', { input: 'Hi', ...choice }],
      ['messages', { ...user('Hi'), ...choice }],
    ] as const) {
      const translated = request('input' in body ? 'responses' : 'chat', to, given(body)).body;
      expect(Object.keys(translated)).not.toEqual(expect.arrayContaining([expect.stringMatching(/tool/)]));
    }
    const message = { ...limit, ...user('Hi'), tool_choice: { type: 'auto', disable_parallel_tool_use: true } };
    expect(request('messages', 'chat', given(message)).body).toEqual({ ...limit, ...user('Hi') });
  });

  it('log probabilities of other tokens where those of the answer are not asked for', () => {
    const { body, left } = request('responses', 'chat', given({ input: 'Hi', top_logprobs: 3 }));
    expect([body, left]).toEqual([user('Hi'), ['top_logprobs']]);
  });

  it('texts that are empty, in Messages', () => {
    const nothing = { type: 'text', text: '' };
    const messages = [
      { role: 'system', content: [nothing] },
      { role: 'user', content: '' },
      { role: 'user', content: [nothing, { type: 'text', text: 'Hi' }] },
      { role: 'assistant', content: [nothing] },
      { role: 'user', content: 'Well?' },
    ];
    expect(request('chat', 'messages', given({ ...limit, messages })).body).toEqual({
      ...limit,
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'user', content: 'Well?' },
      ],
    });
  });

  it('an answer of the model in chat that says nothing, or a call whose result does not come next', () => {
    const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' });
    const result = (id: string) => ({ type: 'function_call_output', call_id: id, output: id });
    const thought = { type: 'reasoning', summary: [], encrypted_content: 'x' };
    const { body } = request(
      'responses',
      'chat',
      given({
        input: [
          { role: 'user', content: 'Hi' },
          thought,
          { role: 'user', content: 'Well?' },
          ...[thought, call('a'), { type: 'reasoning', summary: [] }, call('b')],
          ...[{ role: 'assistant', content: 'Wait.' }, result('a'), result('b')],
        ],
      }),
    );
    const called = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
    expect(body.messages).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'user', content: 'Well?' },
      { role: 'assistant', content: 'Wait.', tool_calls: [called('a'), called('b')] },
      { role: 'tool', tool_call_id: 'a', content: 'a' },
      { role: 'tool', tool_call_id: 'b', content: 'b' },
    ]);
  });

  it('lists of texts where chat servers take one text: instructions, and what a tool returned', () => {
    const texts = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    const content = [{ type: 'tool_result', tool_use_id: 'c1', content: texts }];
    const body = { ...limit, system: texts, messages: [{ role: 'user', content }] };
    expect(request('messages', 'chat', given(body)).body.messages).toEqual([
      { role: 'system', content: 'a\nb' },
      { role: 'tool', tool_call_id: 'c1', content: 'a\nb' },
    ]);
  });
});

describe('a document', () => {
  const shown = (source: object, rest: object = {}) => ({
    ...limit,
    messages: [{ role: 'user', content: [{ type: 'document', source, ...rest }] }],
  });
  const contentOf = (body: object) =>
    (request('messages', 'chat', given(body)).body.messages as readonly JsonObject[])[0]?.content;

  it('of text is told as text, with its title', () => {
    const source = { type: 'text', media_type: 'text/plain', data: 'Once.' };
    expect(contentOf(shown(source))).toBe('Once.');
    expect(contentOf(shown(source, { title: 'A tale', context: 'old' }))).toEqual([
      { type: 'text', text: 'A tale' },
      { type: 'text', text: 'old' },
      { type: 'text', text: 'Once.' },
    ]);
    const blocks = [{ type: 'text', text: 'Twice.' }];
    expect(contentOf(shown({ type: 'content', content: blocks }))).toBe('Twice.');
    expect(contentOf(shown({ type: 'content', content: 'Thrice.' }))).toBe('Thrice.');
  });

  it('that is only linked is refused in chat, which has no field for a link', () => {
    expect(refusal('messages', 'chat', shown({ type: 'url', url: 'https://a.example/b.pdf' }))).toBe(
      'messages[0].content[0]',
    );
    const part = { type: 'input_file', file_url: 'https://a.example/b.pdf' };
    expect(refusal('responses', 'chat', { input: [{ role: 'user', content: [part] }] })).toBe('input[0].content[0]');
  });
});

it('labels of a client of Responses are left out', () => {
  const { body, left } = request('responses', 'chat', given({ input: 'Hi', client_metadata: { turn: '1' } }));
  expect([body, left]).toEqual([user('Hi'), ['client_metadata']]);
});

const text = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' });
const name = fc.stringMatching(/^[a-z_]{1,12}$/);
const textPart = text.map((each) => ({ type: 'text', text: each }));
const picture = fc
  .constantFrom(png, 'https://img.example/a.png')
  .map((url) => ({ type: 'image_url', image_url: { url } }));
const userMessage = fc
  .oneof(
    text,
    fc.tuple(textPart, picture).map((parts) => [...parts]),
    fc.array(textPart, { minLength: 2, maxLength: 4 }),
  )
  .map((content) => ({ role: 'user', content }));
const called = fc.tuple(name, fc.json({ maxDepth: 3 })).map(([tool, value]) => ({
  type: 'function',
  function: { name: tool, arguments: JSON.stringify({ value: JSON.parse(value) as unknown }) },
}));
const assistantMessages = fc
  .tuple(fc.option(text, { nil: null }), fc.array(called, { maxLength: 3 }), text)
  .map(([content, calls, result]) => {
    // Two messages of a model without a word between them are one answer to other APIs.
    const asked = { role: 'user', content: 'Go on.' };
    if (calls.length === 0) return [asked, { role: 'assistant', content: content ?? 'ok' }];
    const numbered = calls.map((call, index) => ({ id: `call_${index}`, ...call }));
    const results = numbered.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: result }));
    return [asked, { role: 'assistant', content, tool_calls: numbered }, ...results];
  });
const tool = fc
  .record(
    { name, description: text, parameters: fc.constant(schema), strict: fc.constant(true) },
    { requiredKeys: ['name', 'parameters'] },
  )
  .map((each) => ({ type: 'function', function: each }));
const chatCall = fc
  .record(
    {
      max_tokens: fc.integer({ min: 1, max: 9999 }),
      temperature: fc.double({ min: 0, max: 1, noNaN: true }).filter((each) => !Object.is(each, -0)),
      top_p: fc.constantFrom(0.1, 0.95, 1),
      user: text,
      stream: fc.constant(true),
      reasoning_effort: fc.constantFrom('low', 'medium', 'high'),
      response_format: fc.constant({ type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } }),
      tools: fc.array(tool, { minLength: 1, maxLength: 3 }),
      tool_choice: fc.constantFrom('auto', 'required', { type: 'function', function: { name: 'f' } }),
    },
    { requiredKeys: ['max_tokens', 'tools'] },
  )
  .chain((rest) =>
    fc
      .tuple(
        fc.option(text, { nil: null }),
        userMessage,
        fc.array(
          fc.oneof(
            userMessage.map((each) => [each]),
            assistantMessages,
          ),
          { maxLength: 5 },
        ),
      )
      .map(([system, first, later]) => ({
        ...rest,
        messages: [...(system === null ? [] : [{ role: 'system', content: system }]), first, ...later.flat()],
      })),
  );

describe.each(['messages', 'responses'] as const)('any chat call → %s → chat', (middle) => {
  it('gives the same call', () => {
    fc.assert(
      fc.property(chatCall, (call) => {
        const there = request('chat', middle, given(call));
        const back = request(middle, 'chat', fieldsOf(`{"model":"m",${there.json.slice(1)}`));
        expect(back.body).toEqual(JSON.parse(JSON.stringify(call)));
      }),
      { numRuns: 200 },
    );
  });
});
