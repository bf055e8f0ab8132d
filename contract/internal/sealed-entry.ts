/**
 * An entry of the ledger as bytes: what a sidecar knows of a call, with a code by a key that only sidecars and control planes hold.
 *
 * Invariant: who lacks the key can make no entry that opens, nor change one: each byte is under the code. The same bytes lie in the
 * spool, in the stream, beside a call that runs and in what Envoy's log tells of a call that its sidecar did not finish.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import {
  codeBytes,
  type EntryContent,
  type EntryState,
  type EntryTexts,
  hasHead,
  headBytes,
  keyAt,
  lengthsOf,
  mostBytes,
  type OpenedEntry,
  readEntry,
  stateAt,
  states,
  writeEntry,
} from './entry-form.ts';
import type { KeyRing, NumberedKey } from './key-ring.ts';

export {
  type EntryColumns,
  type EntryContent,
  type EntryState,
  isShown,
  namesOf,
  type OpenedEntry,
  receiptIdOf,
} from './entry-form.ts';

/** `malformed`: no entry of this format. */
export type EntryFault = 'malformed' | 'unknown key' | 'wrong code';

export type Opening = { readonly entry: OpenedEntry } | { readonly fault: EntryFault };

/**
 * HMAC-SHA-256 (RFC 2104) over what stands behind `blockBytes` in a buffer, by two one-shot hashes, whose texts take a third of the
 * time that their buffers take.
 */
const blockBytes = 64;
class Codes {
  readonly #inner = Buffer.alloc(blockBytes, 0x36);
  readonly #outer = Buffer.alloc(blockBytes + 32, 0x5c);
  readonly #codes = Buffer.alloc(2 * codeBytes);

  constructor(secret: Uint8Array) {
    for (const [at, byte] of secret.entries()) {
      this.#inner.writeUInt8(byte ^ 0x36, at);
      this.#outer.writeUInt8(byte ^ 0x5c, at);
    }
  }

  /** Returns the codes of the two states of a pair. They are good until the next call. */
  of(bytes: Buffer, pair: number): Buffer {
    bytes[blockBytes + stateAt] = pair;
    this.#inner.copy(bytes);
    this.#outer.write(hash('sha256', bytes, 'hex'), blockBytes, 'hex');
    this.#codes.write(hash('sha256', this.#outer, 'hex'), 'hex');
    return this.#codes;
  }
}

/** Memory in which entries are put together. The first bytes are the key's, so it is given to nobody. */
let desk: Buffer = Buffer.allocUnsafeSlow(64 * 1024);
function deskOf(length: number): Buffer {
  if (blockBytes + length > desk.length) desk = Buffer.allocUnsafeSlow(2 * (blockBytes + length));
  return desk;
}

/** Entries lie in a few large pieces, since each buffer of its own makes V8 collect garbage sooner. */
const pieceBytes = 128 * 1024;
let piece: Buffer = Buffer.allocUnsafeSlow(pieceBytes);
let used = 0;
function kept(bytes: Buffer): Buffer {
  if (bytes.length > pieceBytes / 8) return Buffer.from(bytes);
  if (used + bytes.length > pieceBytes) {
    piece = Buffer.allocUnsafeSlow(pieceBytes);
    used = 0;
  }
  const own = piece.subarray(used, used + bytes.length);
  bytes.copy(own);
  used += bytes.length;
  return own;
}

export class EntrySealer {
  readonly #id: number;
  readonly #codes: Codes;

  constructor({ id, secret }: NumberedKey) {
    this.#id = id;
    this.#codes = new Codes(secret);
  }

  seal(content: EntryContent, state: EntryState): Buffer {
    const [desk, end] = this.#write(content);
    return this.#finish(desk, end, state);
  }

