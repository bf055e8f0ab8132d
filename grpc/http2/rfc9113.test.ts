/** A peer that violates RFC 9113 gets the error that the RFC states: h2spec's cases, as far as we follow them. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Http2Connection } from './connection.ts';
import {
  errorCode,
  FrameReader,
  flag,
  frame,
  frameType,
  maxFrameSize,
  preface,
  reset,
  settingId,
  settings,
  windowUpdate,
} from './frames.ts';

let server: Server;
beforeAll(async () => {
  // It answers no stream by itself, so each stays open.
  const handler = { data: () => undefined, ended: () => undefined, closed: () => undefined };
  server = createServer((socket) => void new Http2Connection(socket, () => handler));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const { endStream, endHeaders, padded, priority, ack } = flag;
/** `:method: POST` */
const post = Buffer.from([0x83]);
const open = frame(frameType.headers, endHeaders, 1, post);
const whole = frame(frameType.headers, endHeaders | endStream, 1, post);
const data = (stream: number, flags = 0, payload = Buffer.from('x')) => frame(frameType.data, flags, stream, payload);
const headers = (stream: number, flags: number, payload: Uint8Array = post) =>
  frame(frameType.headers, flags, stream, payload);
const continuation = (stream: number, flags: number) => frame(frameType.continuation, flags, stream, post);
const ping = (stream: number, bytes: number) => frame(frameType.ping, 0, stream, Buffer.alloc(bytes));
const headersOf = (...bytes: number[]) => headers(1, endHeaders, Buffer.from(bytes));

