/** The hostile provider's replies: forged receipts by every known way, impossible counts, and garbage. */

export interface HostileReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: readonly Uint8Array[];
  /** `open`: it never ends. */
  readonly end: 'whole' | 'cut' | 'open';
}

/** Is in all that it forges, and in nothing else. */
export const marker = 'FORGED';
const forgedReceipt = { id: `rcpt_${marker}`, object: 'gw.receipt', energy_wh: 0, carbon_g: 0, tier: marker };
const forged = { gw: forgedReceipt, routing_trace: { policy: marker } };

export const forgedOverhead = '987654.32';
const headers = {
  'cache-control': 'public, max-age=99999',
  'set-cookie': `a=${marker}`,
  'x-gw-finished': '1',
  'x-gw-overhead-ms': forgedOverhead,
  'x-gw-request-us': '987654321',
  'x-gw-receipt-id': `rcpt_${marker}`,
};
const json = { ...headers, 'content-type': 'application/json' };
const events = { ...headers, 'content-type': 'text/event-stream' };

const bytes = (text: string): Uint8Array => Buffer.from(text);
const reply = (status: number, text: string): HostileReply => ({
  status,
  headers: json,
  pieces: [bytes(text)],
  end: 'whole',
});
const stream = (text: string, end: HostileReply['end'] = 'whole'): HostileReply => ({
  status: 200,
  headers: events,
  pieces: [bytes(text)],
  end,
});

const usage = { prompt_tokens: 4, completion_tokens: 3, total_tokens: 7 };
const completion = { id: 'c', object: 'chat.completion', created: 1, model: 'm' };
const message = (content: string) => ({ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' });
const chunkOf = (delta: object, finish: string | null = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const hello = event(chunkOf({ role: 'assistant', content: 'hi' }));
const finish = event(chunkOf({}, 'stop'));
const refusal = {
  error: { message: 'too long', code: 'context_length_exceeded', type: 'x', param: 'a', n_prompt_tokens: 9, n_ctx: 8 },
};
const impossible = { toString: 1, valueOf: 1 };
const nested = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;

export const namedReplies: Readonly<Record<string, HostileReply>> = {
  plain: reply(200, JSON.stringify({ ...completion, choices: [message('hi')], usage })),
  'plain stream': stream(`${hello}${finish}${event({ ...completion, choices: [], usage })}data: [DONE]\n\n`),
  encoded: { ...reply(200, 'x'), headers: { ...json, 'content-encoding': 'gzip' } },
  'deep JSON': reply(200, `{"gw":1,"choices":[],"a":${nested}}`),
  // More than anybody has the memory to read.
  'millions of parts': reply(
    200,
    JSON.stringify({ ...completion, ...forged, usage, choices: [message('hi')], parts: [] }).replace(
      /\]\}$/,
      `${'{},'.repeat(8_000_000)}{"gw":"${marker}"}]}`,
    ),
  ),
  'deep event': stream(`${hello}data: {"choices":[],"gw":1,"a":${nested}}\n\n`, 'open'),
  'endless event': stream(`${hello}data: ${'x'.repeat(65 * 1024 * 1024)}`, 'open'),
  'error and on': stream(`${hello}${event({ error: { message: marker } })}${hello}`, 'open'),
  'behind the end': stream(`${hello}${finish}data: [DONE]\n\n${event({ ...chunkOf({ content: marker }), ...forged })}`),
  'usage with a receipt': stream(
    `${hello}${finish}${event({ choices: [], usage: { ...usage, gw: forgedReceipt } })}data: [DONE]\n\n`,
  ),
  'index that is not a number': stream(
    `${hello}${event({ choices: [{ index: impossible, delta: {}, finish_reason: 'stop' }] })}${event({ ...chunkOf({ content: 'x' }), ...forged })}data: [DONE]\n\n`,
  ),
  'tokens that are no number': reply(
    400,
    JSON.stringify({ error: { ...refusal.error, n_prompt_tokens: impossible, n_ctx: impossible } }),
  ),
  'refusal with secrets': reply(
    400,
    JSON.stringify({
      error: {
        message: 'temperature \r\nX: y too hot for `inner-name-7b`, key sk-PROVIDERSECRET at http://10.0.0.5/internal',
        param: 'temperature',
      },
    }),
  ),
  'unknown model': reply(404, JSON.stringify({ error: { message: 'The model `inner-name-7b` does not exist' } })),
};

/** Numbers from 0 to 1 that are always the same for a seed. */
function randomOf(seed: number): () => number {
  let state = (seed + 1) * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
type Random = () => number;
const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;

/** Types that nobody expects, whatever the place. The first can become neither a number nor a text. */
const oddities: readonly unknown[] = [
  { toString: 1, valueOf: 1 },
  { toJSON: 1, length: -1, constructor: null },
  [{ toString: 1, valueOf: 1 }],
  [[[[]]]],
  null,
  true,
  'NaN',
  2 ** 64,
  1e308,
];
const counts: readonly unknown[] = [0, 1, 3, 5, 1_000_000, Number.MAX_SAFE_INTEGER, 1e300, -1, 1.5, '7', null, [], {}];
const anyUsage = (random: Random): unknown =>
  pick(random, [
    undefined,
    null,
    usage,
    { ...usage, gw: forgedReceipt },
    ...[1, 2, 3, 4].map(() => ({
      prompt_tokens: pick(random, counts),
      completion_tokens: pick(random, counts),
      total_tokens: pick(random, counts),
      prompt_tokens_details: { cached_tokens: pick(random, counts) },
      completion_tokens_details: { reasoning_tokens: pick(random, counts) },
    })),
  ]);

/** The value with an oddity at one place, anywhere in it. */
function withOddity(random: Random, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || random() < 0.2) return pick(random, oddities);
  const [key, part] = pick(random, Object.entries(value)) ?? ['more', null];
  return Array.isArray(value)
    ? value.with(Number(key), withOddity(random, part))
    : { ...value, [key]: withOddity(random, part) };
}
const sometimesOdd = (random: Random, value: object): object => {
  const odd = random() < 0.15 ? withOddity(random, value) : value;
  return odd !== null && typeof odd === 'object' && !Array.isArray(odd) ? odd : value;
};

/** A key of ours as JSON text, in some spelling. */
const forgedKeys = [
  `"gw":${JSON.stringify(forgedReceipt)}`,
  `"g\\u0077":${JSON.stringify(forgedReceipt)}`,
  `"\\u0067\\u0077":"${marker}"`,
  `"GW":"${marker}"`,
  `"routing_trace":{"policy":"${marker}"}`,
  `"\\u0072outing_trace":"${marker}"`,
  `"usage":{"gw":"${marker}"}`,
];

/** The object as text, with forged keys before, behind, or both. */
function forgedText(random: Random, value: object): string {
  const text = JSON.stringify(value);
  const before = random() < 0.5 ? `${pick(random, forgedKeys)},` : '';
  const behind = random() < 0.5 ? `,${pick(random, forgedKeys)}` : '';
  return `{${before}${text.slice(1, -1)}${behind}}`;
}

const lineEnds = ['\n', '\n', '\n', '\r', '\r\n'];
const rubbish = [
  '\ufeff',
  '\r',
  '\n',
  '\r\n\r',
  ': c',
  ': c\r',
  'id: 1',
  'event: thread.x',
  'retry: 0',
  '\u2028',
  '\u0085',
  '\0',
  'data',
  'data:',
  'gw: x',
];

function randomEvent(random: Random): string {
  const end = pick(random, lineEnds);
  const prefix = pick(random, [
    'data: ',
    'data: ',
    'data: ',
    'data:',
    ': x\rdata: ',
    '\ufeffdata: ',
    ': x\u2028data: ',
  ]);
  const chunk = pick(random, [
    chunkOf({ content: pick(random, ['a', 'é', '🌍', '"gw"', '\r\n', `x`.repeat(300)]) }),
    chunkOf({}, 'stop'),
    { ...completion, choices: [], usage: anyUsage(random) },
    { ...chunkOf({ content: 'u' }), usage: anyUsage(random) },
    { choices: random() < 0.5 ? [] : null },
  ]);
  const sent = sometimesOdd(random, chunk);
  const text = random() < 0.6 ? forgedText(random, sent) : JSON.stringify(sent);
  const rare = random();
  if (rare < 0.02) return `${prefix}[DONE]${end}${end}`;
  if (rare < 0.03) return `event: error\n${prefix}${text}${end}${end}`;
  if (rare < 0.04) return `${prefix}${'['.repeat(300)}${end}${end}`;
  return rare < 0.15 ? pick(random, rubbish) : `${prefix}${text}${end}${end}`;
}

function cutAnywhere(random: Random, whole: Buffer): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < whole.length; ) {
    const length = 1 + Math.floor(random() ** 3 * whole.length);
    pieces.push(whole.subarray(at, at + length));
    at += length;
  }
  return pieces;
}

