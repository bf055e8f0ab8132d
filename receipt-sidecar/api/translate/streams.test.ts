/** Streams that real providers send, and those that none should. */
import { defined } from '@gw/contract/internal/defined';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Terms } from '../port/translator.ts';
import { translate } from './translate.ts';

const terms: Terms = { model: 'm', left: [], created: 1, stops: ['END'], repeated: {} };
const names = ['chat', 'messages', 'responses'] as const;
type Name = (typeof names)[number];
const pairs = names.flatMap((provider) => names.filter((to) => to !== provider).map((to) => [provider, to] as const));

function streamed(provider: Name, client: Name, events: readonly JsonObject[]) {
  const stream = defined(translate(client, provider), 'A pair').stream(terms);
  const out = events.flatMap((event) => [...stream.take(JSON.stringify(event), event)]);
  out.push(...stream.end());
  return { hasFailed: stream.hasFailed, events: out.map(({ text }) => JSON.parse(text) as JsonObject) };
}

const chunk = (delta: object, rest: object = {}): JsonObject => ({ id: 'c1', choices: [{ index: 0, delta, ...rest }] });
const call = (index: number | undefined, id: string | undefined, name: string | undefined, args: string): JsonObject =>
  chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }] });
const finish = (reason: string, rest: object = {}) => chunk({}, { finish_reason: reason, ...rest });

/** Returns the blocks of a stream of Messages as a client reads them one after the other. */
function blocksOf(events: readonly JsonObject[]): readonly (readonly [string, string])[] {
  const blocks: [string, string][] = [];
  let isOpen = false;
  for (const { content_block: block, delta, index, type } of events as readonly Record<string, JsonObject>[]) {
    if (String(type) === 'content_block_start') {
      expect([isOpen, index]).toEqual([false, blocks.length]);
      isOpen = true;
      blocks.push([String(block?.name ?? block?.type), '']);
    } else if (String(type) === 'content_block_delta') {
      expect([isOpen, index]).toEqual([true, blocks.length - 1]);
      const text = String(delta?.text ?? delta?.partial_json ?? delta?.thinking ?? '');
      defined(blocks.at(-1), 'A block')[1] += text;
    } else if (String(type) === 'content_block_stop') {
      expect([isOpen, index]).toEqual([true, blocks.length - 1]);
      isOpen = false;
    }
  }
  expect(isOpen).toBe(false);
  return blocks;
}
const endOf = (events: readonly JsonObject[]): unknown => events.find(({ type }) => type === 'message_delta');

