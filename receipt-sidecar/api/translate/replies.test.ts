/** One table for all pairs: each row is the same reply in the words of each API, whole and as a stream. */
import { defined } from '@gw/contract/internal/defined';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventReader } from '../../wire/events.ts';
import type { ClientEvent, Terms } from '../port/translator.ts';
import { translate } from './translate.ts';

const names = ['chat', 'messages', 'responses'] as const;
type Name = (typeof names)[number];
const pairs = names.flatMap((provider) => names.filter((to) => to !== provider).map((to) => [provider, to] as const));
const terms: Terms = {
  model: 'm',
  left: [],
  created: 1_700_000_000,
  stops: ['END'],
  repeated: { temperature: '0.50' },
};

/** A reply in no API's words. */
interface Told {
  readonly blocks: readonly ToldBlock[];
  readonly stop: 'end' | 'length' | 'tools';
  readonly usage: {
    readonly prompt: number;
    readonly completion: number;
    readonly cached: number;
    readonly reasoning: number;
  };
}
interface ToldBlock {
  readonly kind: 'thinking' | 'text' | 'use';
  /** The pieces in which a stream brings it. */
  readonly pieces: readonly string[];
}

const textOf = ({ pieces }: ToldBlock): string => pieces.join('');
const callName = (index: number): string => `tool_${index}`;