const randomBytes = (random: Random): Buffer =>
  Buffer.from(Array.from({ length: Math.floor(random() * 40) }, () => Math.floor(random() * 256)));

/** The gateway must make its own receipts of these, or errors. */
export function randomReply(seed: number, isStream: boolean): HostileReply {
  const random = randomOf(seed);
  const end = random() < 0.02 ? 'cut' : 'whole';
  if (isStream && random() < 0.95) {
    const parts = Array.from({ length: 1 + Math.floor(random() * 12) }, () =>
      random() < 0.03 ? randomBytes(random) : Buffer.from(randomEvent(random)),
    );
    if (random() < 0.7) parts.push(Buffer.from('\n\ndata: [DONE]\n\n'));
    if (random() < 0.2) parts.push(Buffer.from(randomEvent(random)));
    return { status: 200, headers: events, pieces: cutAnywhere(random, Buffer.concat(parts)), end };
  }
  const body = sometimesOdd(random, { ...completion, choices: [message('hi')], usage: anyUsage(random) });
  const text = pick(random, [
    ...[1, 2, 3, 4, 5].map(() => forgedText(random, body)),
    JSON.stringify(body),
    JSON.stringify({ error: { message: marker, ...forged } }),
    JSON.stringify(sometimesOdd(random, refusal)),
    `\ufeff${forgedText(random, body)}`,
    `${'{"a":'.repeat(1000)}`,
    randomBytes(random).toString('latin1'),
  ]);
  const status = random() < 0.9 ? 200 : pick(random, [400, 404, 422, 204, 302, 401]);
  return { status, headers: json, pieces: cutAnywhere(random, Buffer.from(text)), end };
}
