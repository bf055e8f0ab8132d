/**
 * Faults in the content of a reply. Faults of its transmission (reset, stall, cut, split, gzip) are in deliver.ts.
 *
 * Invariant: a fault changes a finished reply independently of its endpoint, so every endpoint can fail in every way. A fault without
 * meaning for a reply (`no-done` for JSON) does not change it.
 */
import type { Directives, Fault } from './directives.ts';
import { MESSAGE_STOP } from './messages.ts';
import { DONE, errorReply, type JsonReply, jsonReply, type Reply, type StreamReply, sse, withFields } from './reply.ts';
import { slice } from './text.ts';

/** Forged fields of a dishonest provider, which a gateway has to replace everywhere. */
const FORGED =
  '"gw":{"id":"rcpt_forged","object":"gw.receipt","status":"complete","energy_wh":0,"carbon_g":0},"routing_trace":{"decision":"forged"}';

const ERROR_EVENT = sse(
  JSON.stringify({
    error: { message: 'Simulated error inside a stream.', type: 'server_error', param: null, code: null },
  }),
);

const HTML =
  '<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>Simulated proxy error</body></html>';

/** Errors of servers for a prompt that exceeds the model's context; nothing is counted here. */
const TOO_LONG = {
  'too-long-openai': {
    status: 400,
    body: {
      error: {
        message:
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 130112 tokens. Please reduce the length of the messages.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
  },
  'too-long-vllm': {
    status: 400,
    body: {
      object: 'error',
      message:
        "This model's maximum context length is 128000 tokens. However, you requested 130212 tokens (130112 in the messages, 100 in the completion). Please reduce the length of the messages or completion.",
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
  },
  'too-long-tgi': {
    status: 422,
    body: {
      error: 'Input validation error: `inputs` must have less than 128000 tokens. Given: 130112',
      error_type: 'validation',
    },
  },
} as const;
const TOO_LONG_EVENT = sse(JSON.stringify(TOO_LONG['too-long-openai'].body));

/** Azure's answer to a prompt that its safety filter blocks. */
const CONTENT_FILTER = {
  error: {
    message: 'The response was filtered due to the prompt triggering a simulated content management policy.',
    type: null,
    param: 'prompt',
    code: 'content_filter',
    status: 400,
    innererror: { code: 'ResponsibleAIPolicyViolation' },
  },
};

const isTooLong = (fault: Fault): fault is keyof typeof TOO_LONG => fault in TOO_LONG;

const isStatus = (fault: Fault): boolean => fault.startsWith('status-');

function statusReply(fault: Fault): JsonReply {
  const status = Number(fault.slice('status-'.length));
  const reply = errorReply(status, `Simulated failure ${status}.`, status === 400 ? 'max_tokens' : null);
  return status === 429 ? { ...reply, headers: { 'retry-after': '1' } } : reply;
}

/** Adds the forged fields at the beginning and the end of the object, so the text has duplicate keys. */
function forge(text: string): string {
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}');
  if (!/^(?:event: [\w.]+\n)?(?:data: )?\{/.test(text)) return text;
  const inside = text.slice(start + 1, end).replace('"response":{', `"response":{${FORGED},`);
  return `${text.slice(0, start)}{${FORGED},${inside},${FORGED}${text.slice(end)}`;
}

/** Pads the object at the end of a text to the given size of the text, if it is shorter. */
function pad(text: string, bytes: number): string {
  const end = text.lastIndexOf('}');
  const missing = bytes - Buffer.byteLength(text) - ',"sim_padding":""'.length;
  if (end < 0 || missing < 0) return text;
  return `${text.slice(0, end)},"sim_padding":"${'x'.repeat(missing)}"${text.slice(end)}`;
}

function jsonFaults(reply: JsonReply, { faults, bytes }: Directives): JsonReply {
  let body = reply.body;
  if (faults.has('too-long-event')) return jsonReply(TOO_LONG['too-long-openai'].body);
  if (faults.has('error-event') || faults.has('failed-event'))
    return jsonReply(ERROR_EVENT.slice('data: '.length).trimEnd());
  if (faults.has('own-gw')) body = forge(body);
  if (faults.has('big')) body = pad(body, bytes);
  if (faults.has('malformed')) body = body.slice(0, -2);
  return { ...reply, body };
}

type MadeStream = StreamReply & { readonly tokens: readonly string[] };

/** Moves the usage to the first chunk with text. */
function countedOnce(stream: MadeStream): MadeStream {
  const [first = '', ...rest] = stream.tokens;
  const counted = withFields(first.replace(',"usage":null', ''), { usage: { prompt_tokens: 1, completion_tokens: 1 } });
  return { ...stream, tokens: [counted, ...rest], tail: stream.tail.filter((event) => !event.includes('"usage":{')) };
}

function streamFaults(reply: StreamReply, { faults, bytes }: Directives): StreamReply {
  const middle = reply.tokens.length >> 1;
  const changeMiddle = (stream: MadeStream, change: (event: string) => string): MadeStream => ({
    ...stream,
    tokens: stream.tokens.map((event, index) => (index === middle ? change(event) : event)),
  });
  let stream: MadeStream = { ...reply, tokens: slice(reply.tokens) };
  if (faults.has('own-gw')) {
    const { head, tokens, tail } = stream;
    stream = { ...stream, head: head.map(forge), tokens: tokens.map(forge), tail: tail.map(forge) };
  }
  if (faults.has('big')) stream = changeMiddle(stream, (event) => pad(event, bytes));
  if (faults.has('malformed')) stream = changeMiddle(stream, (event) => `${event.trimEnd().slice(0, -7)}\n\n`);
  if (faults.has('stall-end'))
    stream = { ...stream, tail: stream.tail.filter((event) => /"(?:finish|stop)_reason":"/.test(event)) };
  if (faults.has('stall-energy'))
    stream = { ...stream, tail: stream.tail.filter((event) => /"(?:finish|stop)_reason":"|"usage":\{/.test(event)) };
  if (faults.has('running-usage')) stream = countedOnce(stream);
  if (faults.has('no-done'))
    stream = { ...stream, tail: stream.tail.filter((event) => event !== DONE && event !== MESSAGE_STOP) };
  // The error comes first.
  if (faults.has('too-long-event')) stream = { ...stream, head: [], tokens: [TOO_LONG_EVENT], tail: [] };
  for (const fault of ['error-event', 'failed-event'] as const)
    if (faults.has(fault)) {
      const failure = stream.failures?.[fault] ?? ERROR_EVENT;
      stream = { ...stream, tokens: [...stream.tokens.slice(0, middle), failure], tail: [] };
    }
  return stream;
}

export function applyFaults(reply: Reply, directives: Directives): Reply {
  const { faults } = directives;
  if (faults.size === 0) return reply;
  const status = [...faults].find(isStatus);
  if (status !== undefined) return statusReply(status);
  const tooLong = [...faults].find(isTooLong);
  if (tooLong !== undefined) return { ...jsonReply(TOO_LONG[tooLong].body), status: TOO_LONG[tooLong].status };
  if (faults.has('content-filter')) return { ...jsonReply(CONTENT_FILTER), status: 400 };
  if (faults.has('html')) return { ...jsonReply(HTML), status: 502, contentType: 'text/html; charset=utf-8' };
  if (faults.has('empty')) {
    return reply.kind === 'json'
      ? { ...reply, body: '' }
      : { ...jsonReply(''), contentType: 'text/event-stream; charset=utf-8' };
  }
  return reply.kind === 'json' ? jsonFaults(reply, directives) : streamFaults(reply, directives);
}