const say = {
  chat: {
    whole: ({ blocks, stop, usage }: Told): JsonObject => {
      const of = (kind: ToldBlock['kind']) => blocks.filter((block) => block.kind === kind);
      const calls = of('use').map((block, index) => ({
        id: `c${index}`,
        type: 'function',
        function: { name: callName(index), arguments: textOf(block) },
      }));
      const thought = of('thinking').map(textOf).join('');
      const text = of('text').map(textOf).join('');
      const message = {
        role: 'assistant',
        content: of('text').length > 0 ? text : null,
        ...(thought !== '' && { reasoning_content: thought }),
        ...(calls.length > 0 && { tool_calls: calls }),
      };
      const reason = { end: 'stop', length: 'length', tools: 'tool_calls' }[stop];
      return {
        id: 'chatcmpl-r1',
        object: 'chat.completion',
        created: 1_700_000_000,
        model: 'm',
        choices: [{ index: 0, message, finish_reason: reason }],
        usage: {
          prompt_tokens: usage.prompt,
          completion_tokens: usage.completion,
          total_tokens: usage.prompt + usage.completion,
          prompt_tokens_details: { cached_tokens: usage.cached },
          completion_tokens_details: { reasoning_tokens: usage.reasoning },
        },
      };
    },
    stream: (told: Told): readonly JsonObject[] => {
      const { choices, usage, ...head } = say.chat.whole(told) as {
        choices: [{ finish_reason: string }];
        usage: object;
      };
      const chunk = (delta: object, reason: string | null = null) => ({
        ...head,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta, finish_reason: reason }],
      });
      let calls = -1;
      const said = told.blocks.flatMap(({ kind, pieces }) => {
        if (kind !== 'use') {
          const field = kind === 'text' ? 'content' : 'reasoning_content';
          return pieces.map((piece) => chunk({ [field]: piece }));
        }
        const index = ++calls;
        const begun = { index, id: `c${index}`, type: 'function', function: { name: callName(index), arguments: '' } };
        const later = pieces.map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
        return [chunk({ tool_calls: [begun] }), ...later];
      });
      const first = chunk({ role: 'assistant', content: '' });
      return [first, ...said, chunk({}, choices[0].finish_reason), { ...head, choices: [], usage }];
    },
  },
  messages: {
    whole: ({ blocks, stop, usage }: Told): JsonObject => {
      let calls = -1;
      const content = blocks.map((block) => {
        if (block.kind === 'text') return { type: 'text', text: textOf(block) };
        if (block.kind === 'thinking') return { type: 'thinking', thinking: textOf(block), signature: '' };
        calls += 1;
        return {
          type: 'tool_use',
          id: `c${calls}`,
          name: callName(calls),
          input: JSON.parse(textOf(block)) as unknown,
        };
      });
      const reason = { end: 'end_turn', length: 'max_tokens', tools: 'tool_use' }[stop];
      return {
        id: 'msg_r1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content,
        stop_reason: reason,
        stop_sequence: null,
        usage: {
          input_tokens: usage.prompt - usage.cached,
          cache_read_input_tokens: usage.cached,
          cache_creation_input_tokens: 0,
          output_tokens: usage.completion,
          output_tokens_details: { thinking_tokens: usage.reasoning },
        },
      };
    },
    stream: (told: Told): readonly JsonObject[] => {
      const {
        content,
        stop_reason: reason,
        usage,
        ...head
      } = say.messages.whole(told) as JsonObject & { usage: JsonObject };
      const { output_tokens: output, output_tokens_details: details, ...input } = usage;
      const blocks = (content as readonly JsonObject[]).flatMap((block, index) => {
        const { pieces = [] } = told.blocks[index] ?? {};
        const empty = { ...block, ...(block.type === 'tool_use' ? { input: {} } : { [String(block.type)]: '' }) };
        const kind = { text: 'text_delta', thinking: 'thinking_delta', tool_use: 'input_json_delta' }[
          String(block.type)
        ];
        const field = { text: 'text', thinking: 'thinking', tool_use: 'partial_json' }[String(block.type)] as string;
        const deltas = pieces.map((piece) => ({
          type: 'content_block_delta',
          index,
          delta: { type: kind, [field]: piece },
        }));
        const start = { type: 'content_block_start', index, content_block: empty };
        return [start, ...deltas, { type: 'content_block_stop', index }];
      });
      const message = { ...head, content: [], stop_reason: null, usage: { ...input, output_tokens: 1 } };
      return [
        { type: 'message_start', message },
        { type: 'ping' },
        ...blocks,
        {
          type: 'message_delta',
          delta: { stop_reason: reason, stop_sequence: null },
          usage: { output_tokens: output, output_tokens_details: details },
        },
        { type: 'message_stop' },
      ];
    },
  },
  responses: {
    whole: ({ blocks, stop, usage }: Told): JsonObject => {
      let calls = -1;
      const output: JsonObject[] = [];
      for (const [index, block] of blocks.entries()) {
        const text = textOf(block);
        if (block.kind === 'thinking')
          output.push({
            type: 'reasoning',
            id: `rs_r1_${output.length}`,
            summary: [],
            content: [{ type: 'reasoning_text', text }],
          });
        else if (block.kind === 'use') {
          calls += 1;
          const called = { call_id: `c${calls}`, name: callName(calls), arguments: text };
          output.push({ type: 'function_call', id: `fc_r1_${output.length}`, ...called });
        } else {
          const part = { type: 'output_text', text, annotations: [] };
          if (blocks[index - 1]?.kind === 'text')
            (defined(output.at(-1), 'A message').content as JsonObject[]).push(part);
          else output.push({ type: 'message', id: `msg_r1_${output.length}`, role: 'assistant', content: [part] });
        }
      }
      const status = stop === 'length' ? 'incomplete' : 'completed';
      return {
        id: 'resp_r1',
        object: 'response',
        created_at: 1_700_000_000,
        model: 'm',
        status,
        output,
        incomplete_details: stop === 'length' ? { reason: 'max_output_tokens' } : null,
        usage: {
          input_tokens: usage.prompt,
          input_tokens_details: { cached_tokens: usage.cached },
          output_tokens: usage.completion,
          output_tokens_details: { reasoning_tokens: usage.reasoning },
          total_tokens: usage.prompt + usage.completion,
        },
      };
    },
    stream: (told: Told): readonly JsonObject[] => {
      const response = say.responses.whole(told) as JsonObject & { output: readonly JsonObject[] };
      const left = told.blocks.map(({ pieces }) => pieces);
      const items = response.output.flatMap((item, index) => {
        const place = { output_index: index, item_id: item.id };
        const events: JsonObject[] = [
          { type: 'response.output_item.added', output_index: index, item: { ...item, content: [], arguments: '' } },
        ];
        for (const at of ((item.content as readonly object[] | undefined) ?? [{}]).keys())
          for (const delta of left.shift() ?? []) {
            const type = {
              message: 'output_text',
              reasoning: 'reasoning_text',
              function_call: 'function_call_arguments',
            }[String(item.type)];
            events.push({ type: `response.${type}.delta`, ...place, content_index: at, delta });
          }
        return [...events, { type: 'response.output_item.done', output_index: index, item }];
      });
      return [
        { type: 'response.created', response: { ...response, output: [], status: 'in_progress', usage: null } },
        ...items,
        { type: `response.${String(response.status)}`, response },
      ];
    },
  },
};

