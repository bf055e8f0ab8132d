import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { AnswerDigest } from './answer-digest.ts';
import { checkAnswer, isBound, saltIn } from './check-answer.ts';
import { lastGw, savedReply } from './saved-reply.ts';

const salt = 'ab'.repeat(16);
const body = Buffer.from('{"model":"m"}\n');
const chunks = [
  { id: 'c', choices: [{ index: 0, delta: { role: 'assistant', content: 'Grü' } }] },
  { id: 'c', choices: [{ index: 0, delta: { content: 'ße "😀"\n' } }] },
];
const answer = new AnswerDigest('chat');
for (const chunk of chunks) answer.take(chunk);
const receipt = {
  id: 'rcpt_1',
  object: 'gw.receipt',
  api: 'chat',
  request_digest: `sha256:${createHash('sha256').update(`${salt}\n`).update(body).digest('hex')}`,
  answer_digest: answer.digest(salt),
};
const last = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], gw: { ...receipt, salt } };
const all = [...chunks, last];
const sse = (end: string) =>
  `: hello${end}${end}${all.map((each) => `data: ${JSON.stringify(each)}${end}${end}`).join('')}data: [DONE]${end}${end}`;
const message = { role: 'assistant', content: 'Grüße "😀"\n', refusal: null };
const whole = { choices: [{ index: 0, message }], gw: { ...receipt, salt } };
const check = (text: string, changes: object = {}) => {
  const reply = savedReply(Buffer.from(text));
  return reply && checkAnswer({ receipt, salt, reply, request: body, ...changes });
};
const both = { answer: true, request: true };

test('a saved reply is the answer in each form that a client saves it in', () => {
  const escaped = JSON.stringify(whole).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const forms = {
    'as it came': JSON.stringify(whole),
    'written again, in lines and with escapes': JSON.stringify(JSON.parse(escaped), null, 2),
    escaped,
    'a stream': sse('\n'),
    'a stream with CRLF': sse('\r\n'),
    'a list of chunks': JSON.stringify(all),
    'lines of chunks': all.map((each) => JSON.stringify(each)).join('\n'),
    'a mark in front': `\ufeff${JSON.stringify(whole)}`,
  };
  for (const [form, text] of Object.entries(forms)) expect([form, check(text)]).toEqual([form, both]);
});

test('one letter, another salt, a chunk less and another request are found', () => {
  expect(check(sse('\n').replace('ße', 'sse'))).toEqual({ ...both, answer: false });
  expect(check(JSON.stringify(whole), { salt: 'ac'.repeat(16) })).toEqual({ answer: false, request: false });
  expect(check(JSON.stringify(chunks.slice(1)))).toEqual({ ...both, answer: false });
  expect(check(JSON.stringify([...all, chunks[1]]))).toEqual({ ...both, answer: false });
  expect(check(JSON.stringify(whole), { request: body.subarray(1) })).toEqual({ ...both, request: false });
  expect(check(JSON.stringify(whole), { request: null })).toEqual({ answer: true, request: null });
});

test('the receipt and its salt are found in a reply, in a stream and in a response', () => {
  const found = (text: string) => lastGw(savedReply(Buffer.from(text)) ?? []);
  const event = `event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', response: { gw: whole.gw } })}\n\n`;
  for (const text of [JSON.stringify(whole), sse('\n'), event]) expect(saltIn(found(text) ?? {})).toBe(salt);
  expect(lastGw(savedReply(Buffer.from('{}')) ?? [])).toBeNull();
  expect(isBound(receipt)).toBe(true);
  expect(isBound({ ...receipt, answer_digest: null })).toBe(false);
});

test('what is no reply is not read as one, nor what two parsers read in two ways', () => {
  expect(savedReply(Buffer.from('hello'))).toBeNull();
  expect(savedReply(Buffer.from(''))).toBeNull();
  expect(savedReply(Buffer.from('{"choices":[],"choices":[]}'))).toBeNull();
  expect(savedReply(Buffer.from('data: {"choices":[],"choices":[]}\n\n'))).toBeNull();
  expect(savedReply(Buffer.from([0xff, 0xfe]))).toBeNull();
});
