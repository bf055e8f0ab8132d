/** The filter itself, in a host that does what Envoy does: it buffers what is not let go, and calls for each piece. */
import { firstEventHeader, headPatience, headPatienceHeader, unreadableReply } from '@gw/contract/internal/first-event';
import { safetyCodes, safetyPhrases } from '@gw/contract/internal/safety-words';
import { blockedContent } from '@gw/testing/receipt-sidecar/blocked-content';
import { tooLong } from '@gw/testing/receipt-sidecar/too-long';
import { describe, expect, test } from 'vitest';
import { firstEventWasm } from './generated/first-event.ts';

interface Filter {
  readonly memory: { readonly buffer: ArrayBuffer };
  _initialize?(): void;
  proxy_on_memory_allocate(bytes: number): number;
  proxy_on_configure(context: number, bytes: number): number;
  proxy_on_request_headers(context: number, headers: number, end: number): number;
  proxy_on_response_headers(context: number, headers: number, end: number): number;
  proxy_on_response_body(context: number, bytes: number, end: number): number;
  proxy_on_response_trailers(context: number, trailers: number): number;
  proxy_on_tick(context: number): void;
  proxy_on_delete(context: number): void;
}

// This project's types are for Node without the web's.
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
};

const mostBytes = 4 * 1024 * 1024;
const mostOfOne = 1024 * 1024;
const earlyMs = 200;
const ofRequest = 0;

function host() {
  let requested = new Map<string, string>();
  let headers = new Map<string, string>();
  let body = Buffer.alloc(0);
  let nowMs = 1000;
  let released = false;
  let copied = 0;
  const at = (from: number, length: number) => Buffer.from(filter.memory.buffer, from, length);
  const say = (bytes: Buffer, value: number, length: number) => {
    const to = filter.proxy_on_memory_allocate(bytes.length);
    if (to === 0) return 1;
    copied += bytes.length;
    bytes.copy(at(to, bytes.length));
    at(value, 4).writeUInt32LE(to);
    at(length, 4).writeUInt32LE(bytes.length);
    return 0;
  };
  const env = {
    proxy_get_header_map_value: (map: number, name: number, bytes: number, value: number, length: number) => {
      const found = (map === ofRequest ? requested : headers).get(at(name, bytes).toString());
      return found === undefined ? 1 : say(Buffer.from(found), value, length);
    },
    proxy_replace_header_map_value: (_map: number, name: number, bytes: number, value: number, length: number) => {
      headers.set(at(name, bytes).toString(), at(value, length).toString());
      return 0;
    },
    proxy_get_buffer_bytes: (_kind: number, from: number, most: number, value: number, length: number) =>
      say(body.subarray(from, from + most), value, length),
    proxy_set_tick_period_milliseconds: () => 0,
    proxy_set_effective_context: () => 0,
    proxy_continue_stream: () => {
      released = true;
      return 0;
    },
  };
  const wasi_snapshot_preview1 = {
    clock_time_get: (_clock: number, _precision: bigint, time: number) => {
      at(time, 8).writeBigUInt64LE(BigInt(nowMs) * 1_000_000n);
      return 0;
    },
  };
  const instance = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(firstEventWasm, 'base64')), {
    env,
    wasi_snapshot_preview1,
  });
  const filter = instance.exports as Filter;
  filter._initialize?.();
  filter.proxy_on_configure(1, 0);
  let context = 1;
  return {
    /** Returns what the router sees: the status, what the sidecar is told, and after how many pieces the head went on. */
    reply(
      pieces: readonly (string | Buffer)[],
      {
        type = 'text/event-stream',
        status = '200',
        ends = true,
        encoding = '',
        patience = headPatience(30_000, 'request'),
        after = 0,
      } = {},
    ) {
      context += 1;
      requested = new Map([[headPatienceHeader, patience]]);
      filter.proxy_on_request_headers(context, 1, 0);
      nowMs += after;
      headers = new Map([
        [':status', status],
        ['content-type', type],
        ...(encoding === '' ? [] : [['content-encoding', encoding] as const]),
      ]);
      body = Buffer.alloc(0);
      released = false;
      copied = 0;
      let taken = 0;
      let isHeld = filter.proxy_on_response_headers(context, 2, pieces.length === 0 && ends ? 1 : 0) !== 0;
      const bytes = pieces.map((piece) => Buffer.from(piece));
      const all = Buffer.concat(bytes);
      for (const [index, piece] of bytes.entries()) {
        if (!isHeld) break;
        taken = index + 1;
        body = all.subarray(0, body.length + piece.length);
        const isLast = ends && taken === pieces.length;
        isHeld = filter.proxy_on_response_body(context, body.length, isLast ? 1 : 0) !== 0;
      }
      const words = headers.get(firstEventHeader);
      return { status: Number(headers.get(':status')), words, type: headers.get('content-type'), isHeld, taken };
    },
    trailers: () => {
      filter.proxy_on_response_trailers(context, 0);
      return Number(headers.get(':status'));
    },
    /** Whether a head that has waited this long is let go. */
    after(ms: number) {
      nowMs += ms;
      filter.proxy_on_tick(1);
      return released;
    },
    /** The bytes that the filter got of the last reply. */
    copied: () => copied,
    type: () => headers.get('content-type'),
    size: () => filter.memory.buffer.byteLength,
    close: () => filter.proxy_on_delete(context),
  };
}

