/** Flow control gives a peer exactly as much as it allows, frame by frame, over a real socket. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { openCall } from '../calls.ts';
import { Http2Connection } from './connection.ts';
import { FrameReader, flag, frame, frameType, preface, settingId, settings, windowUpdate } from './frames.ts';
import type { Http2Stream } from './stream.ts';

let server: Server;
let client: Socket;
afterEach(async () => {
  client.destroy();
  await new Promise((resolve) => server.close(resolve));
});

/** A server that answers each stream with `bytes`, and a client that counts the data and the room that it gets. */
async function answering(bytes: Buffer, window: number) {
  const streams: Http2Stream[] = [];
  server = createServer((socket) => {
    new Http2Connection(socket, (_headers, stream) => {
      stream.sendHeaders(Buffer.from([0x88]), false);
      stream.sendData(bytes);
      streams.push(stream);
      return { data: () => undefined, ended: () => undefined, closed: () => undefined };
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  let received = 0;
  let pings = 0;
  let room = 0;
  // The reader expects a preface, which only clients send.
  const reader = new FrameReader();
  reader.push(preface, () => undefined);
  client = connect(typeof bound === 'object' && bound ? bound.port : 0, '127.0.0.1');
  client.on('data', (part) =>
    reader.push(part, ({ type, flags, payload, stream }) => {
      if (type === frameType.windowUpdate && stream === 3) room += payload.readUInt32BE(0);
      if (type === frameType.data) received += payload.length;
      if (type === frameType.ping && flags === 1) pings += 1;
    }),
  );
  client.write(
    Buffer.concat([
      preface,
      settings({ [settingId.initialWindowSize]: window }),
      frame(frameType.headers, 5, 1, Buffer.from([0x83])),
    ]),
  );
  /** All that was sent before has been handled once a ping is answered. */
  const settled = async () => {
    const before = pings;
    client.write(frame(frameType.ping, 0, 0, Buffer.alloc(8)));
    await expect.poll(() => pings).toBe(before + 1);
    return received;
  };
  const roomGiven = async () => {
    await settled();
    return room;
  };
  return { settled, roomGiven, streams };
}

it('sends no more than the window of the stream, and goes on when it is widened', async () => {
  const { settled } = await answering(Buffer.alloc(1000), 10);
  expect(await settled()).toBe(10);
  client.write(windowUpdate(1, 25));
  expect(await settled()).toBe(35);
  client.write(settings({ [settingId.initialWindowSize]: 110 }));
  expect(await settled()).toBe(135);
  client.write(windowUpdate(1, 10_000));
  expect(await settled()).toBe(1000);
});

it('sends no more than the window of the connection', async () => {
  const { settled } = await answering(Buffer.alloc(200_000), 0x7fffffff);
  expect(await settled()).toBe(65_535);
  client.write(windowUpdate(0, 1_000_000));
  expect(await settled()).toBe(200_000);
});

it('gives room back in portions, padding included, and none while a stream is held', async () => {
  const { roomGiven, streams } = await answering(Buffer.alloc(0), 65_535);
  client.write(frame(frameType.headers, flag.endHeaders, 3, Buffer.from([0x83])));
  client.write(frame(frameType.data, 0, 3, Buffer.alloc(4096)));
  expect(await roomGiven()).toBe(4096);
  streams[1]?.widen();
  const wide = 4096 + (256 - 16) * 1024;
  expect(await roomGiven()).toBe(wide);
  const [portion, padded] = [60_000, Buffer.alloc(5537)];
  padded[0] = 255;
  client.write(frame(frameType.data, 0, 3, Buffer.alloc(portion)));
  expect(await roomGiven()).toBe(wide);
  client.write(frame(frameType.data, flag.padded, 3, padded));
  expect(await roomGiven()).toBe(wide + portion + padded.length);
  streams[1]?.hold();
  for (let count = 0; count < 2; count++) client.write(frame(frameType.data, 0, 3, Buffer.alloc(50_000)));
  expect(await roomGiven()).toBe(wide + portion + padded.length);
  streams[1]?.resume();
  expect(await roomGiven()).toBe(wide + portion + padded.length + 100_000);
});

it('makes a window narrow again by giving nothing back for as much as it was widened', async () => {
  const { roomGiven, streams } = await answering(Buffer.alloc(0), 65_535);
  client.write(frame(frameType.headers, flag.endHeaders, 3, Buffer.from([0x83])));
  const send = (kib: number) => {
    for (let sent = 0; sent < kib; sent += 10) client.write(frame(frameType.data, 0, 3, Buffer.alloc(10 * 1024)));
  };
  const added = 240 * 1024;
  await roomGiven();
  const stream = streams[1];
  stream?.widen();
  expect(await roomGiven()).toBe(added);
  stream?.narrow();
  send(100);
  expect(await roomGiven()).toBe(added);
  // It has 140 KiB more than it should still, so that widened again it gets back the others.
  stream?.widen();
  expect(await roomGiven()).toBe(added + 100 * 1024);
  stream?.narrow();
  send(240);
  expect(await roomGiven()).toBe(added + 100 * 1024);
  send(10);
  expect(await roomGiven()).toBe(added + 110 * 1024);
});

it('lets the stream of a large message be wide until that is whole', async () => {
  const mib = 1024 * 1024;
  let whole = 0;
  server = createServer((socket) => {
    new Http2Connection(socket, (_headers, stream) => {
      const handler = { message: () => void whole++, coming: () => undefined, close: () => undefined };
      return openCall({ kind: 'bidirectional', open: () => handler }, stream);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  // The peer may send the window of the beginning, and as much as it is given.
  let allowed = 16 * 1024;
  const reader = new FrameReader();
  reader.push(preface, () => undefined);
  client = connect(typeof bound === 'object' && bound ? bound.port : 0, '127.0.0.1');
  client.on('data', (part) =>
    reader.push(part, ({ type, payload, stream }) => {
      if (type === frameType.windowUpdate && stream === 1) allowed += payload.readUInt32BE(0);
    }),
  );
  const message = (size: number) => {
    const bytes = Buffer.alloc(5 + size);
    bytes.writeUInt32BE(size, 1);
    return bytes;
  };
  client.write(Buffer.concat([preface, frame(frameType.headers, flag.endHeaders, 1, Buffer.from([0x83]))]));
  let sent = 0;
  const send = async (bytes: Buffer) => {
    for (let at = 0; at < bytes.length; at += 8192) {
      const part = bytes.subarray(at, at + 8192);
      await expect.poll(() => allowed - sent, { interval: 1 }).toBeGreaterThanOrEqual(part.length);
      sent += part.length;
      client.write(frame(frameType.data, 0, 1, part));
    }
  };
  const large = message(mib);
  await send(large.subarray(0, mib / 2));
  await expect.poll(() => allowed - sent).toBeGreaterThan(128 * 1024);
  await send(large.subarray(mib / 2));
  await expect.poll(() => whole).toBe(1);
  for (let count = 0; count < 40; count++) await send(message(8000));
  await expect.poll(() => whole).toBe(41);
  expect(allowed - sent).toBeLessThanOrEqual(16 * 1024);
});

it('lets a client that only tells send much at once from the beginning', async () => {
  let given = 0;
  server = createServer((socket) => {
    new Http2Connection(socket, (_headers, stream) =>
      openCall({ kind: 'client-stream', take: () => undefined }, stream),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  const reader = new FrameReader();
  reader.push(preface, () => undefined);
  client = connect(typeof bound === 'object' && bound ? bound.port : 0, '127.0.0.1');
  client.on('data', (part) =>
    reader.push(part, ({ type, payload, stream }) => {
      if (type === frameType.windowUpdate && stream === 1) given += payload.readUInt32BE(0);
    }),
  );
  client.write(Buffer.concat([preface, frame(frameType.headers, flag.endHeaders, 1, Buffer.from([0x83]))]));
  await expect.poll(() => given).toBe(240 * 1024);
});
