/** gRPC calls on streams of our HTTP/2. */
import { framed, framedWhole, MessageReader, MessageRoom } from './framing.ts';
import { wideWindow } from './http2/connection.ts';
import { errorCode } from './http2/frames.ts';
import type { Http2Stream, StreamHandler } from './http2/stream.ts';
import type { Method } from './methods.ts';

/** The gRPC status codes in use. */
export const status = { ok: 0, internal: 13, resourceExhausted: 8, unimplemented: 12, unauthenticated: 16 } as const;

const literal = (text: string): Buffer => Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'latin1')]);
/** `:status: 200` from the static table, and content-type (entry 31) as a literal. */
const replyHeaders = Buffer.concat([Buffer.from([0x88, 0x0f, 0x10]), literal('application/grpc')]);
const trailer = (name: string, value: string): Buffer =>
  Buffer.concat([Buffer.from([0x00]), literal(name), literal(value)]);
const okTrailers = trailer('grpc-status', '0');
const onlyOk = Buffer.concat([replyHeaders, okTrailers]);

/** Enough for several of the largest replies, or 25 of the largest requests. Further ones wait in Envoy's memory. */
const room = new MessageRoom(256 * 1024 * 1024);
/** Eight large messages have wide windows. */
const wide = new MessageRoom(8 * wideWindow);

export function fail(stream: Http2Stream, code: number): void {
  stream.sendHeaders(Buffer.concat([replyHeaders, trailer('grpc-status', String(code))]), true);
}

type MethodOf<Kind extends Method['kind']> = Extract<Method, { kind: Kind }>;

function unary({ answer }: MethodOf<'unary'>, stream: Http2Stream): StreamHandler {
  const reader = new MessageReader((message) => {
    answer(message, () => !stream.isOpen)
      .then((response) => {
        stream.sendHeaders(replyHeaders, false);
        stream.sendData(framedWhole(response));
        stream.sendHeaders(okTrailers, true);
      })
      .catch(() => fail(stream, status.internal));
  });
  return {
    data: (bytes) => reader.push(bytes) || fail(stream, status.resourceExhausted),
    ended: () => undefined,
    closed: () => undefined,
  };
}

/** Envoy has few of these, and what it tells after a pause must come at once: others wait for it (receipt-sidecar/receipt/ends.ts). */
function clientStream({ take }: MethodOf<'client-stream'>, stream: Http2Stream): StreamHandler {
  stream.widen();
  const reader = new MessageReader(take);
  return {
    data: (bytes) => reader.push(bytes) || stream.reset(errorCode.frameSize),
    ended: () => stream.sendHeaders(onlyOk, true),
    closed: () => undefined,
  };
}

function bidirectional({ open }: MethodOf<'bidirectional'>, stream: Http2Stream): StreamHandler {
  let answered = false;
  const handler = open({
    send: (parts) => {
      if (!answered) stream.sendHeaders(replyHeaders, false);
      answered = true;
      for (const part of framed(parts)) stream.sendData(part);
    },
    breakOff: () => stream.reset(errorCode.internal),
  });
  let leaveRoom = (): void => undefined;
  const reader = new MessageReader(
    (message) => {
      leaveRoom();
      if (stream.held) stream.resume();
      handler.message(message);
    },
    (length) => {
      stream.hold();
      let leaveWide = (): void => undefined;
      const leaveMemory = room.enter(length, () => {
        stream.resume();
        leaveWide = wide.enter(wideWindow, () => stream.widen());
      });
      leaveRoom = () => {
        leaveMemory();
        leaveWide();
        stream.narrow();
      };
      handler.coming();
    },
  );
  return {
    data: (bytes) => reader.push(bytes) || stream.reset(errorCode.frameSize),
    // Envoy has ended the call. End it too, so that it need not reset the stream.
    ended: () => {
      handler.close();
      stream.sendHeaders(answered ? okTrailers : onlyOk, true);
    },
    closed: () => {
      leaveRoom();
      handler.close();
    },
  };
}

export function openCall(method: Method, stream: Http2Stream): StreamHandler {
  switch (method.kind) {
    case 'unary':
      return unary(method, stream);
    case 'client-stream':
      return clientStream(method, stream);
    case 'bidirectional':
      return bidirectional(method, stream);
  }
}
