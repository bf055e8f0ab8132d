/**
 * gRPC on a stream of our HTTP/2: unary calls, streams of calls, and their messages.
 *
 * Invariant: a handler that throws ends its own call, and no other.
 */
import { bodyOpening } from './body-parts.ts';
import { errorCode } from './http2/frames.ts';
import type { Http2Stream, StreamHandler } from './http2/stream.ts';
import { MessageRoom } from './message-room.ts';
import type { Codec } from './messages.ts';
import type { IProcessingResponse, OpenProcessor, ProcessingRequest } from './service.ts';

/** gRPC's status codes, as far as they are used. */
export const status = { ok: 0, internal: 13, resourceExhausted: 8, unimplemented: 12, unauthenticated: 16 } as const;

/** A 64 MiB reply and its frame. */
const maxMessageBytes = 72 * 1024 * 1024;
/** A larger message gets its place as soon as its length is known. */
const largeMessage = 64 * 1024;
const prefixBytes = 5;

const literal = (text: string): Buffer => Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'latin1')]);
/** `:status: 200` from the static table, and content-type (entry 31) as a literal. */
const replyHeaders = Buffer.concat([Buffer.from([0x88, 0x0f, 0x10]), literal('application/grpc')]);
const trailer = (name: string, value: string): Buffer =>
  Buffer.concat([Buffer.from([0x00]), literal(name), literal(value)]);
const okTrailers = trailer('grpc-status', '0');

function frameMessage(message: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(prefixBytes + message.length);
  out[0] = 0;
  out.writeUInt32BE(message.length, 1);
  out.set(message, prefixBytes);
  return out;
}

/** Below this it costs less to copy the body than to send it in a frame of its own. */
const largeBody = 16 * 1024;

/** In parts: a large body stays where it is. */
function frameWithBody(message: Uint8Array, response: IProcessingResponse, body: readonly Buffer[]): readonly Buffer[] {
  if (body.length === 0) return [frameMessage(message)];
  const length = body.reduce((sum, part) => sum + part.length, 0);
  const opening = bodyOpening(response, length);
  const prefix = Buffer.allocUnsafe(prefixBytes);
  prefix[0] = 0;
  prefix.writeUInt32BE(message.length + opening.length + length, 1);
  const head = [prefix, message, opening];
  return length < largeBody ? [Buffer.concat([...head, ...body])] : [Buffer.concat(head), ...body];
}

/** Several of the largest replies, or 25 of the largest requests. Those beyond wait at Envoy, which has them in memory. */
const room = new MessageRoom(256 * 1024 * 1024);

/** Cuts messages out of the data of one stream. */
class MessageReader {
  readonly #deliver: (message: Buffer) => void;
  readonly #coming: (length: number) => void;
  /** What of a message, or of its prefix, is there. */
  #rest: Buffer = Buffer.alloc(0);
  /** A message that comes in many parts, filled as they come: put together at once it would hold up everything else. */
  #large: { readonly bytes: Buffer; filled: number } | null = null;

  /** `coming`: told of the beginning of a message that comes in many parts. */
  constructor(deliver: (message: Buffer) => void, coming: (length: number) => void = () => undefined) {
    this.#deliver = deliver;
    this.#coming = coming;
  }

