/**
 * Reads, checks and writes frames of HTTP/2 (RFC 9113, sections 4 and 6).
 *
 * Invariant: at most one incomplete frame of a peer is buffered, and it is at most as large as we announced.
 */

export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;
export const flag = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;
export const errorCode = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  streamClosed: 5,
  frameSize: 6,
  refused: 7,
  cancel: 8,
  compression: 9,
  calm: 11,
} as const;

/** A violation of the protocol, which ends the connection with this code (RFC 9113, section 7). */
export class ProtocolError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
export const headerBytes = 9;
/**
 * The payload size that we announce. A larger message comes in several frames and so gets its own memory, which can be transferred to a
 * thread without losing the rest of a shared frame.
 */
export const maxFrameSize = 64 * 1024;

/** Writes a frame header at `at`. */
export function writeFrameHeader(
  out: Buffer,
  at: number,
  length: number,
  type: number,
  flags: number,
  stream: number,
): void {
  out.writeUIntBE(length, at, 3);
  out[at + 3] = type;
  out[at + 4] = flags;
  out.writeUInt32BE(stream, at + 5);
}

export function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const out = Buffer.allocUnsafe(headerBytes + payload.length);
  writeFrameHeader(out, 0, payload.length, type, flags, stream);
  out.set(payload, headerBytes);
  return out;
}

const uint32 = (value: number): Buffer => {
  const out = Buffer.allocUnsafe(4);
  out.writeUInt32BE(value >>> 0);
  return out;
};

export const windowUpdate = (stream: number, increment: number): Buffer =>
  frame(frameType.windowUpdate, 0, stream, uint32(increment));
export const reset = (stream: number, code: number): Buffer => frame(frameType.reset, 0, stream, uint32(code));
export const goAway = (lastStream: number, code: number): Buffer =>
  frame(frameType.goAway, 0, 0, Buffer.concat([uint32(lastStream), uint32(code)]));

/** Initial size and limit of flow-control windows. */
export const initialWindow = 65_535;
export const maxWindow = 0x7fffffff;
/** Smallest and default frame size of a peer. */
export const smallestFrameLimit = 16_384;

export const settingId = { enablePush: 2, maxStreams: 3, initialWindowSize: 4, maxFrameSize: 5 } as const;

export function settings(values: Readonly<Record<number, number>>): Buffer {
  const entries = Object.entries(values);
  const payload = Buffer.allocUnsafe(entries.length * 6);
  entries.forEach(([id, value], index) => {
    payload.writeUInt16BE(Number(id), index * 6);
    payload.writeUInt32BE(value, index * 6 + 2);
  });
  return frame(frameType.settings, 0, 0, payload);
}

/** Throws ProtocolError for an invalid value. */
export function readSettings(payload: Buffer): Map<number, number> {
  const values = new Map<number, number>();
  for (let at = 0; at + 6 <= payload.length; at += 6)
    values.set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
  const { initialWindowSize, enablePush } = settingId;
  if ((values.get(initialWindowSize) ?? initialWindow) > maxWindow)
    throw new ProtocolError(errorCode.flowControl, 'a window above its limit');
  if ((values.get(enablePush) ?? 1) > 1) throw new ProtocolError(errorCode.protocol, 'neither push nor no push');
  const frameLimit = values.get(settingId.maxFrameSize) ?? smallestFrameLimit;
  if (frameLimit < smallestFrameLimit || frameLimit > 0xffffff)
    throw new ProtocolError(errorCode.protocol, 'no such frame size');
  return values;
}

/** Returns the payload without padding and without the first `skip` bytes. Throws ProtocolError. */
export function unpadded(flags: number, payload: Buffer, skip = 0): Buffer {
  const padded = (flags & flag.padded) !== 0;
  const padding = padded ? (payload[0] ?? 0) : 0;
  const from = skip + (padded ? 1 : 0);
  if (from + padding > payload.length) throw new ProtocolError(errorCode.protocol, 'more padding than payload');
  return from === 0 && padding === 0 ? payload : payload.subarray(from, payload.length - padding);
}

const ofStreams: ReadonlySet<number> = new Set([
  frameType.data,
  frameType.headers,
  frameType.priority,
  frameType.continuation,
  frameType.reset,
]);
const ofConnection: ReadonlySet<number> = new Set([frameType.settings, frameType.ping, frameType.goAway]);
const sizes: ReadonlyMap<number, number> = new Map([
  [frameType.priority, 5],
  [frameType.reset, 4],
  [frameType.ping, 8],
  [frameType.windowUpdate, 4],
]);

/** Checks a frame regardless of the connection's state. Throws ProtocolError. */
export function checkFrame({ type, flags, stream, payload }: Frame): void {
  if (type === frameType.pushPromise) throw new ProtocolError(errorCode.protocol, 'a client cannot push');
  if (stream === 0 ? ofStreams.has(type) : ofConnection.has(type)) {
    throw new ProtocolError(errorCode.protocol, 'a frame on the wrong stream');
  }
  const isSettings = type === frameType.settings;
  const size = isSettings && flags & flag.ack ? 0 : (sizes.get(type) ?? payload.length);
  if (payload.length !== size || (isSettings && size % 6 !== 0)) {
    throw new ProtocolError(errorCode.frameSize, 'a frame of the wrong size');
  }
  if (type === frameType.windowUpdate && (payload.readUInt32BE(0) & 0x7fffffff) === 0) {
    throw new ProtocolError(errorCode.protocol, 'a window update of nothing');
  }
}

/** Cuts the bytes of a peer into frames. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);
  #sawPreface = false;

  /** Passes every complete frame to `deliver`, in order. Throws ProtocolError. */
  push(received: Buffer, deliver: (frame: Frame) => void): void {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, received]) : received;
    let at = this.#skipPreface(bytes);
    while (this.#sawPreface && bytes.length - at >= headerBytes) {
      const length = bytes.readUIntBE(at, 3);
      if (length > maxFrameSize) throw new ProtocolError(errorCode.frameSize, 'a frame larger than announced');
      const end = at + headerBytes + length;
      if (bytes.length < end) break;
      deliver({
        type: bytes[at + 3] as number,
        flags: bytes[at + 4] as number,
        stream: bytes.readUInt32BE(at + 5) & 0x7fffffff,
        payload: bytes.subarray(at + headerBytes, end),
      });
      at = end;
    }
    // Copied, so that the rest does not keep the whole buffer alive.
    this.#rest = at === 0 ? bytes : Buffer.from(bytes.subarray(at));
  }

  #skipPreface(bytes: Buffer): number {
    if (this.#sawPreface) return 0;
    const seen = Math.min(preface.length, bytes.length);
    if (!bytes.subarray(0, seen).equals(preface.subarray(0, seen))) {
      throw new ProtocolError(errorCode.protocol, 'not HTTP/2');
    }
    this.#sawPreface = seen === preface.length;
    return this.#sawPreface ? seen : 0;
  }
}
