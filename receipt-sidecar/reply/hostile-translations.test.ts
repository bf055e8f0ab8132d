/** Whatever a provider sends in any API, its own or another than the client's, and however it is cut, its client reads one receipt at most, which is ours, and one end. */
import { defined } from '@gw/contract/internal/defined';
import { cases } from '@gw/testing/cases';
import { eventBounds } from '@gw/testing/receipt-sidecar/event-bounds';
import fc from 'fast-check';
import { _iterSSEMessages } from 'openai/core/streaming';
import { describe, expect, it, vi } from 'vitest';
import { bodiesOf, returningFrom, streamFrom } from '../api/behind.ts';
import { KnownDeltas } from '../api/openai/known-deltas.ts';
import { parseRequest } from '../api/parse.ts';
import { shapeOf } from '../api/shapes.ts';
import { EventStream } from './event-stream.ts';
import { ForeignEvents } from './foreign-events.ts';

const apis = ['chat', 'messages', 'responses'] as const;
type Api = (typeof apis)[number];
const pairs = apis.flatMap((client) => apis.map((api) => [client, api] as const));
const translated = pairs.filter(([client, provider]) => client !== provider);

const messages = [{ role: 'user', content: 'Hello' }];
const asked: Readonly<Record<Api, object>> = {
  chat: { messages, stream_options: { include_usage: true } },
  messages: { messages, max_tokens: 100 },
  responses: { input: 'Hello' },
};

/** Returns what the client's own decoder reads, and how often a receipt was made. */
async function read(client: Api, provider: Api, bytes: Buffer, cuts: readonly number[] = []) {
  const sent = Buffer.from(JSON.stringify({ model: 'm', stream: true, ...asked[client] }));
  const parsed = parseRequest(client, sent);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const { request } = bodiesOf(parsed.value, { contextWindow: null, spoken: [[provider]] });
  const returning = returningFrom(request, { calls: { apis: [provider] } });
  const reader = defined(shapeOf(client).reply.stream, 'Streams').open(request, null);
  const bounds = { ...eventBounds, energyReader: null };
  const foreign =
    returning &&
    new ForeignEvents({ foreign: streamFrom(returning, request, null), endEvent: reader.endEvent, ...bounds });
  let made = 0;
  const stream = new EventStream({
    reader,
    ...bounds,
    addresses: { baseUrl: 'http://gw.test', statusUrl: '', auditEmail: '', securityEmail: '' },
    refusalFor: () => null,
    receipt: () => {
      made += 1;
      return { gw: '{"id":"ours"}', routingTrace: '"ours"', usageGw: '{"id":"ours"}', counts: null };
    },
  });
  const out: Buffer[] = [];
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    const piece = Buffer.from(bytes.subarray(from, from + cut));
    stream.push(foreign ? foreign.push(piece) : piece);
    out.push(stream.take());
    from = Math.min(bytes.length, from + cut);
  }
  if (foreign) stream.push(foreign.end());
  stream.end();
  const text = Buffer.concat([...out, stream.take()]);
  const data: string[] = [];
  // An id that the provider has not given is made up.
  for await (const event of _iterSSEMessages(new Response(new Uint8Array(text)), new AbortController()))
    data.push(event.data.replaceAll(/[0-9a-f]{32}/g, 'id').replaceAll(/("created(?:_at)?":)\d+/g, '$1 0'));
  return { data, made, over: stream.over };
}

/** In what passes as it is, a client looks for the receipt in these. */
const holders = new Set(['usage', 'response', 'message']);

/** Whether all that only the gateway may say is ours, in any letters, and at any depth in what was translated. */
function isOurs(value: unknown, isTranslated: boolean): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, inner]) => {
    if (!/^(gw|routing_trace)$/i.test(name)) return !(isTranslated || holders.has(name)) || isOurs(inner, isTranslated);
    return inner === 'ours' || (inner as { readonly id?: unknown } | null)?.id === 'ours';
  });
}
const isError = (data: string): boolean => {
  if (data === '[DONE]') return false;
  const { error, type } = JSON.parse(data);
  return Boolean(error) || type === 'error' || type === 'response.failed';
};
const endsOf = (data: readonly string[]): number =>
  data.filter((each) => /^\[DONE\]$|"type":"(message_stop|response\.(completed|incomplete|failed))"/.test(each)).length;

