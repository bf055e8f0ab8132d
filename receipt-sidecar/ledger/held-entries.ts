/**
 * Entries in memory by the ids that their stream gave them, from the oldest on, as bytes in a few large pieces that are used again.
 *
 * As texts they would outlive the short collections of garbage, be copied by two of them, and then fill the old part of the heap until
 * that is marked: under load 90 MB, and a part of each collection.
 */

interface Piece {
  readonly bytes: Buffer;
  /** What lies here, and is not free again, is between these two. */
  from: number;
  to: number;
}

/** In a piece: the bytes of the entry (4), those of the id (1), whether it was forgotten (1), the id, the entry as UTF-8. */
const idLengthAt = 4;
const forgottenAt = 5;
const idAt = 6;

interface Held {
  readonly piece: Piece;
  readonly at: number;
  readonly textAt: number;
  readonly end: number;
}

function heldAt(piece: Piece, at: number): Held {
  const textAt = at + idAt + piece.bytes.readUInt8(at + idLengthAt);
  return { piece, at, textAt, end: textAt + piece.bytes.readUInt32BE(at) };
}
const idOf = ({ at, piece, textAt }: Held): string => piece.bytes.toString('latin1', at + idAt, textAt);
const entryOf = ({ end, piece, textAt }: Held): string => piece.bytes.toString('utf8', textAt, end);
const isForgotten = ({ at, piece }: Held): boolean => piece.bytes[at + forgottenAt] === 1;

const pieceBytes = 1024 * 1024;
/** Pieces without entries that are kept: what comes within a second or two under load. */
const mostSpare = 8;

export class HeldEntries {
  readonly #maxBytes: number;
  readonly #size: number;
  readonly #pieces: Piece[] = [];
  readonly #spare: Buffer[] = [];
  #bytes = 0;
  #unguarded = 0;
  #mostBytes: number;

  /** `maxBytes` bounds the entries together, without their ids. Tests pass the size of a piece. */
  constructor(maxBytes: number, size = pieceBytes) {
    this.#maxBytes = maxBytes;
    this.#mostBytes = maxBytes;
    this.#size = size;
  }

  /** How many were forgotten above the bound. */
  get unguarded(): number {
    return this.#unguarded;
  }

  get ids(): string[] {
    return [...this.#all()].map(idOf);
  }

  /** Adds an entry as the newest one. Above the bound the oldest are forgotten, and counted. */
  add(id: string, entry: string): void {
    const length = Buffer.byteLength(entry);
    const needed = idAt + id.length + length;
    const piece = this.#pieceFor(needed);
    const at = piece.to;
    piece.bytes.writeUInt32BE(length, at);
    piece.bytes.writeUInt8(id.length, at + idLengthAt);
    piece.bytes.writeUInt8(0, at + forgottenAt);
    piece.bytes.write(id, at + idAt, 'latin1');
    piece.bytes.write(entry, at + idAt + id.length);
    piece.to += needed;
    this.#bytes += length;
    this.#keepBound();
  }

  /** While all are wanted, twice as much is kept. */
  wantAll(all: boolean): void {
    this.#mostBytes = all ? 2 * this.#maxBytes : this.#maxBytes;
    this.#keepBound();
  }

  /** Forgets entries from the oldest on, up to the first that was not read. */
  forgetWhile(isRead: (id: string) => boolean): void {
    for (let first = this.#oldest(); first !== null && isRead(idOf(first)); first = this.#oldest()) this.#forget(first);
  }

  /** Those of the entries that are held, from the oldest on. */
  find(ids: ReadonlySet<string>): [id: string, entry: string][] {
    return this.#these(ids).map((held) => [idOf(held), entryOf(held)]);
  }

  forget(ids: ReadonlySet<string>): void {
    for (const held of this.#these(ids)) this.#forget(held);
    this.#oldest();
  }

  #these(ids: ReadonlySet<string>): Held[] {
    const found: Held[] = [];
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

  #pieceFor(needed: number): Piece {
    const last = this.#pieces.at(-1);
    if (last !== undefined && last.bytes.length - last.to >= needed) return last;
    const spare = needed > this.#size ? undefined : this.#spare.pop();
    const piece = { bytes: spare ?? Buffer.allocUnsafeSlow(Math.max(needed, this.#size)), from: 0, to: 0 };
    this.#pieces.push(piece);
    return piece;
  }

  #forget({ at, end, piece, textAt }: Held): void {
    piece.bytes[at + forgottenAt] = 1;
    this.#bytes -= end - textAt;
  }

  /** Returns the oldest that was not forgotten; the room before it is free again. */
  #oldest(): Held | null {
    for (let piece = this.#pieces[0]; piece !== undefined; piece = this.#pieces[0]) {
      while (piece.from < piece.to) {
        const held = heldAt(piece, piece.from);
        if (!isForgotten(held)) return held;
        piece.from = held.end;
      }
      this.#pieces.shift();
      if (piece.bytes.length === this.#size && this.#spare.length < mostSpare) this.#spare.push(piece.bytes);
    }
    return null;
  }

  *#all(): Generator<Held> {
    for (const piece of this.#pieces)
      for (let at = piece.from; at < piece.to; ) {
        const held = heldAt(piece, at);
        if (!isForgotten(held)) yield held;
        at = held.end;
      }
  }
}