describe('a stream of chat in Messages', () => {
  const read = (...events: readonly JsonObject[]) => {
    const { events: out, hasFailed } = streamed('chat', 'messages', events);
    expect(hasFailed).toBe(false);
    return { blocks: blocksOf(out), end: endOf(out) };
  };

  it('has calls one behind the other, also if their pieces come in turns', () => {
    const { blocks } = read(
      call(0, 'a', 'f', ''),
      call(1, 'b', 'g', '{"x"'),
      call(0, undefined, undefined, '{"q":"}'),
      call(1, undefined, undefined, ':1}'),
      call(0, undefined, undefined, '"}'),
      chunk({ content: 'Done.' }),
      finish('tool_calls'),
    );
    expect(blocks).toEqual([
      ['f', '{"q":"}"}'],
      ['g', '{"x":1}'],
      ['text', 'Done.'],
    ]);
  });

  it.each([
    ['a new id with each piece', [call(0, 'a', 'f', ''), call(0, 'a2', '', '{"x"'), call(0, 'a3', undefined, ':1}')]],
    [
      'the name behind the id',
      [call(0, 'a', undefined, ''), call(0, undefined, 'f', '{"x"'), call(0, 'a', 'f', ':1}')],
    ],
    [
      'arguments that are no text',
      [chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } }] })],
    ],
  ])('takes a call as one that has %s', (_, pieces) => {
    expect(read(...pieces, finish('tool_calls')).blocks).toEqual([['f', '{"x":1}']]);
  });

  it('names a call whose name never comes', () => {
    expect(read(call(0, 'a', undefined, '{}'), finish('tool_calls')).blocks).toEqual([['', '{}']]);
  });

  it.each([
    ['end_turn', chunk({ content: 'Hi' })],
    ['tool_use', call(0, 'a', 'f', '{}')],
  ])('has an end (%s) where the provider names no reason', (stop_reason, piece) => {
    expect(read(piece).end).toMatchObject({ delta: { stop_reason } });
  });

  it('has an id, a model and a time of its own where the provider tells none at first', () => {
    const first = { id: '', model: '', created: 0, choices: [], prompt_filter_results: [] };
    const ids = [0, 1].map(() => {
      const { events } = streamed('chat', 'responses', [first, chunk({ content: 'x' }), finish('stop')]);
      expect(events[0]).toMatchObject({ response: { model: 'm', created_at: 1 } });
      return (events[0] as { readonly response: JsonObject }).response.id;
    });
    expect(ids[0]).toMatch(/^resp_\w{16}/);
    expect(ids[0]).not.toBe(ids[1]);
  });

  it.each([
    ['all numbered 0', 0],
    ['not numbered', undefined],
  ])('tells calls apart that are %s by their ids', (_, index) => {
    const { blocks } = read(call(index, 'a', 'f', '{}'), call(index, 'b', 'f', '{"x":1}'), finish('stop'));
    expect(blocks).toEqual([
      ['f', '{}'],
      ['f', '{"x":1}'],
    ]);
  });

  it('reads a thought by each of its names, and once where it has two', () => {
    const { blocks } = read(
      chunk({ reasoning: 'a' }),
      chunk({ reasoning: 'b', reasoning_content: 'b' }),
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'c' }] }] }),
      chunk({ content: [{ type: 'text', text: 'd' }] }),
      finish('stop'),
    );
    expect(blocks).toEqual([
      ['thinking', 'abc'],
      ['text', 'd'],
    ]);
  });

  it.each([
    ['stop', {}, { stop_reason: 'end_turn' }],
    ['stop', { stop_reason: 'END' }, { stop_reason: 'stop_sequence', stop_sequence: 'END' }],
    ['stop', { stop_reason: 'other' }, { stop_reason: 'end_turn' }],
    ['length', {}, { stop_reason: 'max_tokens' }],
    ['content_filter', {}, { stop_reason: 'refusal' }],
  ])('ends for the same reason: %s %j', (reason, rest, expected) => {
    expect(read(chunk({ content: 'x' }), finish(reason, rest)).end).toMatchObject({ delta: expected });
  });

  it('counts cached tokens beside the others, and takes the last counts', () => {
    const running = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 };
    const last = { ...running, completion_tokens: 4, total_tokens: 14, prompt_tokens_details: { cached_tokens: 8 } };
    const { end } = read({ ...chunk({ content: 'x' }), usage: running }, finish('stop'), { choices: [], usage: last });
    expect(end).toMatchObject({ usage: { input_tokens: 2, cache_read_input_tokens: 8, output_tokens: 4 } });
  });

  it('ends as a refusal whose words are a text', () => {
    const { blocks, end } = read(chunk({ refusal: 'I ' }), chunk({ refusal: 'cannot.' }), finish('stop'));
    expect(blocks).toEqual([['text', 'I cannot.']]);
    expect(end).toMatchObject({ delta: { stop_reason: 'refusal' } });
  });
});

describe('a call without arguments', () => {
  const argumentsIn = (...events: readonly JsonObject[]) =>
    streamed('chat', 'responses', events).events.flatMap(({ item, type }) =>
      type === 'response.output_item.done' ? [(item as JsonObject).arguments] : [],
    );

  it('has an empty object, which clients can read', () => {
    expect(argumentsIn(call(0, 'a', 'f', ''), call(1, 'b', 'g', ''), finish('tool_calls'))).toEqual(['{}', '{}']);
  });

  it('has none where the answer was cut off before they came', () => {
    expect(argumentsIn(call(0, 'a', 'f', ''), finish('length'))).toEqual(['']);
  });
});

it('counts of Messages that are zeros at the end leave those of the beginning', () => {
  const message = { id: 'msg_1', model: 'm', content: [], usage: { input_tokens: 9, cache_read_input_tokens: 3 } };
  const { events } = streamed('messages', 'chat', [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { input_tokens: 0, output_tokens: 2 } },
    { type: 'message_stop' },
  ]);
  expect(events.at(-1)).toMatchObject({ usage: { prompt_tokens: 12, completion_tokens: 2 } });
});

describe('a message that its model refuses to go on with', () => {
  const start = { type: 'message_start', message: { id: 'msg_1', usage: {} } };
  const text = [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Well' } },
    { type: 'content_block_stop', index: 0 },
  ];
  const end = (details: object | null) => ({
    type: 'message_delta',
    delta: { stop_reason: 'refusal', stop_details: details },
    usage: { output_tokens: 1 },
  });
  const explained = { type: 'refusal', explanation: 'Not that.' };

  it.each([
    [null, 'response.incomplete', { incomplete_details: { reason: 'content_filter' } }],
    [explained, 'response.completed', { output: [{ content: [{ text: 'Well' }, { refusal: 'Not that.' }] }] }],
  ])('is no whole answer in Responses: %j', (details, type, response) => {
    const { events } = streamed('messages', 'responses', [start, ...text, end(details), { type: 'message_stop' }]);
    expect(events.at(-1)).toMatchObject({ type, response });
    const content = [{ type: 'text', text: 'Well' }];
    const message = { id: 'msg_1', content, stop_reason: 'refusal', stop_details: details };
    const whole = defined(translate('responses', 'messages'), 'A pair').reply(JSON.stringify(message), terms);
    expect(JSON.parse(String(whole))).toMatchObject(response);
  });
});

