/** What a frame must be, whatever state its connection is in (RFC 9113, section 6). */
import type { Frame } from './frame-reader.ts';
import { errorCode, frameType } from './frames.ts';
import { ProtocolError } from './protocol-error.ts';

const ofStreams: ReadonlySet<number> = new Set([
  frameType.data,
  frameType.headers,
  frameType.continuation,
  frameType.reset,
]);
const ofConnection: ReadonlySet<number> = new Set([frameType.settings, frameType.ping, frameType.goAway]);
const sizes: ReadonlyMap<number, number> = new Map([
  [frameType.reset, 4],
  [frameType.ping, 8],
  [frameType.windowUpdate, 4],
]);

/** Throws ProtocolError. */
export function checkFrame({ type, stream, payload }: Frame): void {
  if (stream === 0 ? ofStreams.has(type) : ofConnection.has(type)) {
    throw new ProtocolError(errorCode.protocol, 'a frame on the wrong stream');
  }
  const size = sizes.get(type) ?? payload.length;
  if (payload.length !== size || (type === frameType.settings && payload.length % 6 !== 0)) {
    throw new ProtocolError(errorCode.frameSize, 'a frame of the wrong size');
  }
  if (type === frameType.windowUpdate && (payload.readUInt32BE(0) & 0x7fffffff) === 0) {
    throw new ProtocolError(errorCode.protocol, 'a window update of nothing');
  }
}
