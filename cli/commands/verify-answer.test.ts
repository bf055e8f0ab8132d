/** Tests what `./gw verify --receipt … --reply` asks for and prints; evidence/answer tests what it finds. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AnswerDigest, saltedDigest } from '@gw/evidence/answer-digest';
import { afterAll, expect, test, vi } from 'vitest';
import { runCommand } from '../command-list.ts';

const folder = mkdtempSync(join(tmpdir(), 'gw-verify-answer-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const salt = '5a'.repeat(16);
const body = '{"model":"m","messages":[]}';
const choices = [{ index: 0, message: { role: 'assistant', content: 'Grüße' } }];
const answer = new AnswerDigest('chat');
answer.take({ choices });
const digests = { request_digest: saltedDigest(salt, body), answer_digest: answer.digest(salt) };
const receipt = { id: 'rcpt_1', object: 'gw.receipt', version: 1, api: 'chat', ...digests };
const reply = file('reply.json', JSON.stringify({ choices, gw: { ...receipt, salt } }));
const bare = file('receipt.json', JSON.stringify(receipt));
const other = file(
  'other.json',
  JSON.stringify({ choices: [{ message: { content: 'Gruesse' } }], gw: { ...receipt, salt } }),
);
const request = file('request.json', body);

async function said(...args: string[]): Promise<{ code: number; out: string }> {
  let out = '';
  const take = (text: string | Uint8Array): boolean => {
    out += text;
    return true;
  };
  const writes = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write').mockImplementation(take));
  try {
    return { code: await runCommand(['verify', ...args]), out };
  } finally {
    for (const write of writes) write.mockRestore();
  }
}

test('a receipt is held against its answer and its request without a gateway, and is then not proven itself', async () => {
  const { code, out } = await said('--receipt', bare, '--reply', reply, '--request', request);
  expect(code).toBe(2);
  expect(out).toContain('answer      this receipt is of this answer\nrequest     this receipt is of this request\n');
  expect(out).toContain('the receipt itself was not proven');
  expect(await said('--receipt', reply, '--reply', reply)).toMatchObject({ code: 2 });
});

test('another answer and another request end with 1', async () => {
  const changed = await said('--receipt', bare, '--reply', other);
  expect(changed).toMatchObject({ code: 1 });
  expect(changed.out).toContain('answer      this receipt is NOT of this answer\n');
  const asked = await said('--receipt', bare, '--reply', reply, '--request', other);
  expect(asked).toMatchObject({ code: 1 });
  expect(asked.out).toContain('request     this receipt is NOT of this request\n');
  const { out } = await said('--receipt', bare, '--reply', other, '--json');
  expect(JSON.parse(out)).toMatchObject({ receipt: 'rcpt_1', answer: { answer: false, request: null } });
});

test('with a proof both are said, and another answer fails whatever the proof says', async () => {
  const proof = file('proof.json', '{"receipt_id":"rcpt_2"}');
  const { code, out } = await said('--receipt', bare, '--reply', reply, '--proof', proof);
  expect(code).toBe(1);
  expect(out).toContain('this receipt is of this answer\n');
  expect(out).toContain('the proof is of another receipt');
});

test.each([
  [
    'no salt',
    ['--receipt', bare, '--reply', file('saltless.json', JSON.stringify({ choices, gw: receipt }))],
    'gw.salt',
  ],
  [
    'no digests',
    ['--receipt', file('unbound.json', JSON.stringify({ ...receipt, answer_digest: null })), '--reply', reply],
    'bound to no answer',
  ],
  ['no receipt', ['--receipt', request, '--reply', reply], 'neither a receipt nor a reply'],
  ['no reply', ['--receipt', bare, '--reply', file('text', 'hello')], 'neither JSON'],
  ['a request alone', ['--receipt', bare, '--request', request], '--reply'],
])('%s is said', async (_, args, told) => {
  await expect(said(...args)).rejects.toThrow(told);
});
