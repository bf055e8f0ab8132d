/** A reply says the same and loses the same wherever it is read, and a large one is read on a thread or by nobody. */

import { gzipSync } from 'node:zlib';
import { cases } from '@gw/testing/cases';
import { chatBody } from '@gw/testing/receipt-sidecar/call';
import { type BundleForTests, bodyWorkerForTests } from '@gw/testing/receipt-sidecar/worker';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parseRequest } from '../api/parse.ts';
import { addToObject, parseObject } from '../wire/json-body.ts';
import { bodyThreadBounds, inlineBytes } from '../wire/threads/body-threads.ts';
import { type JobResult, ThreadPool } from '../wire/threads/thread-pool.ts';
import { type ReplyFacts, type ReplyReading, readReply, withAdded } from './read-reply.ts';
import { replyReader } from './reply-reader.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let bundle: BundleForTests;
let pool: ThreadPool;
const errors: string[] = [];
beforeAll(async () => {
  bundle = await bodyWorkerForTests();
  pool = new ThreadPool({
    ...bodyThreadBounds,
    threads: 1,
    waitMs: 60_000,
    answerMs: 60_000,
    start: bundle.start,
    clock: () => performance.now(),
    onError: (reason) => void errors.push(reason),
    onEnd: () => undefined,
    onTurn: () => undefined,
  });
});
afterAll(async () => {
  await pool.stop();
  bundle.remove();
});

const parsed = parseRequest('chat', Buffer.from(chatBody()));
if (!parsed.ok) throw new Error('The request of the test is not valid.');
const { request } = parsed.value;
const facts = (fields: Partial<ReplyFacts> = {}): ReplyFacts => ({
  status: 200,
  fault: null,
  request,
  provider: { model: 'inner', fields: {}, added: [] },
  telemetryShape: null,
  returning: null,
  encoding: null,
  ...fields,
});
/** In memory of its own, as a message of Envoy's. */
const bytesOf = (text: string): Buffer => {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
};
const padding = 'x'.repeat(inlineBytes);
const onThread = (text: string | Buffer, given: ReplyFacts) =>
  replyReader(pool)('acct', typeof text === 'string' ? bytesOf(text) : text, given) as Promise<JobResult<ReplyReading>>;

/** Returns what the client would get, and what is recorded. */
function shown(reading: ReplyReading) {
  if (!reading.ok) return reading;
  const { clean, said, telemetry } = reading;
  return { text: Buffer.concat(withAdded(clean, { gw: '1', usageGw: '2' })).toString(), said, telemetry };
}

const anyKey = fc.constantFrom(
  'gw',
  'Gw',
  'routing_trace',
  'usage',
  'Usage',
  'choices',
  'error',
  'energy',
  'data',
  'é',
);
const part = fc.oneof(
  fc.constantFrom(
    '{"prompt_tokens":4,"completion_tokens":3,"gw":{"id":1}}',
    '{"energy_joules":12.5}',
    '{"impacts":{"kWh":1}, "Impacts":2}',
    '{"message":"no"}',
  ),
  fc.constantFrom('[{"message":{"content":"Grüße","reasoning":"so"}}]', '[{"text":"\\u0067w"}]', '[]', 'null', '1.50'),
  fc.json({ maxDepth: 3 }),
);
const object = fc
  .array(fc.tuple(anyKey, part), { maxLength: 6 })
  .map((entries) => [...entries, ['choices', '[{}]']])
  .map((entries) => `{${entries.map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(',')}}`);
const ending = fc.constantFrom('', ' \n', ']', '\ufeff');
const status = fc.constantFrom(200, 200, 200, 400, 429, 500);
const shape = fc.constantFrom(null, 'neuralwatt', 'greenpt', 'energy_header', 'unknown');

test('a reply is read alike here and on a thread', async () => {
  await fc.assert(
    fc.asyncProperty(object, ending, status, shape, async (text, end, code, telemetryShape) => {
      const space = ' '.repeat(inlineBytes);
      const given = facts({ status: code, telemetryShape });
      const here = readReply(bytesOf(`${space}${text}${end}`), given);
      const there = await onThread(`${space}${text}${end}`, given);
      expect(there.ok && shown(there.value)).toEqual(shown(here));
    }),
    { numRuns: cases(300) },
  );
  expect(errors).toEqual([]);
});

const additions = [
  {},
  { gw: '1' },
  { gw: '1', usageGw: '{"é":2}' },
  { gw: '1', usageGw: '2', usageImpacts: '{"kWh":3}' },
  { gw: '1', usageGw: '2', usageImpacts: null },
];

test('what reaches the client is the object with our keys, as one would write them into its text', () => {
  fc.assert(
    fc.property(object, fc.constantFrom(...additions), (text, added) => {
      const usageImpacts = 'usageImpacts' in added;
      const reading = readReply(bytesOf(text), facts({ usageImpacts }));
      if (!reading.ok) return;
      const value = parseObject(text) as Record<string, unknown>;
      const body = Buffer.concat(withAdded(reading.clean, added)).toString();
      expect(body).toBe(addToObject(text, value, added));
    }),
  );
});