/** Puts together what a client of each API reads out of a stream. */
const assembled: Readonly<Record<Name, (events: readonly JsonObject[]) => JsonObject>> = {
  chat: (events) => {
    const message: JsonObject = { role: 'assistant', content: null };
    const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = [];
    let [reason, usage]: unknown[] = [null, null];
    for (const event of events) {
      usage = event.usage ?? usage;
      for (const { delta, finish_reason } of event.choices as readonly {
        delta: JsonObject;
        finish_reason: unknown;
      }[]) {
        reason = finish_reason ?? reason;
        for (const field of ['content', 'reasoning_content'])
          if (delta[field]) message[field] = String(message[field] ?? '') + String(delta[field]);
        for (const call of (delta.tool_calls ?? []) as readonly JsonObject[]) {
          const called = call.function as { name?: string; arguments: string };
          calls[Number(call.index)] ??= {
            id: String(call.id),
            type: String(call.type),
            function: { name: String(called.name), arguments: '' },
          };
          (calls[Number(call.index)] as (typeof calls)[0]).function.arguments += called.arguments;
        }
      }
    }
    if (calls.length > 0) message.tool_calls = calls;
    const { choices: _, ...head } = events[0] as JsonObject;
    return { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: reason }], usage };
  },
  messages: (events) => {
    const [start, ...rest] = events as readonly (JsonObject & { index: number })[];
    const message = { ...(start?.message as JsonObject & { usage: object }) };
    const content: JsonObject[] = [];
    const inputs = new Map<number, string>();
    let open = -1;
    for (const event of rest) {
      const { delta, index } = event as { delta?: JsonObject; index: number };
      if (event.type === 'content_block_start') {
        expect([open, index]).toEqual([-1, content.length]);
        open = index;
        content.push({ ...(event.content_block as JsonObject) });
      } else if (event.type === 'content_block_delta') {
        const block = content[index] as JsonObject;
        expect(index).toBe(open);
        if (delta?.partial_json !== undefined)
          inputs.set(index, (inputs.get(index) ?? '') + String(delta.partial_json));
        for (const field of ['text', 'thinking', 'signature'])
          if (delta?.[field] !== undefined) block[field] = String(block[field]) + String(delta[field]);
      } else if (event.type === 'content_block_stop') {
        expect(index).toBe(open);
        open = -1;
      } else if (event.type === 'message_delta') Object.assign(message, delta, { usage: event.usage });
    }
    for (const [index, input] of inputs) (content[index] as JsonObject).input = JSON.parse(input);
    expect(rest.at(-1)?.type).toBe('message_stop');
    return { ...message, content };
  },
  responses: (events) => {
    for (const [index, event] of events.entries()) expect(event.sequence_number).toBe(index);
    const texts = new Map<string, string>();
    const items: unknown[] = [];
    for (const {
      arguments: json,
      content_index: at,
      delta,
      item,
      item_id: id,
      output_index: place,
      text,
      type,
    } of events) {
      const key = `${String(id)} ${String(at)}`;
      if (typeof delta === 'string') texts.set(key, (texts.get(key) ?? '') + delta);
      if (/(text|arguments)\.done$/.test(String(type))) expect(text ?? json).toBe(texts.get(key) ?? '');
      if (type === 'response.output_item.done') items[Number(place)] = item;
    }
    const last = events.at(-1) as { response: JsonObject };
    // `value` may hold JSON that is not parsed yet.
    expect(items).toEqual(last.response.output);
    return last.response;
  },
};

const eventsOf = (events: readonly ClientEvent[]): readonly JsonObject[] =>
  events.map(({ text }) => JSON.parse(text) as JsonObject);

