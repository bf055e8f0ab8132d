/** Malformed HTTP/1.1 is refused with our error, not with silence; and HTTP/2 is answered like HTTP/1.1. */
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  badKey,
  chatBody,
  chatPath,
  expectRefusal,
  invalid,
  quick,
  type Reply,
  send,
  stack,
  unknownPath,
  wrongMethod,
} from './ask.ts';
import { readReply, sendBytes } from './bytes.ts';

const { hostname, port } = new URL(stack.publicUrl);
const key = stack.keys.enterprise;
const authorization = `Authorization: Bearer ${key}\r\n`;

const get = (lines: string, path = '/v1/models', version = 'HTTP/1.1') => `GET ${path} ${version}\r\n${lines}\r\n`;
const post = (lines: string, body: string) => `POST ${chatPath} HTTP/1.1\r\nHost: x\r\n${lines}\r\n${body}`;
const many = Array.from({ length: 150 }, (_, index) => `X-${index}: a\r\n`).join('');

const malformed = /^The HTTP request is malformed\.$/;
const unclearLength = /Content-Length and Transfer-Encoding/;
const tooLarge = /larger than 32 KiB/;
const noHost = /no Host header/;
const badPath = /^The path of the request is malformed\.$/;
const otherProtocol = /no tunnel .* no other protocol/;