type Reaction = `${'goaway' | 'reset'} ${keyof typeof errorCode}` | 'nothing';
const cases: readonly (readonly [section: string, what: string, sent: readonly Buffer[], answer: Reaction])[] = [
  ['3.4', 'no preface', [Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')], 'goaway protocol'],
  ['4.1', 'a frame of an unknown type', [frame(0x16, 0, 0, Buffer.alloc(8))], 'nothing'],
  ['4.1', 'flags that are not defined', [frame(frameType.ping, 0x16, 0, Buffer.alloc(8))], 'nothing'],
  ['4.1', 'the reserved bit of a stream id', [frame(frameType.ping, 0, 0x80000000, Buffer.alloc(8))], 'nothing'],
  ['4.2', 'the largest frame', [open, data(1, 0, Buffer.alloc(maxFrameSize))], 'nothing'],
  ['4.2', 'a frame above the largest', [open, data(1, 0, Buffer.alloc(maxFrameSize + 1))], 'goaway frameSize'],
  ['4.3', 'a header index out of range', [headersOf(0xff, 0x80, 0x01)], 'goaway compression'],
  ['4.3', 'data between parts of a header block', [headers(1, 0), data(1)], 'goaway protocol'],
  ['4.3', 'a frame of another stream between them', [headers(1, 0), continuation(3, endHeaders)], 'goaway protocol'],
  ['4.3', 'an unknown frame between them', [headers(1, 0), frame(0x16, 0, 0)], 'goaway protocol'],
  ['5.1', 'data of an idle stream', [data(1)], 'goaway protocol'],
  ['5.1', 'a reset of an idle stream', [reset(1, errorCode.cancel)], 'goaway protocol'],
  ['5.1', 'a window for an idle stream', [windowUpdate(1, 1)], 'goaway protocol'],
  ['5.1', 'a continuation of an idle stream', [continuation(1, endHeaders)], 'goaway protocol'],
  ['5.1', 'data after the end', [whole, data(1)], 'reset streamClosed'],
  ['5.1', 'headers after the end', [whole, headers(1, endHeaders | endStream)], 'reset streamClosed'],
  ['5.1', 'a continuation after the end', [whole, continuation(1, endHeaders)], 'goaway protocol'],
  ['5.1', 'a window after the end', [whole, windowUpdate(1, 1)], 'nothing'],
  ['5.1', 'data after a reset of the peer', [open, reset(1, errorCode.cancel), data(1)], 'nothing'],
  ['5.1.1', 'an even stream id', [headers(2, endHeaders)], 'goaway protocol'],
  ['6.1', 'data on stream 0', [data(0)], 'goaway protocol'],
  ['6.1', 'data with more padding than payload', [open, data(1, padded, Buffer.from([9, 0]))], 'goaway protocol'],
  ['6.1', 'nothing but padding', [open, data(1, padded, Buffer.from([1, 0]))], 'nothing'],
  ['6.2', 'headers on stream 0', [headers(0, endHeaders)], 'goaway protocol'],
  [
    '6.2',
    'headers with more padding than payload',
    [headers(1, endHeaders | padded, Buffer.from([9, 0x83]))],
    'goaway protocol',
  ],
  [
    '6.2',
    'headers with a priority',
    [headers(1, endHeaders | priority, Buffer.from([0, 0, 0, 0, 9, 0x83]))],
    'nothing',
  ],
  ['6.3', 'a priority on stream 0', [frame(frameType.priority, 0, 0, Buffer.alloc(5))], 'goaway protocol'],
  ['6.3', 'a priority of a wrong size', [frame(frameType.priority, 0, 1, Buffer.alloc(4))], 'goaway frameSize'],
  ['6.4', 'a reset on stream 0', [reset(0, errorCode.cancel)], 'goaway protocol'],
  ['6.4', 'a reset of a wrong size', [open, frame(frameType.reset, 0, 1, Buffer.alloc(3))], 'goaway frameSize'],
  ['6.5', 'an acknowledgement with content', [frame(frameType.settings, ack, 0, Buffer.alloc(6))], 'goaway frameSize'],
  ['6.5', 'settings on a stream', [frame(frameType.settings, 0, 1)], 'goaway protocol'],
  ['6.5', 'half a setting', [frame(frameType.settings, 0, 0, Buffer.alloc(3))], 'goaway frameSize'],
  ['6.5.2', 'neither push nor no push', [settings({ [settingId.enablePush]: 2 })], 'goaway protocol'],
  [
    '6.5.2',
    'a window above its limit',
    [settings({ [settingId.initialWindowSize]: 0x80000000 })],
    'goaway flowControl',
  ],
  ['6.5.2', 'too small frames', [settings({ [settingId.maxFrameSize]: 16_383 })], 'goaway protocol'],
  ['6.5.2', 'too large frames', [settings({ [settingId.maxFrameSize]: 0x1000000 })], 'goaway protocol'],
  ['6.5.2', 'a setting that is not known', [settings({ 255: 1 })], 'nothing'],
  [
    '6.6',
    'a push of a client',
    [open, frame(frameType.pushPromise, endHeaders, 1, Buffer.alloc(5))],
    'goaway protocol',
  ],
  ['6.7', 'a ping on a stream', [ping(1, 8)], 'goaway protocol'],
  ['6.7', 'a ping of a wrong size', [ping(0, 6)], 'goaway frameSize'],
  ['6.8', 'a goodbye on a stream', [frame(frameType.goAway, 0, 1, Buffer.alloc(8))], 'goaway protocol'],
  ['6.9', 'a window update of nothing', [windowUpdate(0, 0)], 'goaway protocol'],
  [
    '6.9',
    'a window update of a wrong size',
    [frame(frameType.windowUpdate, 0, 0, Buffer.alloc(3))],
    'goaway frameSize',
  ],
  ['6.9.1', 'too wide a connection', [windowUpdate(0, 0x7fffffff)], 'goaway flowControl'],
  ['6.9.1', 'too wide a stream', [open, windowUpdate(1, 0x7fffffff)], 'reset flowControl'],
  [
    '6.9.2',
    'a setting that makes a stream too wide',
    [open, windowUpdate(1, 0x7fff0000), settings({ [settingId.initialWindowSize]: 0x7fffffff })],
    'goaway flowControl',
  ],
  ['6.10', 'a continuation of nothing', [open, continuation(1, endHeaders)], 'goaway protocol'],
  ['6.10', 'a block in three parts', [headers(1, 0), continuation(1, 0), continuation(1, endHeaders)], 'nothing'],
  ['6.10', 'endless parts', [headers(1, 0), ...Array.from({ length: 100 }, () => continuation(1, 0))], 'goaway calm'],
  ['8.1', 'second headers that do not end', [open, headers(1, endHeaders)], 'reset protocol'],
  ['8.1', 'trailers', [open, data(1), headers(1, endHeaders | endStream)], 'nothing'],
  ['HPACK 4.2', 'a table resized between fields', [headersOf(0x83, 0x20)], 'goaway compression'],
  ['HPACK 6.3', 'a table above what was announced', [headersOf(0x3f, 0xff, 0xff, 0x03)], 'goaway compression'],
  ['HPACK 6.1', 'the index 0', [headersOf(0x80)], 'goaway compression'],
  [
    'HPACK 5.2',
    'padding above 7 bits',
    [headersOf(0x00, 0x86, 0xf2, 0xb2, 0x4a, 0x84, 0xff, 0xff, 0x01, 0x78)],
    'goaway compression',
  ],
  ['HPACK 5.2', 'padding of zeros', [headersOf(0x00, 0x81, 0x18, 0x01, 0x78)], 'goaway compression'],
];

const nameOf = (code: number) => Object.entries(errorCode).find(([, value]) => value === code)?.[0];

/** The first error that a peer gets, if it gets one before the answer to a ping. */
function answerTo(sent: readonly Buffer[]): Promise<string> {
  const { port } = server.address() as { port: number };
  const last = Buffer.from('the last');
  return new Promise((resolve) => {
    const socket: Socket = connect(port, '127.0.0.1', () => {
      const first = sent[0]?.includes('HTTP/1.1') ? [] : [preface, settings({})];
      socket.write(Buffer.concat([...first, ...sent, frame(frameType.ping, 0, 0, last)]));
    });
    // The reader expects a preface, which only clients send.
    const reader = new FrameReader();
    reader.push(preface, () => undefined);
    let answer: string | null = null;
    const end = (text: string) => {
      answer ??= text;
      // After GOAWAY it is the server that closes.
      if (!text.startsWith('goaway')) socket.destroy();
    };
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer ?? 'closed'));
    socket.on('data', (bytes) =>
      reader.push(bytes, ({ type, payload }) => {
        if (type === frameType.goAway) end(`goaway ${nameOf(payload.readUInt32BE(4))}`);
        if (type === frameType.reset) end(`reset ${nameOf(payload.readUInt32BE(0))}`);
        if (type === frameType.ping && payload.equals(last)) end('nothing');
      }),
    );
  });
}

it.each(cases)('%s: %s', async (_section, _what, sent, answer) => {
  expect(await answerTo(sent)).toBe(answer);
});