const event = (data: unknown) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const text = event({ id: 'c', choices: [{ delta: { content: 'Hi' } }] });
const role = event({ id: 'c', model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] });
const end = event('[DONE]');
const results = { hate: { filtered: false, severity: 'safe' }, jailbreak: { filtered: false, detected: false } };
const azure = event({
  id: '',
  object: '',
  model: '',
  choices: [],
  prompt_filter_results: [{ prompt_index: 0, content_filter_results: results }],
});

describe('a failure as the first event', () => {
  test.each([
    ['vLLM', { error: { message: 'too many', type: 'RateLimitError', code: 429 } }, 429],
    ['a text as the code', { error: { message: 'Limit', code: '429' } }, 429],
    ['a code at the top', { error: 'Provider returned error', code: 502 }, 502],
    ['a kind alone', { error: { message: 'Slow down', type: 'rate_limit_error' } }, 429],
    ['Anthropic', { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 503],
    ['Gemini', { error: { code: 400, message: 'Too long', status: 'INVALID_ARGUMENT' } }, 400],
    ['the window of the model', { error: { message: "This model's maximum context length is 4096 tokens" } }, 400],
    ['a code that is no status', { error: { message: 'Broken', code: 1234 } }, 500],
    ['a code that begins with a status', { error: { message: 'Broken', code: 5031 } }, 500],
    ['a code above those of failures', { error: { message: 'Broken', code: 600 } }, 500],
    ['a word alone', { error: 'boom' }, 500],
    ['an object called error', { object: 'error', message: 'Broken' }, 500],
    ['a key', { error: { type: 'authentication_error' } }, 401],
    ['FastAPI', { detail: 'Service Unavailable' }, 503],
    ['Bedrock', { message: 'Too many tokens', __type: 'ThrottlingException' }, 429],
    ['Bedrock behind a proxy', { error: { message: 'Too many tokens, please wait before trying again.' } }, 429],
    ['a rate of prompts', { error: { message: 'Prompt tokens per minute exceeded' } }, 429],
    ['MiniMax', { choices: null, base_resp: { status_code: 1002, status_msg: 'rate limit' } }, 429],
    ['a list', [{ error: { code: 429, message: 'Slow' } }], 429],
    ['a code and words', { code: 429, msg: 'Too many requests', data: null }, 429],
    ['words alone', { success: false, error_code: 'RateLimited', error_msg: 'Too many requests' }, 429],
    ['a choice', { choices: [{ delta: {}, finish_reason: 'error', error: { code: 429, message: 'Limit' } }] }, 429],
    ['a choice without a status', { choices: [{ delta: { content: '' }, error: { message: 'Overloaded' } }] }, 503],
    ['a wait', { error: { message: 'The model took too long to answer' } }, 500],
  ])('%s has the status of the failure', (_name, failure, status) => {
    expect(host().reply([event(failure), end])).toMatchObject({
      status,
      words: JSON.stringify(failure),
      isHeld: false,
    });
  });

  test.each(blockedContent)(
    'a safety block of %s refuses the request, whatever status it states',
    (_server, _status, body) => {
      expect(host().reply([event(body), end])).toMatchObject({ status: 400, words: JSON.stringify(body) });
      expect(host().reply([JSON.stringify(body)], { type: 'application/json' }).status).toBe(400);
    },
  );

  test('is a safety block by each code as a value, and by each phrase', () => {
    for (const code of safetyCodes)
      for (const stated of [{}, { status: 503 }])
        expect([code, host().reply([event({ error: { message: 'No', code, ...stated } })]).status]).toEqual([
          code,
          400,
        ]);
    for (const phrase of safetyPhrases)
      expect([phrase, host().reply([event({ error: { message: `It was ${phrase}.` } })]).status]).toEqual([
        phrase,
        400,
      ]);
    // A number in other words, and a client's text that is repeated.
    for (const message of ['Worker 1301 broke', 'Cannot read \\"content_filter\\"'])
      expect(host().reply([event({ error: { message } })]).status).toBe(500);
    // A count.
    expect(host().reply([event({ error: { message: 'No' }, usage: { prompt_tokens: 1301 } })]).status).toBe(500);
  });

  test.each(tooLong)('a prompt that is too long for %s refuses the request', (_server, status, body) => {
    const expected = status === 500 ? 500 : expect.toBeOneOf([400, 413, 422]);
    expect(host().reply([event(body), end])).toMatchObject({ status: expected });
    expect(host().reply([JSON.stringify(body)], { type: 'application/json' })).toMatchObject({ status: expected });
  });

  test('is one by its name, too, and whatever its form', () => {
    expect(host().reply(['event: error\ndata: {"message":"boom","code":503}\n\n']).status).toBe(503);
    expect(host().reply(['event: error\ndata: boom\n\n'])).toMatchObject({ status: 500, words: 'boom' });
  });

  test('is found behind comments, empty lines, names and events that say nothing, in any line ends and pieces', () => {
    const stream = `\ufeff: hi\r\n\r\nretry: 5\r\n${role.replaceAll('\n', '\r\n')}data: {"error":\r\ndata: {"code":429}}\r\n\r\n`;
    const bytes = Buffer.from(stream);
    const single = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
    for (const pieces of [[bytes], single]) expect(host().reply(pieces).status).toBe(429);
    expect(host().reply([': hi\r\r', 'data:{"error":{"code":429}}\r\r']).status).toBe(429);
  });

  test('is found behind the results of a filter, in front of which or behind which an answer can be', () => {
    expect(host().reply([azure, role, event({ error: { code: 429 } })])).toMatchObject({ status: 429, taken: 3 });
    expect(host().reply([azure, text])).toMatchObject({ status: 200, taken: 2 });
    const answer = { content_filter_results: results, delta: { content: 'Hi' } };
    expect(host().reply([event({ choices: [answer] })])).toMatchObject({ status: 200, taken: 1 });
  });

  test('is found in the last line of a stream that has no end', () => {
    expect(host().reply(['data: {"error":{"code":429}}']).status).toBe(429);
  });

  test('tells the sidecar no byte that a header cannot hold, and no more than 4 KiB', () => {
    const { words } = host().reply([event({ error: { message: `é${'x,'.repeat(9000)}`, code: 400 } })]);
    expect(words).toContain('é');
    const lines = event({ error: { message: 'é', code: 400 } }).replace('"code"', '\ndata: "code"');
    expect(host().reply([lines]).words).not.toMatch(/\p{Cc}/u);
    const many = event({ error: { message: 'a', details: Array.from({ length: 2000 }, () => 'word') } });
    expect(host().reply([many]).words).toHaveLength(4 * 1024);
  });

  test.each([
    ['in the front', (prompt: string) => ({ error: { message: `Slow down: ${prompt}`, type: 'rate_limit_error' } })],
    ['behind', (prompt: string) => ({ error: { message: `${prompt} is what came: rate limit`, code: null } })],
    ['at the end', (prompt: string) => ({ error: { message: prompt, param: prompt, code: 'rate_limit_exceeded' } })],
  ])('is understood around a long prompt that it quotes: %s', (_name, failure) => {
    // With letters of several bytes and escapes wherever the text may be cut.
    for (const letters of ['é', '"\\', '\u0001', 'a\n']) {
      const said = failure(letters.repeat(60_000 / letters.length));
      for (const text of [event(said), JSON.stringify(said)]) {
        const { status, words = '' } = host().reply([text]);
        expect(status).toBe(429);
        expect(words.length).toBeLessThan(4 * 1024);
        expect(words).not.toContain('\ufffd');
        const told = JSON.parse(words) as typeof said;
        expect(Object.keys(told.error)).toEqual(Object.keys(said.error));
      }
    }
  });
});

describe('a reply without anything', () => {
  test.each([
    ['no body', []],
    ['an empty body', ['']],
    ['comments alone', [': hi\n\n', ': hi\n\n']],
    ['an end alone', [end]],
    ['names alone', [role, end]],
    ['an end because of an error', [role, event({ choices: [{ delta: {}, finish_reason: 'error' }] }), end]],
    ['the results of filters', [azure, role, end]],
    ['blank lines', ['\n\n']],
  ])('is a failure of the provider: %s', (_name, pieces) => {
    expect(host().reply(pieces)).toMatchObject({ status: 502, words: '' });
    if (!pieces.includes(end))
      expect(host().reply(pieces, { type: 'application/json' })).toMatchObject({ status: 502 });
  });

  test('is one if it ends with trailers, too', () => {
    const one = host();
    expect(one.reply([': hi\n\n'], { ends: false }).isHeld).toBe(true);
    expect(one.trailers()).toBe(502);
  });

  test('is known by the end event, although the connection stays open', () => {
    expect(host().reply([': hi\n\n', end], { ends: false })).toMatchObject({ status: 502, isHeld: false });
  });
});

describe('a reply that no API has', () => {
  const page = '<!DOCTYPE html>\n<html><body>Log in</body></html>';
  const unreadable = { status: 502, words: unreadableReply, isHeld: false };

  test.each([
    ['a page', page],
    ['a page behind blanks', `\ufeff\n  ${page}`],
    ['null', 'null'],
    ['a text', '"Unauthorized"'],
    ['a word', 'OK'],
    ['a number', '42'],
    ['a list', '[[0.5]]'],
    ['an empty list', '[]'],
    ['a list of answers', '[{"choices":[{"text":"Hi"}]}]'],
    ['a list of an object', '[{"answer":"Hi"}]'],
    ['an object that breaks off', '{"broken":'],
    ['a text that breaks off', '{"broken":"'],
    ['a list that breaks off', '['],
    ['compressed bytes', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0])],
  ])('is a failure of the provider, in any pieces: %s', (_name, body) => {
    const bytes = Buffer.from(body);
    const single = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
    for (const type of ['application/json', 'text/html', 'text/plain'])
      for (const pieces of [[bytes], single]) expect(host().reply(pieces, { type })).toMatchObject(unreadable);
    // A word could be a line of a stream, which nothing follows.
    expect(host().reply([bytes])).toMatchObject({ status: 502, isHeld: false });
  });

  test('is known by its beginning, although it does not end', () => {
    for (const type of ['text/event-stream', 'text/html'])
      expect(host().reply([page, page], { type, ends: false })).toMatchObject({ ...unreadable, taken: 1 });
    expect(host().reply(['nul', 'l'], { type: 'application/json', ends: false }).isHeld).toBe(true);
  });

  test('is data that are no JSON, as the first of a stream', () => {
    for (const data of ['hello', page.replace('\n', ' '), '"text"', 'nullx', 'nul'])
      expect(host().reply([': hi\n\n', role, event(data)], { ends: false })).toMatchObject(unreadable);
  });

  test.each([
    ['408', 504],
    ['424', 500],
    ['425', 503],
    ['499', 500],
    ['400', 400],
    ['404', 404],
    ['409', 409],
  ])('or a failure of the server has the status of one, unread: %s', (status, known) => {
    expect(host().reply([text], { status })).toMatchObject({ status: known, words: undefined, taken: 0 });
  });

  test.each(['202', '204', '302', '304'])('is a reply with status %s, unread', (status) => {
    expect(host().reply([text], { status })).toMatchObject({ ...unreadable, taken: 0 });
    expect(host().reply([], { status })).toMatchObject(unreadable);
  });
});