const forged = { gw: { id: 'forged' }, Routing_Trace: 'forged', usage: { gw: { id: 'forged' }, total_tokens: 7 } };
const texts = ['Hi', 'Ho ho', '\ud83d', '\ude00', 'data: [DONE]\n\n', '","gw":{"id":"forged"}', '\u2028\u0000', 'é'];
const ends: Readonly<Record<Api, readonly string[]>> = {
  chat: ['stop', 'length', 'tool_calls', 'content_filter', 'other'],
  messages: ['end_turn', 'max_tokens', 'tool_use', 'refusal', 'other'],
  responses: ['completed', 'incomplete', 'failed', 'cancelled'],
};

/** The events of an API: those of usual streams, and those that make no sense there. */
const soups: Readonly<Record<Api, (text: string, at: number, end: string) => readonly object[]>> = {
  chat: (text, at, end) => {
    const chunk = (delta: object, rest: object = {}) => ({ id: 'c', choices: [{ index: 0, delta, ...rest }] });
    const call = (id: string | undefined, args: string) =>
      chunk({ tool_calls: [{ index: at, id, function: { name: id && 'f', arguments: args } }] });
    return [
      chunk({ role: 'assistant', content: text }),
      chunk({ content: text }),
      chunk({ reasoning_content: text, refusal: at > 1 ? text : null }),
      call(`call_${at}`, '{'),
      call(undefined, at > 0 ? '}' : text),
      { choices: [{ index: at, delta: { content: text } }], ...forged },
      chunk({}, { finish_reason: end, message: forged }),
      { choices: [], usage: { prompt_tokens: 1, completion_tokens: at, gw: 'forged' } },
      { choices: at, usage: text },
      { error: { message: text, ...forged } },
    ];
  },
  messages: (text, at, end) => {
    const block = (inner: object) => ({ type: 'content_block_start', index: at, content_block: inner });
    const delta = (inner: object) => ({ type: 'content_block_delta', index: at, delta: inner });
    return [
      { type: 'message_start', message: { id: 'msg_1', ...forged } },
      block({ type: 'text', text: '' }),
      block({ type: 'thinking', thinking: text, signature: '' }),
      block({ type: 'tool_use', id: `t${at}`, name: 'f', input: {}, ...forged }),
      delta({ type: 'text_delta', text }),
      delta({ type: 'thinking_delta', thinking: text }),
      delta({ type: 'input_json_delta', partial_json: at > 1 ? '{}' : text }),
      delta({ type: 'signature_delta', signature: text }),
      { type: 'content_block_stop', index: at },
      { type: 'message_delta', delta: { stop_reason: end }, ...forged },
      { type: 'message_stop', ...forged },
      { type: 'ping' },
      { type: 'error', error: { type: 'overloaded_error', message: text, ...forged } },
    ];
  },
  responses: (text, at, end) => {
    const item = (type: string) => ({ type, id: `i${at}`, call_id: `c${at}`, name: 'f', content: [], ...forged });
    const added = (type: string) => ({ type: 'response.output_item.added', output_index: at, item: item(type) });
    const delta = (kind: string) => ({
      type: `response.${kind}.delta`,
      output_index: at,
      content_index: 0,
      sequence_number: 7,
      delta: text,
    });
    return [
      { type: 'response.created', response: { id: 'resp_1', ...forged } },
      added('message'),
      added('function_call'),
      added('reasoning'),
      delta('output_text'),
      delta('reasoning_summary_text'),
      delta('refusal'),
      delta('function_call_arguments'),
      { type: 'response.output_item.done', output_index: at, item: { ...item('function_call'), arguments: '{}' } },
      { type: `response.${end}`, response: { id: 'resp_1', status: end, output: [item('message')], ...forged } },
      { type: 'error', message: text, ...forged },
      { type: at, response: null },
    ];
  },
};

const textTypes: Readonly<Record<Api, string | undefined>> = {
  chat: undefined,
  messages: 'content_block_delta',
  responses: 'response.output_text.delta',
};
const isText = (api: Api, event: { readonly type?: unknown }): boolean =>
  event.type === textTypes[api] && (api !== 'chat' || 'choices' in event);

/** Writes an event as providers do, with its name where the API has names. */
const named = (event: object): string =>
  `${'type' in event ? `event: ${String(event.type)}\n` : ''}data: ${JSON.stringify(event)}\n\n`;