it.each([
  ['garbage', '\x16\x03\x01\x02\x00\x01garbage\r\n\r\n', malformed],
  ['words', 'hello world\r\n\r\n', malformed],
  ['no method', '/v1/models HTTP/1.1\r\nHost: x\r\n\r\n', malformed],
  ['a method in lower case', 'get /v1/models HTTP/1.1\r\nHost: x\r\n\r\n', malformed],
  ['both length headers', post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'), unclearLength],
  ['two lengths', post('Content-Length: 5\r\nContent-Length: 6\r\n', 'abcde'), malformed],
  ['a negative length', post('Content-Length: -5\r\n', 'abcde'), malformed],
  ['a length in hexadecimal', post('Content-Length: 0x5\r\n', 'abcde'), malformed],
  ['another transfer encoding', post('Transfer-Encoding: gzip\r\n', ''), unclearLength],
  ['chunked twice', post('Transfer-Encoding: chunked, chunked\r\n', '0\r\n\r\n'), unclearLength],
  [
    'a chunk size that is none',
    post(`${authorization}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n`, 'zz\r\nabc\r\n'),
    malformed,
  ],
  ['no host', get(''), noHost],
  ['a host that is none', get('Host: a b\r\n'), noHost],
  ['a header too large', get(`Host: x\r\nX-Big: ${'a'.repeat(40_000)}\r\n`), tooLarge],
  ['a path too long', get('Host: x\r\n', `/v1/models/${'a'.repeat(40_000)}`), tooLarge],
  ['too many headers', get(`Host: x\r\n${many}`), /more than 100 headers/],
  ['a space in a header name', get('Host: x\r\nX Y: a\r\n'), malformed],
  ['NUL in a header', get('Host: x\r\nX: a\0b\r\n'), malformed],
  ['NUL in a path', get('Host: x\r\n', '/v1/mod\0els'), malformed],
  ['a path that is not ASCII', get('Host: x\r\n', '/v1/mod\xff'), malformed],
  ['a path that is none', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', badPath],
  ['a fragment', get('Host: x\r\n', '/v1/models#x'), badPath],
  ['an encoded NUL in a path', get('Host: x\r\n', '/v1/%00'), badPath],
  ['a tunnel', 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n', otherProtocol],
  ['another protocol', get('Host: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n'), otherProtocol],
  ['QUERY', 'QUERY /v1/models HTTP/1.1\r\nHost: x\r\n\r\n', /takes the method QUERY/],
])('%s is invalid_request, and the message says why', async (_name, bytes, message) => {
  expect(expectRefusal(await sendBytes(bytes), invalid('invalid_request'))).toMatch(message);
});

it.each([
  ['HTTP/1.0', 'Host: x\r\n', 'HTTP/1.0'],
  ['HTTP/1.0 without a host', '', 'HTTP/1.0'],
  ['HTTP/2.0 in the words of HTTP/1', 'Host: x\r\n', 'HTTP/2.0'],
  ['HTTP/9.9', 'Host: x\r\n', 'HTTP/9.9'],
])('%s is answered as HTTP/1.0: the probe of a load balancer, and a call with a key', async (_name, lines, version) => {
  const health = await sendBytes(get(lines, '/healthz', version), 'close');
  expect([health.status, health.text]).toEqual([200, '{"status":"ok"}']);
  expectRefusal(await sendBytes(get(lines, '/v1/models', version), 'close'), badKey('invalid_api_key'));
  const listed = await sendBytes(get(`${lines}${authorization}`, '/v1/models', version), 'close');
  expect([listed.status, listed.headers['transfer-encoding'], JSON.parse(listed.text).object]).toEqual([
    200,
    undefined,
    'list',
  ]);
});

it('an absolute address names a path of ours, whatever its host is', async () => {
  const close = 'Host: x\r\nConnection: close\r\n';
  expectRefusal(await sendBytes(get(close, 'http://elsewhere.example/v1/models')), badKey('invalid_api_key'));
  expectRefusal(await sendBytes(get(close, 'http://elsewhere.example/nothing')), unknownPath);
  const listed = await sendBytes(get(`${close}${authorization}`, 'http://elsewhere.example/v1/models'));
  expect([listed.status, listed.text.includes('"object":"list"')]).toEqual([200, true]);
});

it('a second request behind the first is answered on its own account', async () => {
  const first = get(`Host: x\r\n${authorization}`, '/v1/regions');
  const second = get('Host: x\r\nConnection: close\r\n');
  const both = await sendBytes(first + second, 'close');
  expect(both.status).toBe(200);
  expect(both.text).toContain('HTTP/1.1 401 ');
});

it('a body that goes on for ever is refused when the limit is passed', async () => {
  const socket = connect(Number(port), hostname);
  const reply = new Promise<Reply>((resolve) => socket.once('data', (bytes) => resolve(readReply(bytes))));
  socket.on('error', () => undefined);
  socket.write(post(`${authorization}Content-Type: application/json\r\nContent-Length: ${2 ** 40}\r\n`, ''));
  const more = setInterval(() => socket.write(Buffer.alloc(1024 * 1024, 0x20)), 5);
  expectRefusal(await reply, invalid('request_too_large'));
  clearInterval(more);
  socket.destroy();
});

describe('HTTP/2', () => {
  let session: ClientHttp2Session;
  beforeAll(() => {
    session = connectHttp2(stack.publicUrl);
  });
  afterAll(() => session.close());

  function ask(headers: Record<string, string>, body?: string | Buffer): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const auth = {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      };
      const stream = session.request(
        { ':method': 'POST', ':path': chatPath, ...auth, ...headers },
        { endStream: body === undefined },
      );
      const chunks: Buffer[] = [];
      let seen: Reply['headers'] = {};
      stream.on('response', (received) => {
        seen = received as Reply['headers'];
      });
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('error', reject);
      stream.on('end', () =>
        resolve({
          status: Number(seen[':status']),
          headers: seen,
          text: Buffer.concat(chunks).toString(),
          broken: false,
        }),
      );
      if (body !== undefined) stream.end(body);
    });
  }

  it('a call is answered', async () => {
    expect((await ask(quick, chatBody())).status).toBe(200);
  });

  it.each([
    ['no key', { authorization: '' }, chatBody(), badKey('invalid_api_key')],
    ['broken JSON', {}, '{', invalid('invalid_json')],
    ['an empty body', {}, '', invalid('invalid_json')],
    ['no body', {}, undefined, invalid('invalid_content_type', 'Content-Type')],
    ['invalid UTF-8', {}, Buffer.from([0x7b, 0xff]), invalid('invalid_json')],
    ['gzip', { 'content-encoding': 'gzip' }, chatBody(), invalid('invalid_content_type', 'Content-Encoding')],
    ['a body too large', {}, Buffer.alloc(10 * 1024 * 1024 + 1, 0x20), invalid('request_too_large')],
    ['another method', { ':method': 'DELETE' }, undefined, wrongMethod],
    ['another path', { ':path': '/v1//chat/completions' }, chatBody(), unknownPath],
    ['an unknown model', {}, chatBody({ model: 'nobody' }), invalid('invalid_model', 'model')],
  ] as const)('%s', async (_name, headers, body, refusal) => {
    expectRefusal(await ask(headers, body), refusal);
  });
});

it('after all that the gateway still answers', async () => {
  expect((await send({ body: chatBody(), headers: quick })).status).toBe(200);
});
