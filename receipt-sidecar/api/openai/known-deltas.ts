/**
 * Knows a delta of text again that differs from one before it in nothing but its text, as nearly all of a stream do, by its
 * bytes alone: decoding and parsing each of them costs several times as much.
 *
 * Invariant: an event that is known has passed all that is asked of any other, since everything about it but plain letters inside of
 * one string is the same, byte for byte, as in one that has.
 */
import type { ChoiceEnds } from './choice-ends.ts';
import type { Chunk } from './chunk.ts';
import type { ReplyCounts } from './reply-counts.ts';
import { claimsIn } from './usage-claims.ts';

/** An event in pieces that do not change, and between them strings that do. */
interface Shape {
  readonly pieces: readonly Buffer[];
  /** Behind which piece the text stands. */
  readonly textAt: number;
}

const prefix = 'data: ';
const suffix = '\n\n';
/** OpenAI pads its deltas with letters by chance. */
const padding = 'obfuscation';
/** Who changes the shape of each delta is not learned from for ever. */
const mostLessons = 8;

export class KnownDeltas {
  readonly #said: Pick<ReplyCounts, 'takeText'>;
  readonly #ends: Pick<ChoiceEnds, 'takeText'>;
  #shape: Shape | null = null;
  #lessons = 0;

  /** Takers of the text. */
  constructor(said: Pick<ReplyCounts, 'takeText'>, ends: Pick<ChoiceEnds, 'takeText'>) {
    this.#said = said;
    this.#ends = ends;
  }

  /** Learns from a chunk that has passed unchanged: `bytes` is the event, `data` its text and `chunk` the value of that. */
  learn(bytes: Buffer, data: string, chunk: Chunk): void {
    // Letters outside of ASCII and escapes are left to those who decode.
    if (this.#lessons >= mostLessons || bytes.length !== prefix.length + data.length + suffix.length) return;
    if (data.includes('\\')) return;
    const shape = shapeOf(bytes, data, chunk);
    if (shape === null) return;
    this.#lessons += 1;
    this.#shape = shape;
  }

  /** Whether an event is such a delta; then its text is taken. Not for one behind the end of a choice. */
  isKnown(bytes: Buffer): boolean {
    const letters = this.#lettersOf(bytes);
    if (letters === 0) return false;
    this.#said.takeText(letters);
    this.#ends.takeText();
    return true;
  }

  /** 0 if its shape is another one, or it has none. */
  #lettersOf(bytes: Buffer): number {
    if (this.#shape === null) return 0;
    const { pieces, textAt } = this.#shape;
    let at = 0;
    let text = 0;
    for (let index = 0; index < pieces.length; index += 1) {
      const piece = pieces[index] as Buffer;
      const from = at;
      if (index > 0) at = endOfPlain(bytes, at);
      if (index === textAt + 1) text = at - from;
      if (bytes.length < at + piece.length || piece.compare(bytes, at, at + piece.length) !== 0) return 0;
      at += piece.length;
    }
    return at === bytes.length ? text : 0;
  }
}

/** Printable ASCII that JSON does not escape. */
function endOfPlain(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x5c) return at;
  }
  return bytes.length;
}

/** Null for what is not one delta of text and no more. */
function shapeOf(bytes: Buffer, data: string, chunk: Chunk): Shape | null {
  const text = onlyText(chunk);
  if (text === null) return null;
  const slots = [slotOf(data, 'content', text)];
  const padded = chunk[padding];
  if (typeof padded === 'string') slots.push(slotOf(data, padding, padded));
  const ordered = slots.toSorted(([one], [other]) => one - other);
  if (ordered.some(([from]) => from === -1)) return null;
  const ends = [0, ...ordered.map(([, end]) => prefix.length + end)];
  const begins = [...ordered.map(([from]) => prefix.length + from), bytes.length];
  const pieces = ends.map((end, index) => Buffer.from(bytes.subarray(end, begins[index])));
  return { pieces, textAt: ordered.indexOf(slots[0] as Slot) };
}

type Slot = readonly [from: number, end: number];

/** Where in JSON without escapes the string is that is the value of this name; -1 if the name stands there twice, or with blanks. */
function slotOf(data: string, name: string, value: string): Slot {
  const at = data.indexOf(`"${name}"`);
  const from = at + name.length + 4;
  const isThere = at !== -1 && data.startsWith(`":"${value}"`, at + name.length + 1);
  return isThere && data.indexOf(`"${name}"`, from) === -1 ? [from, from + value.length] : [-1, -1];
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