test('a small reply is read in the same turn', () => {
  const never = { run: () => Promise.reject(new Error('a thread was asked')) } as never;
  const outcome = replyReader(never)('acct', bytesOf('{"choices":[{}]}'), facts());
  expect(outcome).toMatchObject({ ok: true, value: { ok: true } });
});

test('a compressed reply is read on a thread, however small, and one of other bytes is refused', async () => {
  const text = JSON.stringify({ choices: [{ message: { content: 'Hi' } }] });
  const unpacked = await onThread(Buffer.from(gzipSync(text)), facts({ encoding: 'gzip' }));
  expect(unpacked.ok && unpacked.value).toMatchObject({ ok: true, said: { answerBytes: 2 } });
  const refused = await onThread(bytesOf(text), facts({ encoding: 'br' }));
  expect(refused.ok && refused.value).toMatchObject({ ok: false, error: { code: 'upstream_invalid_response' } });
  const message = '{"error":{"message":"No","param":"n"}}';
  const failed = await onThread(Buffer.from(gzipSync(message)), facts({ encoding: 'gzip', status: 400 }));
  expect(failed.ok && failed.value).toMatchObject({ error: { param: 'n', message: 'No' } });
});

test.each([
  ['chat', { choices: [] }],
  ['chat', { choices: null, usage: { prompt_tokens: 3 } }],
  ['chat', {}],
  ['chat', { gw: 1 }],
  ['chat', { detail: 'Not Found' }],
  ['chat', { data: [{}] }],
  ['chat', { object: 'error', message: 'No', choices: [{}] }],
  ['chat', { type: 'error', choices: [{}] }],
  ['completions', { choices: 'text' }],
  ['completions', { message: 'No' }],
  ['embeddings', { data: [] }],
  ['embeddings', { choices: [{}] }],
  ['embeddings', { error: { message: 'No' }, data: [{}] }],
] as const)('%s without any answer, or with an error, is a failure of the provider: %j', (endpoint, reply) => {
  const reading = readReply(bytesOf(JSON.stringify(reply)), facts({ request: { ...request, endpoint } }));
  expect(reading).toMatchObject({ ok: false, error: { code: 'upstream_error' } });
});

test.each([
  [{ object: 'error', message: 'too much', code: 'context_length_exceeded' }, 'prompt_too_long'],
  [{ detail: 'The input length exceeds the context length' }, 'prompt_too_long'],
  [{ message: 'This request has been blocked by our content filters.' }, 'content_filter'],
])('a failure with status 200 is told by its words: %j', (reply, code) => {
  expect(readReply(bytesOf(JSON.stringify(reply)), facts())).toMatchObject({ ok: false, error: { code, status: 400 } });
});

test('nothing of a large reply is copied on its way to a thread and back', async () => {
  const bytes = bytesOf(`{"choices":[{}],"a":"${padding}"}`);
  const reading = onThread(bytes, facts());
  expect(bytes.buffer.byteLength).toBe(0);
  expect(await reading).toMatchObject({ ok: true, value: { clean: { end: inlineBytes + 22 } } });
});

test('a large reply loses a forged receipt', async () => {
  const outcome = await onThread(`{"gw":"${padding}","choices":[{}]}`, facts());
  expect(outcome.ok && shown(outcome.value)).toMatchObject({ text: '{"choices":[{}],"gw":1}' });
});

test.each([
  ['objects', '{},', 0],
  ['lists', '[],', 0],
  ['texts', '"a",', 0],
  ['numbers', '0.5,', cases(8_000_000, 2_000_000)],
])('a reply of millions of %s is read only if it takes no more memory than a thread has', async (_, unit, most) => {
  const outcome = await onThread(`{"gw":1,"choices":[{}],"a":[${unit.repeat(most || 2_000_000)}0]}`, facts());
  expect(outcome).toMatchObject({ ok: true, value: most ? { ok: true } : { ok: false, error: null } });
  expect(errors).toEqual([]);
});

test('a reply that begins with a mark, and text that could not be sent back, is made well-formed here and on a thread', async () => {
  const reply = (content: string, more: string) =>
    `{"choices":[{"index":0,"message":{"content":"${content}","2":1.0,"1":1E2},"finish_reason":"stop"}],"pad":"${more}"`;
  for (const more of ['é', `é${padding}`]) {
    const text = `\ufeff${reply('hi \\ud83d \\u0000 \\ud83d\\ude00', more)}}`;
    const read =
      more.length > 1 ? await onThread(text, facts()) : { ok: true as const, value: readReply(bytesOf(text), facts()) };
    if (!read.ok || !read.value.ok) throw new Error('It was not read.');
    const sent = Buffer.concat(withAdded(read.value.clean, { gw: '1' })).toString();
    expect(sent).toBe(`${reply('hi \ufffd \ufffd \\ud83d\\ude00', more)},"gw":1}`);
  }
});