describe('what goes on as it is', () => {
  test.each(['201', '203'])('an answer with status %s, which clients get as 200', (status) => {
    expect(host().reply([role, text], { status })).toMatchObject({ status: 200, words: undefined, taken: 2 });
    const type = 'application/json';
    expect(host().reply(['{"choices":[{"text":"Hi"}]}'], { status, type })).toMatchObject({ status: 200 });
    expect(host().reply(['{"error":{"code":429}}'], { status, type })).toMatchObject({ status: 429 });
    expect(host().reply([text], { status, encoding: 'br' })).toMatchObject({ status: 200, taken: 0 });
    expect(host().reply([], { status }).status).toBe(502);
  });

  test('is null for an event, as long as nothing follows that tells', () => {
    expect(host().reply([event('null'), role, event(' null'), text])).toMatchObject({ status: 200, taken: 4 });
    expect(host().reply([event('null'), event({ error: { code: 429 } })]).status).toBe(429);
    expect(host().reply([event('null'), end]).status).toBe(502);
  });

  test.each(['Text/Event-Stream', 'text/event-streams'])(
    'has the type of a stream as all clients know it: %s',
    (type) => {
      expect(host().reply([text], { type }).type).toBe('text/event-stream');
    },
  );

  test('keeps the parameters of the type of a stream', () => {
    const type = 'text/event-stream; charset=utf-8';
    expect(host().reply([text], { type }).type).toBe(type);
  });

  test.each([
    ['text', [text]],
    ['a call of a tool', [event({ choices: [{ delta: { tool_calls: [{ id: 't', function: { name: 'f' } }] } }] })]],
    ['an answer that ends at once', [event({ choices: [{ delta: {}, finish_reason: 'stop' }] })]],
    ['an answer to a prompt', [event({ choices: [{ text: 'Hi' }] })]],
    ['an answer before a failure', [event({ choices: [{ delta: { content: 'Hi' }, error: { message: 'Cut' } }] })]],
    ['a text about errors', [event({ choices: [{ delta: { content: '{"error": 429}' } }], error: null })]],
    [
      'an answer with words of its own',
      [event({ detail: 'low', message: 'ok', errors: ['x'], choices: [{ text: 'Hi' }] })],
    ],
    ['an answer of MiniMax', [event({ choices: [{ text: 'Hi' }], base_resp: { status_code: 0, status_msg: '' } })]],
    ['a line of an unknown field in front', [`name\nkind: x\n${text}`]],
  ])('%s', (_name, pieces) => {
    expect(host().reply(pieces)).toMatchObject({ status: 200, words: undefined, isHeld: false, taken: 1 });
  });

  test('of a response does not begin with the events that repeat its request', () => {
    const response = { id: 'r', instructions: 'Be brief.', tools: [{ type: 'function', name: 'f' }] };
    const begun = ['created', 'in_progress'].map((type) => event({ type: `response.${type}`, response }));
    const delta = event({ type: 'response.output_text.delta', item_id: 'm', delta: 'Hi' });
    expect(host().reply([...begun, delta, delta])).toMatchObject({ status: 200, taken: 3 });
    const error = { code: 'rate_limit_exceeded', message: 'Slow down' };
    const failed = event({ response: { ...response, status: 'failed', error }, type: 'response.failed' });
    expect(host().reply([...begun, failed])).toMatchObject({ status: 429, taken: 3 });
  });

  test('goes on with the first event that says something', () => {
    expect(host().reply([': hi\n\n', role, text, text])).toMatchObject({ status: 200, taken: 3 });
  });

  test('is an answer of one word that is that of failures', () => {
    const word = event({ choices: [{ delta: { content: 'error' } }] });
    const stop = event({ choices: [{ delta: {}, finish_reason: 'stop' }] });
    expect(host().reply([word, stop, end])).toMatchObject({ status: 200, words: undefined, taken: 2 });
  });

  test('is a reply with the status of a failure, unread', () => {
    expect(host().reply([event({ error: { code: 429 } })], { status: '503' })).toMatchObject({ status: 503, taken: 0 });
  });

  test('is a compressed reply, unread', () => {
    expect(host().reply(['\n', text], { encoding: 'br' })).toMatchObject({ status: 200, taken: 0 });
    expect(host().reply([event({ error: { code: 429 } })], { encoding: 'identity' }).status).toBe(429);
  });

  test('is more than can be held, in bytes', () => {
    const comment = `: ${'x'.repeat(1020)}\n\n`;
    const most = Array.from({ length: mostBytes / comment.length }, () => comment);
    expect(host().reply([...most, text])).toMatchObject({ status: 200, taken: most.length + 1 });
    expect(host().reply(most, { ends: false }).isHeld).toBe(true);
    expect(host().reply([...most, ':', text])).toMatchObject({ status: 200, taken: most.length + 1 });
    expect(host().reply([most.join(''), event({ error: { code: 429 } })])).toMatchObject({ status: 200, taken: 2 });
    expect(host().reply([`${most.join('')}:`])).toMatchObject({ status: 200, isHeld: false });
    const one = (length: number) => JSON.stringify({ error: { message: 'x'.repeat(length), code: 429 } });
    for (const form of [event, (whole: string) => whole]) {
      expect(host().reply([form(one(mostOfOne - 100))]).status).toBe(429);
      expect(host().reply([form(one(mostOfOne + 64 * 1024))])).toMatchObject({ status: 200, isHeld: false });
    }
  });

  test('is more than can be held, in time, which the request tells', () => {
    const since = (patience: string, after = 0) => {
      const slow = host();
      const { isHeld } = slow.reply([': hi\n\n'], { ends: false, type: 'text/plain', patience, after });
      return { ...slow, isHeld };
    };
    // The router counts from the request on, and is not to be the first.
    const request = since(headPatience(2000, 'request'), 1000);
    expect([request.after(1000 - earlyMs - 1), request.after(1)]).toEqual([false, true]);
    expect(request.type()).toBe('text/event-stream');
    const head = since(headPatience(2000, 'head'), 60_000);
    expect([head.after(1999), head.after(1)]).toEqual([false, true]);
    expect(since(headPatience(2000, 'request'), 2000 - earlyMs).isHeld).toBe(false);
    expect(since('').isHeld).toBe(false);
  });

  test('is let go once, and costs nothing then', () => {
    const slow = host();
    slow.reply([': hi\n\n'], { ends: false });
    expect(slow.after(30_000)).toBe(true);
    slow.reply([text]);
    expect(slow.after(30_000)).toBe(false);
  });
});