  /** False if a message is larger than allowed or compressed, which nobody asked for. */
  push(received: Buffer): boolean {
    let bytes = this.#large ? this.#fill(this.#large, received) : received;
    if (this.#large) return true;
    if (this.#rest.length > 0) bytes = Buffer.concat([this.#rest, bytes]);
    while (bytes.length >= prefixBytes) {
      const length = bytes.readUInt32BE(1);
      if (bytes[0] !== 0 || length > maxMessageBytes) return false;
      const end = prefixBytes + length;
      if (bytes.length < end && length > largeMessage) {
        this.#large = { bytes: Buffer.allocUnsafeSlow(length), filled: 0 };
        this.#coming(length);
        bytes = this.#fill(this.#large, bytes.subarray(prefixBytes));
        break;
      }
      if (bytes.length < end) break;
      this.#deliver(bytes.subarray(prefixBytes, end));
      bytes = bytes.subarray(end);
    }
    this.#rest = bytes;
    return true;
  }

  /** Returns what is not part of the message. */
  #fill(large: { readonly bytes: Buffer; filled: number }, received: Buffer): Buffer {
    const taken = received.subarray(0, large.bytes.length - large.filled);
    taken.copy(large.bytes, large.filled);
    large.filled += taken.length;
    if (large.filled === large.bytes.length) {
      this.#large = null;
      this.#rest = Buffer.alloc(0);
      this.#deliver(large.bytes);
    }
    return received.subarray(taken.length);
  }
}

export type Method = (stream: Http2Stream) => StreamHandler;

export function fail(stream: Http2Stream, code: number): void {
  stream.sendHeaders(Buffer.concat([replyHeaders, trailer('grpc-status', String(code))]), true);
}

export function unary<Request, Response>(
  types: Codec<Request, Response>,
  handle: (request: Request) => Promise<Response>,
  onFault: (fault: unknown) => void,
): Method {
  return (stream) => {
    const reader = new MessageReader((message) => {
      let answer: Promise<Response>;
      try {
        answer = handle(types.decode(message));
      } catch (fault) {
        answer = Promise.reject(fault);
      }
      answer
        .then((response) => {
          const bytes = frameMessage(types.encode(response));
          stream.sendHeaders(replyHeaders, false);
          stream.sendData(bytes);
          stream.sendHeaders(okTrailers, true);
        })
        .catch((fault: unknown) => {
          onFault(fault);
          fail(stream, status.internal);
        });
    });
    return {
      data: (bytes) => reader.push(bytes) || fail(stream, status.resourceExhausted),
      ended: () => undefined,
      closed: () => undefined,
    };
  };
}

/** `decodeLater`: of all messages of a stream but the first, which alone says what is true of all of them. */
export function processing(
  types: Codec<ProcessingRequest, IProcessingResponse>,
  decodeLater: (bytes: Buffer) => ProcessingRequest,
  openProcessor: OpenProcessor,
  onFault: (fault: unknown) => void,
): Method {
  return (stream) => {
    let answered = false;
    let open = true;
    const answer = (response: IProcessingResponse, body: readonly Buffer[] = []) => {
      if (!answered) stream.sendHeaders(replyHeaders, false);
      answered = true;
      for (const part of frameWithBody(types.encode(response), response, body)) stream.sendData(part);
    };
    const fail = (fault: unknown) => {
      onFault(fault);
      close();
      stream.reset(errorCode.internal);
    };
    const processor = openProcessor({ answer, fail });
    const close = () => {
      if (!open) return;
      open = false;
      processor.close();
    };
    const guarded = (step: () => void) => {
      if (!open) return;
      try {
        step();
      } catch (fault) {
        fail(fault);
      }
    };
    let leaveRoom = (): void => undefined;
    let { decode } = types;
    const reader = new MessageReader(
      (message) => {
        leaveRoom();
        if (stream.held) stream.resume();
        guarded(() => processor.message(decode(message)));
        decode = decodeLater;
      },
      (length) => {
        stream.hold();
        leaveRoom = room.enter(length, () => stream.resume());
        guarded(() => processor.coming?.());
      },
    );
    return {
      data: (bytes) => reader.push(bytes) || stream.reset(errorCode.frameSize),
      // Envoy is done with the call: answer in kind, so that it need not reset the stream.
      ended: () => {
        close();
        stream.sendHeaders(answered ? okTrailers : Buffer.concat([replyHeaders, okTrailers]), true);
      },
      closed: () => {
        leaveRoom();
        close();
      },
    };
  };
}

export function clientStream<Message>(
  types: Codec<Message, object>,
  handle: (message: Message) => void,
  onFault: (fault: unknown) => void,
): Method {
  return (stream) => {
    const reader = new MessageReader((message) => {
      try {
        handle(types.decode(message));
      } catch (fault) {
        onFault(fault);
      }
    });
    return {
      data: (bytes) => reader.push(bytes) || stream.reset(errorCode.frameSize),
      ended: () => stream.sendHeaders(Buffer.concat([replyHeaders, okTrailers]), true),
      closed: () => undefined,
    };
  };
}
