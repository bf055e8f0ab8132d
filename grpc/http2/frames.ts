/** Frames of HTTP/2 (RFC 9113, section 4 and 6). */

import { ProtocolError } from './protocol-error.ts';

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

export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
export const headerBytes = 9;
/**
 * What we announce: the payload of one frame. A message that is larger comes in several, and so has memory of its own,
 * which can be handed to a thread; what is left of a frame it shared would be gone with it.
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

/** The largest flow-control window. */
export const maxWindow = 0x7fffffff;

export const settingId = { initialWindowSize: 4, maxFrameSize: 5 } as const;

export function settings(values: Readonly<Record<number, number>>): Buffer {
  const entries = Object.entries(values);
  const payload = Buffer.allocUnsafe(entries.length * 6);
  entries.forEach(([id, value], index) => {
    payload.writeUInt16BE(Number(id), index * 6);
    payload.writeUInt32BE(value, index * 6 + 2);
  });
  return frame(frameType.settings, 0, 0, payload);
}

/** Throws ProtocolError for a value that no peer may choose. */
export function readSettings(payload: Buffer): Map<number, number> {
  const values = new Map<number, number>();
  for (let at = 0; at + 6 <= payload.length; at += 6)
    values.set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
  if ((values.get(settingId.initialWindowSize) ?? 0) > maxWindow) {
    throw new ProtocolError(errorCode.flowControl, 'a window above its limit');
  }
  const frameSize = values.get(settingId.maxFrameSize) ?? 16_384;
  if (frameSize < 16_384 || frameSize > 0xffffff) throw new ProtocolError(errorCode.protocol, 'no such frame size');
  return values;
}

/** The payload without padding, and without the `skip` bytes that stand in front. Throws ProtocolError. */
export function unpadded(flags: number, payload: Buffer, skip = 0): Buffer {
  const padded = (flags & flag.padded) !== 0;
  const padding = padded ? (payload[0] ?? 0) : 0;
  const from = skip + (padded ? 1 : 0);
  if (from + padding > payload.length) throw new ProtocolError(errorCode.protocol, 'more padding than payload');
  return from === 0 && padding === 0 ? payload : payload.subarray(from, payload.length - padding);
}