describe('what only two APIs have', () => {
  it('comes through: log probabilities', () => {
    const logprobs = { content: [{ token: 'x', logprob: -0.5, bytes: [120], top_logprobs: [] }], refusal: null };
    const { events } = streamed('chat', 'responses', [chunk({ content: 'x' }, { logprobs }), finish('stop')]);
    expect(events.find(({ type }) => type === 'response.output_text.delta')).toMatchObject({
      logprobs: logprobs.content,
    });
    const back = streamed('responses', 'chat', events).events;
    expect(back[1]).toMatchObject({ choices: [{ delta: { content: 'x' }, logprobs: { content: logprobs.content } }] });
  });

  it('comes through: a call of free form', () => {
    const begin = chunk({ tool_calls: [{ index: 0, id: 'a', type: 'custom', custom: { name: 'sh', input: 'l' } }] });
    const rest = chunk({ tool_calls: [{ index: 0, custom: { input: 's"' } }] });
    const { events } = streamed('chat', 'responses', [begin, rest, finish('tool_calls')]);
    expect(events.at(-1)).toMatchObject({
      response: { output: [{ type: 'custom_tool_call', call_id: 'a', name: 'sh', input: 'ls"' }] },
    });
  });

  it.each(['chat', 'responses'] as const)('comes back through %s: signatures and hidden thoughts', (client) => {
    const blocks = [
      { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
      { type: 'redacted_thinking', data: 'secret' },
      { type: 'tool_use', id: 'a', name: 'f', input: {} },
    ];
    const message = {
      id: 'msg_1',
      model: 'm',
      content: blocks,
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    const pair = defined(translate(client, 'messages'), 'A pair');
    const reply = JSON.parse(String(pair.reply(JSON.stringify(message), terms))) as Record<string, JsonObject[]>;
    const said = client === 'chat' ? [reply.choices?.[0]?.message] : reply.output;
    const body = { model: 'm', [client === 'chat' ? 'messages' : 'input']: said };
    const texts = new Map(Object.entries(body).map(([name, value]) => [name, JSON.stringify(value)]));
    const request = pair.request({ body, texts }, { maxTokens: 9, now: 1 });
    expect(request.ok && JSON.parse(String(request.value.texts.get('messages')))).toEqual([
      { role: 'assistant', content: blocks },
    ]);
  });
});

describe('a hostile stream', () => {
  const start = { type: 'message_start', message: { id: 'msg_1', usage: {} } };
  const open = (index: number, block: object) => ({ type: 'content_block_start', index, content_block: block });
  const piece = (index: number, json: string) => ({
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json: json },
  });
  const tool = { type: 'tool_use', id: 'a', name: 'f', input: {} };
  it.each([
    ['begins one block twice', [start, open(0, tool), open(0, tool)]],
    ['adds to a call that is over', [start, open(0, tool), { type: 'content_block_stop', index: 0 }, piece(0, '{}')]],
  ])('that %s fails', (_, events) => {
    for (const client of ['chat', 'responses'] as const) {
      const { events: out, hasFailed } = streamed('messages', client, events);
      expect([hasFailed, JSON.stringify(out)]).toEqual([true, expect.not.stringContaining('"response.completed"')]);
    }
  });

  it('of endless pieces that have to wait fails', () => {
    const long = ' '.repeat(1024 * 1024);
    const events = [call(0, 'a', 'f', '{'), ...Array.from({ length: 17 }, () => call(1, 'b', 'g', long))];
    expect(streamed('chat', 'messages', events).hasFailed).toBe(true);
  });

  it('that is too long to be repeated at its end fails', () => {
    const long = 'x'.repeat(1024 * 1024);
    const events = Array.from({ length: 17 }, () => chunk({ content: long }));
    expect(streamed('chat', 'responses', events).hasFailed).toBe(true);
    expect(streamed('chat', 'messages', events).hasFailed).toBe(false);
  });

  const soup: Readonly<Record<Name, readonly JsonObject[]>> = {
    chat: [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'x' }),
      chunk({ content: [{ type: 'text', text: 'y' }, null, 7] }),
      chunk({ reasoning_content: 'z', refusal: 'no' }),
      call(0, 'a', 'f', '{'),
      call(0, undefined, undefined, '}'),
      call(1, 'b', 'g', '{}'),
      call(7, undefined, undefined, 'x'),
      { choices: [{ index: 3, delta: { content: 'other' } }] },
      { choices: [null, 1, { delta: null }], usage: { prompt_tokens: -1 } },
      { choices: {}, usage: [] },
      finish('stop'),
      { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } },
    ],
    messages: [
      start,
      { type: 'message_start', message: null },
      ...[0, 1].flatMap((index) => [
        open(index, { type: 'text', text: 'x' }),
        open(index, tool),
        open(index, { type: 'thinking', thinking: '', signature: 's' }),
        open(index, { type: 'redacted_thinking', data: 'd' }),
        open(index, { type: 'server_tool_use', id: 's' }),
        { type: 'content_block_delta', index, delta: { type: 'text_delta', text: 'x' } },
        { type: 'content_block_delta', index, delta: { type: 'signature_delta', signature: 's' } },
        piece(index, '{}'),
        { type: 'content_block_stop', index },
      ]),
      { type: 'content_block_delta', delta: 7 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
      { type: 'message_delta', delta: null, usage: 9 },
      { type: 'message_stop' },
      { type: 7 },
    ],
    responses: [
      { type: 'response.created', response: { id: 'resp_1', output: null } },
      ...[0, 1].flatMap((at) => [
        {
          type: 'response.output_item.added',
          output_index: at,
          item: { type: 'function_call', call_id: 'a', name: 'f' },
        },
        { type: 'response.output_item.added', output_index: at, item: { type: 'message' } },
        { type: 'response.output_text.delta', output_index: at, content_index: 0, delta: 'x', logprobs: [] },
        { type: 'response.reasoning_summary_text.delta', output_index: at, summary_index: 0, delta: 'x' },
        { type: 'response.refusal.delta', output_index: at, content_index: 1, delta: 'x' },
        { type: 'response.function_call_arguments.delta', output_index: at, delta: '{}' },
        {
          type: 'response.output_item.done',
          output_index: at,
          item: { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
        },
        {
          type: 'response.output_item.done',
          output_index: at,
          item: { type: 'reasoning', encrypted_content: 'redacted:x' },
        },
        { type: 'response.output_item.done', output_index: at, item: null },
      ]),
      { type: 'response.output_text.delta', delta: 7 },
      { type: 'response.incomplete', response: { output: [null, 7, { type: 'message', content: [{ text: 'x' }] }] } },
      { type: 'response.completed', response: { output: 'x', usage: 'x' } },
      { type: 'response.completed', response: null },
    ],
  };

  it.each(pairs)('of %s in random order makes well-formed events of %s, or fails', (provider, client) => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...soup[provider]), { maxLength: 20 }), (events) => {
        const { events: out, hasFailed } = streamed(provider, client, events);
        if (client === 'messages' && !hasFailed && endOf(out) !== undefined) blocksOf(out);
        const ends = out.filter(
          ({ choices, type }) =>
            type === 'message_stop' ||
            /^response\.(completed|incomplete)$/.test(String(type)) ||
            (choices as { finish_reason?: unknown }[] | undefined)?.some(({ finish_reason: reason }) => reason != null),
        );
        expect(ends.length).toBeLessThanOrEqual(1);
        if (client === 'responses') expect(out.map((event) => event.sequence_number)).toEqual([...out.keys()]);
      }),
      { numRuns: 300 },
    );
  });

  it('of calls in any order of their pieces loses and doubles nothing', () => {
    const pieces = fc.array(fc.array(fc.string({ maxLength: 5 }), { minLength: 1, maxLength: 4 }), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(pieces, fc.infiniteStream(fc.nat()), (texts, random) => {
        const whole = texts.map((each) => JSON.stringify({ each }));
        const left = whole.map((json) => json.match(/[\s\S]{1,4}/g) ?? []);
        const events = whole.map((_, index) => call(index, `id${index}`, `f${index}`, ''));
        while (left.some(({ length }) => length > 0)) {
          const open = [...left.keys()].filter((index) => left[index]?.length);
          const index = defined(open[Number(random.next().value) % open.length], 'A call');
          events.push(call(index, undefined, undefined, String(left[index]?.shift())));
        }
        const { events: out, hasFailed } = streamed('chat', 'messages', [...events, finish('tool_calls')]);
        expect(hasFailed).toBe(false);
        expect(blocksOf(out)).toEqual(whole.map((json, index) => [`f${index}`, json]));
      }),
      { numRuns: 200 },
    );
  });
});