describe('the type of the content', () => {
  test.each(['text/plain', 'application/octet-stream', ''])('is that of a stream where the body is one: %s', (type) => {
    for (const first of [text, `: hi\n\n${text}`, `event: x\n${text}`])
      expect(host().reply([first], { type })).toMatchObject({ status: 200, type: 'text/event-stream' });
    expect(host().reply([event({ error: { code: 429 } })], { type }).status).toBe(429);
  });

  test('is that of JSON where a stream is none', () => {
    expect(host().reply(['{"id":"c","choices":[{"index":0}]}'])).toMatchObject({
      status: 200,
      type: 'application/json',
    });
  });

  test('stays for JSON, of which the beginning of an answer is enough', () => {
    const reply = host().reply(['{"id":"c","a":{"b":[1]},', '"model":"a model","choices":[{"index"', ':0}]}'], {
      type: 'application/json; charset=utf-8',
    });
    expect(reply).toMatchObject({ status: 200, type: 'application/json; charset=utf-8', taken: 2 });
  });
});

describe('a JSON reply', () => {
  const json = { type: 'application/json' };
  test.each([
    ['{"error":{"message":"boom","code":429}}', 429],
    ['{"id":"c","object":"x","error":{"message":"boom","code":429}}', 429],
    ['{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', 503],
    [' [ {"error":{"code":429,"message":"boom"}} ]', 429],
    ['{"object":"error","message":"boom","details":["a"],"code":429}', 429],
    ['{"detail":"Not found"}', 500],
    ['{"detail":[{"loc":["body"],"msg":"boom"}]}', 500],
    ['{"errors":[{"message":"Too many requests"}],"success":false,"result":null}', 429],
    ['{"message":"Too many requests"}', 429],
    ['{"error":{"message":"boom"},"choices":[{"text":"Hi"}]}', 500],
    ['{"error":{"message":"boom"},"list":[1]', 500],
    ['{}', 500],
    ['{"id":"c","choices":[],"usage":{"prompt_tokens":3}}', 500],
    ['{"id":"c","data":null}', 500],
    ['{"status":"ok"}', 500],
    ['{"id":"c","choices":[{}]}', 500],
    ['{"id":"c","choices":[ { } ],"usage":{"prompt_tokens":3}}', 500],
    ['{"id":"c","choices":[null]}', 500],
    ['{"id":"c","choices":[ ],"metadata":{"weight_version":"default"}}', 500],
    ['{"choices":null,"base_resp":{"status_code":1039,"status_msg":"token limit"}}', 400],
  ])('that is a failure, or no answer, has the status of one, in any pieces: %s', (failure, status) => {
    const single = [...failure];
    for (const pieces of [[failure], single]) {
      const reply = host().reply(pieces, json);
      expect(reply).toMatchObject({ status, isHeld: false });
      expect(reply.words).toContain(failure.trim().slice(2, -2).trim());
    }
    expect(host().reply([failure]).status).toBe(status);
  });

  test.each([
    '{"error":null,"choices":[{"text":"Hi"}]}',
    '{"object":"list","data":[{"object":"embedding","embedding":[0.5]}]}',
    '{"prompt_filter_results":[{}],"choices":[{"text":"error"}]}',
    '{"id":"c","note":"\\"error\\":{","usage":{"error":{}},"choices":[ "x"]}',
    '{"answer":"Yes.","effort":{"heard":5}}',
    '{"message":{"content":"Yes."}}',
    '{"answer":"Yes.","tags":[]}',
    '{"base_resp":{"status_code":0,"status_msg":"success"},"choices":[{"text":"Hi"}]}',
  ])('of any other kind goes on as it is: %s', (reply) => {
    expect(host().reply([reply], json)).toMatchObject({ status: 200, words: undefined, isHeld: false });
  });

  test('without an answer need not end', () => {
    expect(host().reply(['{"detail":"Service unavailable"}'], { ...json, ends: false }).status).toBe(503);
  });
});

