/** Replies as clients save them: the official SDKs' own JSON of them, and streams as they came, are what their receipts are of. */
import Anthropic from '@anthropic-ai/sdk';
import { defined } from '@gw/contract/internal/defined';
import { checkAnswer, saltIn } from '@gw/evidence/check-answer';
import { lastGw, savedReply } from '@gw/evidence/saved-reply';
import { expect, test } from 'vitest';
import { collect, finishedReceipt, messages, openAi, quick, stack } from './gateway.ts';

const model = 'sim-small';
const openai = openAi();
const anthropic = new Anthropic({
  apiKey: stack.keys.auditPlus,
  baseURL: stack.publicUrl,
  maxRetries: 0,
  defaultHeaders: quick,
});

/** The body as it was sent, and the reply as it came. */
async function raw(path: string, body: object): Promise<{ request: Buffer; saved: string }> {
  const request = Buffer.from(JSON.stringify(body));
  const headers = { authorization: `Bearer ${stack.keys.auditPlus}`, 'content-type': 'application/json', ...quick };
  const reply = await fetch(`${stack.publicUrl}${path}`, { method: 'POST', headers, body: request });
  return { request, saved: await reply.text() };
}

/** Whether the receipt in the ledger is of what was saved. */
async function isOf(saved: string, request: Uint8Array | null = null) {
  const reply = defined(savedReply(Buffer.from(saved)), 'A saved reply');
  const gw = defined(lastGw(reply), 'A receipt in it');
  const receipt = await finishedReceipt(String(gw.id));
  expect(receipt).not.toHaveProperty('salt');
  return checkAnswer({ receipt, salt: defined(saltIn(gw), 'Its salt'), reply, request });
}
const yes = { answer: true, request: null };

test('what the official SDKs write of a reply is the answer of its receipt, whole and streamed', async () => {
  const chat = { model, messages, n: 2 };
  const asked = { model, max_tokens: 20, messages };
  const replies: Record<string, unknown> = {
    chat: await openai.chat.completions.create(chat),
    'chat in chunks': await collect(await openai.chat.completions.create({ ...chat, stream: true })),
    completions: await openai.completions.create({ model, prompt: 'Hello' }),
    'completions in chunks': await collect(await openai.completions.create({ model, prompt: 'Hello', stream: true })),
    embeddings: await openai.embeddings.create({ model: 'sim-embed', input: ['Hello', 'you'] }),
    responses: await openai.responses.create({ model, input: 'Hello' }),
    'responses in events': await collect(await openai.responses.create({ model, input: 'Hello', stream: true })),
    messages: await anthropic.messages.create(asked),
    'messages in events': await collect(await anthropic.messages.create({ ...asked, stream: true })),
  };
  for (const [name, reply] of Object.entries(replies))
    expect([name, await isOf(JSON.stringify(reply, null, 2))]).toEqual([name, yes]);
});

test('a reply as it came, with its request, is that of its receipt, and one letter more is not', async () => {
  const asked = { model, max_tokens: 20, messages };
  for (const path of ['/v1/chat/completions', '/v1/messages'])
    for (const stream of [false, true]) {
      const { request, saved } = await raw(path, { ...asked, stream });
      expect([path, stream, await isOf(saved, request)]).toEqual([path, stream, { answer: true, request: true }]);
      const other = saved.replace(/("(?:content|text)":\s*")(?=\w)/, '$1x');
      expect(other).not.toBe(saved);
      expect(await isOf(other, request.subarray(1))).toEqual({ answer: false, request: false });
    }
});
