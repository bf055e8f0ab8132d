/** A peer that has vanished is let go, one that is there is kept: over a real socket, with a timer that the test turns. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Http2Connection } from './connection.ts';
import { FrameReader, frame, frameType, preface, settings } from './frames.ts';
import { tickMs } from './socket.ts';

let server: Server;
let client: Socket;
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(async () => {
  vi.useRealTimers();
  client.destroy();
  await new Promise((resolve) => server.close(resolve));
});

/** A server with one open stream of a client that answers pings, or does not. */
async function connected(answersPings: boolean) {
  let opened = false;
  let closed = 0;
  server = createServer((socket) => {
    new Http2Connection(socket, () => {
      opened = true;
      return { data: () => undefined, ended: () => undefined, closed: () => (closed += 1) };
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const bound = server.address();
  let pings = 0;
  const reader = new FrameReader();
  // The reader expects a preface, which only clients send.
  reader.push(preface, () => undefined);
  client = connect(typeof bound === 'object' && bound ? bound.port : 0, '127.0.0.1');
  client.on('error', () => undefined);
  client.on('data', (part) =>
    reader.push(part, ({ type, flags, payload }) => {
      if (type !== frameType.ping || flags !== 0) return;
      pings += 1;
      if (answersPings) client.write(frame(frameType.ping, 1, 0, payload));
    }),
  );
  client.write(Buffer.concat([preface, settings({}), frame(frameType.headers, 4, 1, Buffer.from([0x83]))]));
  await expect.poll(() => opened).toBe(true);
  return { closed: () => closed, pings: () => pings };
}

test('the streams of a peer that is gone without a word are closed, once, after two ticks of silence', async () => {
  const { closed, pings } = await connected(false);
  vi.advanceTimersByTime(2 * tickMs);
  await expect.poll(pings).toBe(1);
  expect(closed()).toBe(0);
  vi.advanceTimersByTime(tickMs);
  await expect.poll(closed).toBe(1);
});

test('a peer that answers pings is kept, however long it has nothing else to say', async () => {
  const { closed, pings } = await connected(true);
  for (let asked = 1; asked <= 5; asked += 1) {
    vi.advanceTimersByTime(tickMs);
    vi.advanceTimersByTime(tickMs);
    await expect.poll(pings).toBe(asked);
    // Its answer has arrived once a later ping of its own is answered.
    const answered = new Promise((resolve) => client.once('data', resolve));
    client.write(frame(frameType.ping, 0, 0, Buffer.alloc(8)));
    await answered;
  }
  expect(closed()).toBe(0);
});