describe('a large beginning', () => {
  const long = event({ error: { message: 'x'.repeat(1_000_000), code: 429 } });
  const cut = (body: string, length: number) => {
    const pieces: string[] = [];
    for (let at = 0; at < body.length; at += length) pieces.push(body.slice(at, at + length));
    return pieces;
  };

  test.each([
    ['an event', long, 2.1],
    ['comments in front', `${': PROCESSING\n\n'.repeat(50_000)}${event({ error: { code: 429 } })}`, 2.1],
    ['comments without a blank line', `${': PROCESSING\n'.repeat(50_000)}${event({ error: { code: 429 } })}`, 2.1],
    ['roles in front', `${role.repeat(5_000)}${event({ error: { code: 429 } })}`, 3],
    ['blank lines in front', `${'\r\n'.repeat(200_000)}${event({ error: { code: 429 } })}`, 1.1],
    ['an object', JSON.stringify({ error: { message: 'x'.repeat(1_000_000), code: 429 } }), 5],
    ['an object in a list', `[${' '.repeat(300_000)}{"error":{"code":429}}]`, 1.1],
  ])('is understood in any pieces, and read a few times at most: %s', (_name, body, times) => {
    for (const length of [body.length, 70_000, 1000, 100]) {
      const one = host();
      expect(one.reply(cut(body, length))).toMatchObject({ status: 429, isHeld: false });
      expect(one.copied() / body.length).toBeLessThan(times);
    }
  });

  test('of an answer is enough', () => {
    const one = host();
    expect(one.reply([`{"id":"c","data":[{"embedding":[${'0.5,'.repeat(500_000)}1]}]}`]).status).toBe(200);
    expect(one.copied()).toBeLessThan(40_000);
  });
});

test('keeps nothing of the calls that are over', () => {
  const many = host();
  const before = many.size();
  for (let call = 0; call < 20_000; call++) {
    many.reply([': hi\n\n', call % 2 ? text : role], { ends: false });
    many.close();
  }
  expect(many.size() - before).toBeLessThan(512 * 1024);
});