/** Translates the bytes of a stream that come in these pieces. */
function streamed(provider: Name, client: Name, pieces: readonly Buffer[]) {
  const stream = translate(client, provider)?.stream(terms);
  if (!stream) throw new Error('There is no such pair.');
  const out: ClientEvent[] = [];
  const reader = new EventReader({
    known: () => false,
    event: (data) => {
      if (data !== '[DONE]') out.push(...stream.take(data, JSON.parse(data) as JsonObject));
    },
    isWhole: () => false,
    comment: () => undefined,
  });
  for (const piece of pieces) reader.push(piece);
  reader.end();
  out.push(...stream.end());
  return { out, hasFailed: stream.hasFailed };
}
const bytesOf = (events: readonly JsonObject[]): Buffer =>
  Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));

const usage = { prompt: 12, completion: 7, cached: 5, reasoning: 2 };
const args = ['{"a":', '"é}"', ',"b":[1,{}]}'];
const rows: Readonly<Record<string, Told>> = {
  'a text': { blocks: [{ kind: 'text', pieces: ['Hel', 'lo'] }], stop: 'end', usage },
  'a thought and a text that is cut off': {
    blocks: [
      { kind: 'thinking', pieces: ['Hm', '.'] },
      { kind: 'text', pieces: ['Ye'] },
    ],
    stop: 'length',
    usage,
  },
  'a text and two calls': {
    blocks: [
      { kind: 'text', pieces: ['I look.'] },
      { kind: 'use', pieces: args },
      { kind: 'use', pieces: ['{}'] },
    ],
    stop: 'tools',
    usage,
  },
};

describe.each(pairs)('a reply of %s → %s', (provider, client) => {
  it.each(Object.entries(rows))('says the same, whole: %s', (_, told) => {
    const whole = translate(client, provider)?.reply(JSON.stringify(say[provider].whole(told)), terms);
    expect(JSON.parse(String(whole))).toMatchObject(say[client].whole(told));
  });

  it.each(Object.entries(rows))('says the same in a stream: %s', (_, told) => {
    const { hasFailed, out } = streamed(provider, client, [bytesOf(say[provider].stream(told))]);
    expect(hasFailed).toBe(false);
    expect(assembled[client](eventsOf(out))).toMatchObject(say[client].whole(told));
    for (const { name, text } of out) expect(name).toBe(client === 'chat' ? null : JSON.parse(text).type);
  });

  it('is none where the provider has sent something else', () => {
    expect(translate(client, provider)?.reply('{"error":{}}', terms)).toBeNull();
  });
});

const piece = fc.string({ maxLength: 8, unit: 'grapheme' });
const words = fc.array(piece, { minLength: 1, maxLength: 6 }).filter((pieces) => pieces.join('').trim() !== '');
const object = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), {
  maxKeys: 3,
  noNullPrototype: true,
});
const cutUp = (text: string) =>
  fc.array(fc.nat(text.length), { maxLength: 5 }).map((cuts) => {
    const places = [0, ...cuts.sort((a, b) => a - b), text.length];
    return places.slice(1).map((end, index) => text.slice(places[index], end));
  });
const told: fc.Arbitrary<Told> = fc
  .tuple(
    fc.option(words, { nil: null }),
    fc.option(words, { nil: null }),
    fc.array(
      object.chain((each) => cutUp(JSON.stringify(each))),
      { maxLength: 3 },
    ),
  )
  .filter(([, text, calls]) => text !== null || calls.length > 0)
  .map(([thought, text, calls]) => ({
    blocks: [
      ...(thought === null ? [] : [{ kind: 'thinking' as const, pieces: thought }]),
      ...(text === null ? [] : [{ kind: 'text' as const, pieces: text }]),
      ...calls.map((pieces) => ({ kind: 'use' as const, pieces })),
    ],
    stop: calls.length > 0 ? ('tools' as const) : ('end' as const),
    usage,
  }));

describe.each(pairs)('any stream of %s → %s', (provider, client) => {
  it('gives the same events wherever it is cut, and loses and doubles nothing', () => {
    fc.assert(
      fc.property(told, fc.array(fc.nat(), { maxLength: 8 }), (each, cuts) => {
        const bytes = bytesOf(say[provider].stream(each));
        const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
        const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        const { out } = streamed(provider, client, pieces);
        expect(out.map(({ text }) => text)).toEqual(streamed(provider, client, [bytes]).out.map(({ text }) => text));
        expect(assembled[client](eventsOf(out))).toMatchObject(say[client].whole(each));
      }),
      { numRuns: 100 },
    );
  });
});
