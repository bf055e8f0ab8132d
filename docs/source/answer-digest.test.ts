/** A receipt is held against its answer by code that shares nothing with the product, with the same result. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ApiName } from '@gw/contract/api-names';
import { AnswerDigest, saltedDigest } from '@gw/evidence/answer-digest';
import { savedReply } from '@gw/evidence/saved-reply';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'gw-answer-digest-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const script = fileURLToPath(new URL('../examples/answer_digest.py', import.meta.url));
const salt = '0f'.repeat(16);
const body = Buffer.from('{"model":"m"}');

const file = (name: string, text: string | Uint8Array): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

function python(reply: string, receipt: object, sent: Uint8Array = body): { code: number | null; out: string } {
  const files = [file('reply', reply), file('receipt.json', JSON.stringify(receipt)), file('request', sent)];
  const { status, stderr, stdout } = spawnSync('python3', ['-B', script, ...files], { encoding: 'utf8' });
  return { code: status, out: stdout + stderr };
}

function receiptOf(api: ApiName, reply: string): object {
  const answer = new AnswerDigest(api);
  for (const { name, value } of savedReply(Buffer.from(reply)) ?? []) answer.take(value, name);
  const digests = { answer_digest: answer.digest(salt), request_digest: saltedDigest(salt, body) };
  return { id: 'rcpt_1', object: 'gw.receipt', version: 1, api, ...digests, salt };
}

const sse = (...events: readonly object[]): string =>
  `: hi\r\n\r\n${events.map((event) => `event: e\r\ndata: ${JSON.stringify(event)}\r\n\r\n`).join('')}data: [DONE]\r\n\r\n`;
const delta = (index: number, fields: object) => ({ choices: [{ index, delta: fields }] });
const tool = (index: number, fields: object) => ({ tool_calls: [{ index, function: fields }] });
const block = { type: 'tool_use', name: 'get', input: { z: 1, é: [1e21, 0.1, 12_345_678_901_234_567_000], n: null } };
const item = { type: 'message', content: [{ type: 'output_text', text: 'Grüße\u2028😀' }] };
const call = { type: 'function_call', name: 'get', arguments: '{"a":1}' };

const replies: readonly (readonly [ApiName, string])[] = [
  [
    'chat',
    JSON.stringify({
      choices: [{ message: { content: 'Grüße\u2028😀', refusal: null } }, { message: { content: 'x' } }],
    }),
  ],
  [
    'chat',
    sse(
      delta(1, { content: 'Gr' }),
      delta(0, { content: 'ü\u2028' }),
      delta(0, tool(0, { name: 'f', arguments: '{' })),
      delta(0, tool(0, { arguments: '}' })),
    ),
  ],
  [
    'chat',
    [delta(0, { content: 'a\u2028' }), delta(0, { content: 'b' })].map((each) => JSON.stringify(each)).join('\n'),
  ],
  ['completions', JSON.stringify([{ choices: [{ text: 'a' }] }, { choices: [{ text: 'b' }] }])],
  [
    'embeddings',
    JSON.stringify({
      data: [{ embedding: [0.1, -2, 1e-7] }, { embedding: Buffer.from([0, 0, 128, 63]).toString('base64') }],
    }),
  ],
  ['messages', JSON.stringify({ type: 'message', content: [{ type: 'text', text: 'ü' }, block] })],
  [
    'messages',
    sse(
      { type: 'content_block_start', index: 0, content_block: { ...block, input: {} } },
      { type: 'content_block_delta', index: 0, delta: { partial_json: '{}' } },
    ),
  ],
  ['responses', JSON.stringify({ output: [item, call] })],
  [
    'responses',
    sse(
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Grü' },
      {
        type: 'response.content_part.done',
        output_index: 0,
        content_index: 0,
        part: { type: 'output_text', text: 'Grü' },
      },
      { type: 'response.function_call_arguments.done', output_index: 1, arguments: '{"a":1}' },
      { type: 'response.output_item.done', output_index: 1, item: call },
      { type: 'response.completed', response: { output: [item, call] } },
    ),
  ],
];

test('the example in Python finds each kind of answer to be that of its receipt, and a changed one not', () => {
  for (const [api, reply] of replies) {
    const receipt = receiptOf(api, reply);
    const is = 'this receipt is of this answer\nthis receipt is of this request\n';
    expect([api, python(reply, receipt)]).toEqual([api, { code: 0, out: is }]);
  }
  const [[api, reply]] = replies as [(typeof replies)[number]];
  const receipt = receiptOf(api, reply);
  expect(python(reply.replace('ß', 'ss'), receipt)).toEqual({ code: 1, out: 'This receipt is NOT of this answer.\n' });
  expect(python(reply, receipt, body.subarray(1))).toMatchObject({ code: 1 });
  expect(python(reply, { ...receipt, salt: undefined })).toMatchObject({ code: 1 });
  expect(python('{"choices":[],"choices":[]}', receipt).out).toContain('stands twice');
});