  /**
   * Seals what Envoy's log is to carry of a call, in base64: with the two texts it gives an entry of either state (`standIn`), without a
   * key. Second is the entry of the call while it runs.
   */
  sealStandIn(content: EntryContent): readonly [standIn: string, pending: Buffer] {
    const [desk, end] = this.#write(content);
    const pending = this.#finish(desk, end, 'pending');
    const textsAt = blockBytes + headBytes + lengthsOf(desk, blockBytes).names;
    // The texts are not needed any more.
    const codesEnd = textsAt + this.#codes.of(desk.subarray(0, end), pairOf(standInStates[0])).copy(desk, textsAt);
    return [desk.toString('base64', blockBytes, codesEnd), pending];
  }

  /** Seals what was opened before once more, for another state. */
  again(entry: Buffer, state: EntryState): Buffer {
    const desk = deskOf(entry.length);
    const end = blockBytes + entry.copy(desk, blockBytes, 0, entry.length - codeBytes);
    desk.writeUInt16BE(this.#id, blockBytes + keyAt);
    return this.#finish(desk, end, state);
  }

  #write(content: EntryContent): [desk: Buffer, end: number] {
    const desk = deskOf(mostBytes(content));
    const end = writeEntry(desk, blockBytes, content);
    desk.writeUInt16BE(this.#id, blockBytes + keyAt);
    return [desk, end];
  }

  #finish(desk: Buffer, end: number, state: EntryState): Buffer {
    const half = halfOf(state);
    this.#codes.of(desk.subarray(0, end), pairOf(state)).copy(desk, end, half, half + codeBytes);
    desk[blockBytes + stateAt] = states.indexOf(state);
    return kept(desk.subarray(blockBytes, end + codeBytes));
  }
}

/** A pair. */
const standInStates = ['left', 'shown'] as const;
const pairOf = (state: EntryState): number => states.indexOf(state) >> 1;
const halfOf = (state: EntryState): number => codeBytes * (states.indexOf(state) & 1);

/** Puts the entry of a call together from what Envoy's log carries. Whether that was right its reader finds out. */
export function standIn(
  sealedText: string,
  { receipt, assumed }: Pick<EntryTexts, 'receipt' | 'assumed'>,
  state: (typeof standInStates)[number],
): Buffer {
  const sealed = Buffer.from(sealedText, 'base64');
  const head = Buffer.from(sealed.subarray(0, Math.max(0, sealed.length - 2 * codeBytes)));
  if (head.length > stateAt) head[stateAt] = states.indexOf(state);
  const codeAt = head.length + halfOf(state);
  const texts = assumed === null ? [Buffer.from(receipt)] : [Buffer.from(receipt), Buffer.from(assumed)];
  return Buffer.concat([head, ...texts, sealed.subarray(codeAt, codeAt + codeBytes)]);
}

export class EntryOpener {
  readonly #current: number;
  readonly #codes: ReadonlyMap<number, Codes>;

  constructor({ current, others }: KeyRing) {
    this.#current = current.id;
    this.#codes = new Map([current, ...others].map(({ id, secret }) => [id, new Codes(secret)]));
  }

  /** Throws for nothing, whatever somebody has put there. */
  open(entry: Buffer): Opening {
    if (!hasHead(entry)) return { fault: 'malformed' };
    const state = states[entry.readUInt8(stateAt)];
    const codeAt = entry.length - codeBytes;
    const { names, texts } = lengthsOf(entry, 0);
    if (state === undefined || headBytes + names + texts !== codeAt) return { fault: 'malformed' };
    const key = entry.readUInt16BE(keyAt);
    const codes = this.#codes.get(key);
    if (codes === undefined) return { fault: 'unknown key' };
    const desk = deskOf(codeAt);
    const end = blockBytes + entry.copy(desk, blockBytes, 0, codeAt);
    const half = halfOf(state);
    const code = codes.of(desk.subarray(0, end), pairOf(state)).subarray(half, half + codeBytes);
    if (!timingSafeEqual(code, entry.subarray(codeAt))) return { fault: 'wrong code' };
    return { entry: readEntry(entry, state, key !== this.#current) };
  }
}
