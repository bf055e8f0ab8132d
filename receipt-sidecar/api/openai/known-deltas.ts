/**
 * Knows a delta of text again that differs from one before it in nothing but its text and its number, as nearly all of a stream do, by its
 * bytes alone: decoding and parsing each of them costs several times as much.
 *
 * Invariant: an event that is known has passed all that is asked of any other, since everything about it but plain letters inside of
 * strings, and the digits of its number, is the same, byte for byte, as in one that has.
 */
import type { KnownDelta } from '../port/shape.ts';
import type { Chunk } from './chunk.ts';
import { claimsIn } from './usage-claims.ts';

/** An event in pieces that do not change, and between them strings and numbers that do; and where the text of the last such event was. */
interface Shape extends KnownDelta {
  readonly name: string | null;
  readonly pieces: readonly Buffer[];
  /** Whether what stands behind a piece is a number; else it is the inside of a string. */
  readonly isNumber: readonly boolean[];
  /** Behind which piece the text stands. */
  readonly textAt: number;
  from: number;
  end: number;
}

const prefix = 'data: ';
const suffix = '\n\n';
/** OpenAI pads its deltas with letters by chance. */
const padding = 'obfuscation';
/** Who changes the shape of each delta is not learned from for ever. */
const mostLessons = 8;

export class KnownDeltas {
  readonly #slotsIn: (data: string, event: Chunk) => readonly Slot[];
  readonly #takeText: (letters: number) => void;
  #shape: Shape | null = null;
  #lessons = 0;

  /** `slotsIn` finds what differs between the deltas of an API, first the text; none for any other event. */
  constructor(slotsIn: (data: string, event: Chunk) => readonly Slot[], takeText: (letters: number) => void) {
    this.#slotsIn = slotsIn;
    this.#takeText = takeText;
  }

  /** Learns from an event that has passed unchanged: `bytes` is the event, `data` its text and `event` the value of that. */
  learn(bytes: Buffer, data: string, event: Chunk, name: string | null = null): void {
    // Letters outside of ASCII and escapes are left to those who decode.
    if (this.#lessons >= mostLessons || bytes.length !== prefix.length + data.length + suffix.length) return;
    if (data.includes('\\')) return;
    const shape = shapeOf(bytes, event, this.#slotsIn(data, event), name);
    if (shape === null) return;
    this.#lessons += 1;
    this.#shape = shape;
  }

  /** Returns an event that is such a delta, whose text is then taken; else null. Not for one behind the end of a choice. */
  known(bytes: Buffer, name: string | null = null): KnownDelta | null {
    if (this.#shape === null || this.#shape.name !== name || !isLike(this.#shape, bytes)) return null;
    this.#takeText(this.#shape.end - this.#shape.from);
    return this.#shape;
  }
}

/** Whether an event has this shape, and a text. */
function isLike(shape: Shape, bytes: Buffer): boolean {
  const { isNumber, pieces, textAt } = shape;
  let at = 0;
  for (let index = 0; index < pieces.length; index += 1) {
    const piece = pieces[index] as Buffer;
    const from = at;
    if (index > 0) at = isNumber[index - 1] ? endOfNumber(bytes, at) : endOfPlain(bytes, at);
    if (index === textAt + 1) {
      if (at === from) return false;
      shape.from = from;
      shape.end = at;
    }
    if (bytes.length < at + piece.length || piece.compare(bytes, at, at + piece.length) !== 0) return false;
    at += piece.length;
  }
  return at === bytes.length;
}

/** Printable ASCII that JSON does not escape. */
function endOfPlain(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x5c) return at;
  }
  return bytes.length;
}

/** As JSON writes a number of an event. Returns `from` for what is none, where the next piece cannot begin. */
function endOfNumber(bytes: Buffer, from: number): number {
  let at = from;
  while (at - from < mostDigits && isDigit(bytes[at])) at += 1;
  return bytes[from] === zero && at > from + 1 ? from : at;
}
const mostDigits = 15;
const zero = 0x30;
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= zero && byte <= 0x39;

/** Null if a slot was not found, or there are none. */
function shapeOf(bytes: Buffer, like: Chunk, slots: readonly Slot[], name: string | null): Shape | null {
  const [text] = slots;
  const ordered = slots.toSorted((one, other) => one.from - other.from);
  if (text === undefined || ordered.some(({ from }) => from === -1)) return null;
  const ends = [0, ...ordered.map(({ end }) => prefix.length + end)];
  const begins = [...ordered.map(({ from }) => prefix.length + from), bytes.length];
  const pieces = ends.map((end, index) => Buffer.from(bytes.subarray(end, begins[index])));
  const isNumber = ordered.map((slot) => slot.isNumber);
  return { like, name, pieces, isNumber, textAt: ordered.indexOf(text), from: 0, end: 0 };
}

/** Where the inside of a string, or a number, stands in the JSON of an event; -1 if it was not found. */
export interface Slot {
  readonly from: number;
  readonly end: number;
  readonly isNumber: boolean;
}

/** Where in JSON without escapes the value of this name is; not found if the name stands there twice, or with blanks. */
export function slotOf(data: string, name: string, value: string | number): Slot {
  const isNumber = typeof value === 'number';
  const mark = isNumber ? '' : '"';
  const at = data.indexOf(`"${name}"`);
  const from = at + name.length + 3 + mark.length;
  const isThere = at !== -1 && data.startsWith(`":${mark}${value}${mark}`, at + name.length + 1);
  if (!isThere || data.indexOf(`"${name}"`, from) !== -1) return { from: -1, end: -1, isNumber };
  return { from, end: from + String(value).length, isNumber };
}

/** Returns where a delta is padded. */
export const paddingIn = (data: string, event: Chunk): readonly Slot[] =>
  typeof event[padding] === 'string' ? [slotOf(data, padding, event[padding])] : [];

/** Returns what differs between chunks of one choice with text and no more; none for any other chunk. */
export function slotsOfChunk(data: string, chunk: Chunk): readonly Slot[] {
  const text = onlyText(chunk);
  return text === null ? [] : [slotOf(data, 'content', text), ...paddingIn(data, chunk)];
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** Returns the text of a chunk that has one choice, which goes on, and nothing else that counts. */
function onlyText(chunk: Chunk): string | null {
  const { choices } = chunk;
  if (!Array.isArray(choices) || choices.length !== 1 || claimsIn(chunk).length > 0) return null;
  const choice: unknown = choices[0];
  if (!isFields(choice) || choice.finish_reason || typeof choice.text === 'string' || !isFields(choice.delta))
    return null;
  const { content, role: _, ...others } = choice.delta;
  if (typeof content !== 'string' || content === '') return null;
  return Object.values(others).every((value) => value === null || value === '') ? content : null;
}