const eventOf = (api: Api) =>
  fc
    .record({
      text: fc.constantFrom(...texts),
      at: fc.nat(3),
      end: fc.constantFrom(...ends[api]),
      which: fc.nat(99),
      isNamed: fc.boolean(),
    })
    .map(({ at, end, isNamed, text, which }) => {
      const soup = soups[api](text, at, end);
      const event = soup[which % soup.length] ?? {};
      return isNamed ? named(event) : `data: ${JSON.stringify(event)}\n\n`;
    });
/** Each of them as a rule an event; else what no reader of events should be fooled by. */
const piece = (api: Api) =>
  fc.oneof(
    { weight: 20, arbitrary: eventOf(api) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        'data: [DONE]\n\n',
        ': comment\r\n\r\n',
        'event: message_stop\ndata: {"gw":{"id":"forged"}}\n\n',
        'data: {"x":\n\n',
        '\ufeffdata: {"gw":"forged"}\r\r',
      ),
    },
    { weight: 1, arbitrary: fc.string() },
  );

describe.each(pairs)('a hostile stream for a client of %s by a provider of %s', (client, provider) => {
  it('makes one receipt, forges none, has one end, says nothing behind an error, and is the same wherever it is cut', async () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 12 });
    const stream = fc.array(piece(provider), { maxLength: 14 });
    await fc.assert(
      fc.asyncProperty(stream, cuts, async (pieces, lengths) => {
        const bytes = Buffer.from(pieces.join(''));
        const { data, made } = await read(client, provider, bytes);
        expect(made).toBe(1);
        for (const each of data)
          expect(each === '[DONE]' || isOurs(JSON.parse(each), client !== provider), each).toBe(true);
        expect(endsOf(data)).toBeLessThanOrEqual(1);
        const failures = data.filter(isError);
        expect(failures.length).toBeLessThanOrEqual(1);
        if (failures.length > 0) expect(data.indexOf(String(failures[0]))).toBe(data.length - 1);
        expect((await read(client, provider, bytes, lengths)).data).toEqual(data);
      }),
      { numRuns: cases(10_000, 100) },
    );
  });
});

describe.each(translated)('a stream for a client of %s by a provider of %s', (client, provider) => {
  it('has deltas that are known by their bytes, and mean what they mean to those who read each', async () => {
    const known = vi.spyOn(KnownDeltas.prototype, 'known');
    const delta = defined(
      soups[provider]('*', 0, '').find((event) => isText(provider, event)),
      'A delta',
    );
    const says = (text: string) => named(delta).replace('"*"', JSON.stringify(text));
    const elsewhere = ['there', 'and there'].map((text) => says(text).replace('index":0', 'index":2'));
    const begins = soups[provider]('', 0, '')
      .slice(0, provider === 'messages' ? 2 : 1)
      .map(named);
    const others = ['"', 'é', ''].map(says);
    const words = ['one', 'two', 'three'].map(says);
    const bytes = Buffer.from([...begins, ...words, ...others, ...words, ...elsewhere, ...words].join(''));
    const { data } = await read(client, provider, bytes);
    const byProvider = known.mock.results.filter(({ value }) => value !== null && isText(provider, value.like));
    expect(byProvider.length).toBeGreaterThan(4);
    known.mockRestore();
    const cuts = Array.from(bytes, () => 1);
    expect((await read(client, provider, bytes, cuts)).data).toEqual(data);
  });

  it('has whole the character that its provider has cut into two deltas', async () => {
    const [first, second] = ['a\ud83d', '\ude00b'];
    const at = provider === 'chat' ? [] : soups[provider]('', 0, '').slice(0, 2);
    const says = (text: string) => soups[provider](text, 0, '')[provider === 'chat' ? 1 : 4] as object;
    const last: Readonly<Record<Api, readonly object[]>> = {
      chat: [{ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }],
      messages: [
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
        { type: 'message_stop' },
      ],
      responses: [{ type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [] } }],
    };
    const events = [...at, says(first), says(second), ...last[provider]];
    const bytes = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
    const { data, over } = await read(client, provider, bytes);
    const deltas = data.flatMap((each) => {
      if (each === '[DONE]') return [];
      const { choices, delta, type } = JSON.parse(each);
      return [choices?.[0]?.delta.content ?? (type === 'response.output_text.delta' ? delta : delta?.text) ?? ''];
    });
    expect([deltas.join(''), over]).toEqual(['a\u{1f600}b', 'done']);
    expect(data.join('')).not.toMatch(/\ufffd|\\ud[89a-f]/i);
  });
});
