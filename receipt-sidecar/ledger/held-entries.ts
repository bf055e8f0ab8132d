/**
 * Keeps ledger entries in memory by their stream ids, oldest first, as bytes in a few large buffers that are reused.
 *
 * As values of their own they would survive two minor garbage collections, be copied by each, and then fill the old generation until a major one: 90 MB
 * under load, and a part of each collection.
 */

interface EntryBuffer {
  readonly bytes: Buffer;
  /** The entries that are not free again lie between these offsets. */
  from: number;
  to: number;
}

/** Layout: length of the entry (4 bytes), length of the id (1), whether the entry was forgotten (1), id, entry. */
const idLengthAt = 4;
const forgottenAt = 5;
const idAt = 6;

interface HeldEntry {
  readonly buffer: EntryBuffer;
  readonly at: number;
  readonly entryAt: number;
  readonly end: number;
}

function heldAt(buffer: EntryBuffer, at: number): HeldEntry {
  const entryAt = at + idAt + buffer.bytes.readUInt8(at + idLengthAt);
  return { buffer, at, entryAt, end: entryAt + buffer.bytes.readUInt32BE(at) };
}
const idOf = ({ at, buffer, entryAt }: HeldEntry): string => buffer.bytes.toString('latin1', at + idAt, entryAt);
const entryOf = ({ end, buffer, entryAt }: HeldEntry): Buffer => Buffer.from(buffer.bytes.subarray(entryAt, end));
const isForgotten = ({ at, buffer }: HeldEntry): boolean => buffer.bytes[at + forgottenAt] === 1;

const bufferBytes = 1024 * 1024;
/** Empty buffers that are kept: under load they fill within a second or two. */
const mostSpare = 8;

export class HeldEntries {
  readonly #maxBytes: number;
  readonly #size: number;
  readonly #buffers: EntryBuffer[] = [];
  readonly #spare: Buffer[] = [];
  #bytes = 0;
  #unguarded = 0;
  #mostBytes: number;

  /** `maxBytes` bounds the entries together, without their ids. Tests pass the size of a buffer. */
  constructor(maxBytes: number, size = bufferBytes) {
    this.#maxBytes = maxBytes;
    this.#mostBytes = maxBytes;
    this.#size = size;
  }

  /** How many entries were forgotten because of the bound. */
  get unguarded(): number {
    return this.#unguarded;
  }

  get oldestId(): string | null {
    const oldest = this.#oldest();
    return oldest === null ? null : idOf(oldest);
  }

  get ids(): string[] {
    return [...this.#all()].map(idOf);
  }

  /** Adds the newest entry. Above the bound, the oldest entries are forgotten and counted. */
  add(id: string, entry: Buffer): void {
    const { length } = entry;
    const needed = idAt + id.length + length;
    const buffer = this.#bufferFor(needed);
    const at = buffer.to;
    buffer.bytes.writeUInt32BE(length, at);
    buffer.bytes.writeUInt8(id.length, at + idLengthAt);
    buffer.bytes.writeUInt8(0, at + forgottenAt);
    buffer.bytes.write(id, at + idAt, 'latin1');
    entry.copy(buffer.bytes, at + idAt + id.length);
    buffer.to += needed;
    this.#bytes += length;
    this.#keepBound();
  }

  /** While all entries are wanted, the bound is doubled. */
  wantAll(all: boolean): void {
    this.#mostBytes = all ? 2 * this.#maxBytes : this.#maxBytes;
    this.#keepBound();
  }

  /** Forgets the oldest entries, up to the first that was not read. `onRead` has their bytes until it returns. */
  forgetWhile(isRead: (id: string) => boolean, onRead?: (entry: Buffer) => void): void {
    for (let first = this.#oldest(); first !== null && isRead(idOf(first)); first = this.#oldest()) {
      onRead?.(first.buffer.bytes.subarray(first.entryAt, first.end));
      this.#forget(first);
    }
  }

  /** Returns those of the entries that are held, oldest first. */
  find(ids: ReadonlySet<string>): [id: string, entry: Buffer][] {
    return this.#these(ids).map((held) => [idOf(held), entryOf(held)]);
  }

  forget(ids: ReadonlySet<string>): void {
    for (const held of this.#these(ids)) this.#forget(held);
    this.#oldest();
  }

  #these(ids: ReadonlySet<string>): HeldEntry[] {
    const found: HeldEntry[] = [];
    for (const held of this.#all()) {
      if (found.length === ids.size) break;
      if (ids.has(idOf(held))) found.push(held);
    }
    return found;
  }

  #keepBound(): void {
    for (let first = this.#oldest(); first !== null && this.#bytes > this.#mostBytes; first = this.#oldest()) {
      this.#forget(first);
      this.#unguarded += 1;
    }
  }

  #bufferFor(needed: number): EntryBuffer {
    const last = this.#buffers.at(-1);
    if (last !== undefined && last.bytes.length - last.to >= needed) return last;
    const spare = needed > this.#size ? undefined : this.#spare.pop();
    const buffer = { bytes: spare ?? Buffer.allocUnsafeSlow(Math.max(needed, this.#size)), from: 0, to: 0 };
    this.#buffers.push(buffer);
    return buffer;
  }

  #forget({ at, end, buffer, entryAt }: HeldEntry): void {
    buffer.bytes[at + forgottenAt] = 1;
    this.#bytes -= end - entryAt;
  }

  /** Returns the oldest entry that was not forgotten, and frees the space before it. */
  #oldest(): HeldEntry | null {
    for (let buffer = this.#buffers[0]; buffer !== undefined; buffer = this.#buffers[0]) {
      while (buffer.from < buffer.to) {
        const held = heldAt(buffer, buffer.from);
        if (!isForgotten(held)) return held;
        buffer.from = held.end;
      }
      this.#buffers.shift();
      if (buffer.bytes.length === this.#size && this.#spare.length < mostSpare) this.#spare.push(buffer.bytes);
    }
    return null;
  }

  *#all(): Generator<HeldEntry> {
    for (const buffer of this.#buffers)
      for (let at = buffer.from; at < buffer.to; ) {
        const held = heldAt(buffer, at);
        if (!isForgotten(held)) yield held;
        at = held.end;
      }
  }
}
