import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { type PlainReply, type Reply, readReplies } from './redis-replies.ts';

const asSent = (reply: Reply): string => {
  if (isArray(reply)) return `*${reply.length}\r\n${reply.map(asSent).join('')}`;
  if (reply === null) return '$-1\r\n';
  if (reply instanceof Error) return `-${reply.message}\r\n`;
  return typeof reply === 'number' ? `:${reply}\r\n` : `$${reply.length}\r\n${reply}\r\n`;
};
const isArray = (reply: Reply): reply is readonly PlainReply[] => Array.isArray(reply);
const plain: fc.Arbitrary<PlainReply> = fc.oneof(
  fc.constant(null),
  fc.integer(),
  fc.string({ unit: fc.constantFrom('a', '\r', '\n', '$', '\u00e9') }),
  fc.constantFrom('ERR a', 'OOM b').map((words) => new Error(words)),
);
const replies: fc.Arbitrary<Reply> = fc.oneof(plain, fc.array(plain, { maxLength: 5 }));

test('replies are read as they were sent, however they are cut', () => {
  fc.assert(
    fc.property(fc.array(replies), fc.array(fc.nat(9)), (sent, cuts) => {
      const read: Reply[] = [];
      const fail = vi.fn();
      const take = readReplies((reply) => {
        read.push(reply);
        return true;
      }, fail);
      let text = sent.map(asSent).join('');
      for (const length of cuts) {
        take(text.slice(0, length));
        text = text.slice(length);
      }
      take(text);
      expect(read).toEqual(sent);
      expect(fail).not.toHaveBeenCalled();
    }),
  );
});

test('a long reply that comes in short pieces is not read anew with each of them', () => {
  const long = 'x'.repeat(2 * 1024 * 1024);
  const text = asSent(['reference', long]) + asSent('next');
  const read: Reply[] = [];
  const take = readReplies((reply) => read.push(reply) > 0, vi.fn());
  const looks = vi.spyOn(String.prototype, 'indexOf');
  for (let at = 0; at < text.length; at += 1448) take(text.slice(at, at + 1448));
  const looked = looks.mock.calls.length;
  looks.mockRestore();
  expect(read).toEqual([['reference', long], 'next']);
  expect(looked).toBeLessThan(20);
});

test.each(['HTTP/1.1 400 Bad Request\r\n', '*x\r\n', '*-2\r\n', '*1\r\n*0\r\n', '$x\r\n', '$1\r\nab\r\n', '$-2\r\n'])(
  '%j is no reply',
  (text) => {
    const fail = vi.fn();
    readReplies(() => true, fail)(text);
    expect(fail).toHaveBeenCalledOnce();
  },
);

test('a reply that nobody waits for is none', () => {
  const fail = vi.fn();
  readReplies(() => false, fail)('+OK\r\n');
  expect(fail).toHaveBeenCalledOnce();
});
