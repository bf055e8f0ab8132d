/**
 * The digest that binds a receipt to its answer: `sha256:` and SHA-256 over the salt, a line feed, and the object of all places of the content
 * with the SHA-256 of the text there, as JSON by RFC 8785. Without the salt, which the reply alone has, it says nothing of the answer.
 *
 * Invariant: memory is bounded, however long an answer is: of each text only its running SHA-256 is kept, and of one that is JSON in pieces
 * 1 MiB.
 */

import type { ApiName } from '@gw/contract/api-names';
import { defined } from '@gw/contract/internal/defined';
import { Sha256 } from '#sha256';
import type { Node } from '../receipt-node.ts';
import { type Content, contentReaders, takeJson } from './content.ts';

/** An answer with more texts than that is bound to nothing. */
const mostPlaces = 4096;
/** Small pieces are hashed together. */
const deskBytes = 4096;
/** JSON in pieces that is longer, in UTF-16 units, counts as its text. */
const longestJson = 2 ** 20;
const encoder = new TextEncoder();

/** One answer, whole or event by event. */
export class AnswerDigest implements Content {
  readonly #read: (typeof contentReaders)[ApiName];
  readonly #texts = new Map<string, Sha256>();
  #isLost = false;
  /** The next bytes of the text at `#at`. */
  #desk = new Uint8Array(0);
  #used = 0;
  #at = '';
  #like: object | null = null;
  #placeOfLike = '';
  /** The first half of a surrogate pair at the end of a text whose next piece has the other. */
  readonly #halves = new Map<string, string>();
  /** The JSON that comes in pieces. Blocks come one after the other. */
  #json = '';
  #placeOfJson = '';
  #isLongJson = false;

  constructor(api: ApiName) {
    this.#read = contentReaders[api];
  }

  /** Takes in a whole reply, or the next event as the client gets it; `name`: of that event. */
  take(said: Node, name: string | null = null): void {
    try {
      this.#read(said, this, String(name));
    } catch {
      // It holds what has no canonical form.
      this.#isLost = true;
    }
  }

  /** Takes in an event that differs from an earlier one in its text alone, which is ASCII without escapes. */
  takeLetters(like: Node, bytes: Uint8Array, from: number, end: number): void {
    if (like !== this.#like) this.#learn(like);
    const place = this.#placeOfLike;
    if (end - from > deskBytes) return this.add(place, bytes.subarray(from, end));
    if (place !== this.#at || this.#used + end - from > deskBytes) this.#clear(place);
    const desk = this.#desk;
    let used = this.#used;
    // So few bytes are copied faster one by one.
    for (let at = from; at < end; at += 1) desk[used++] = bytes[at] as number;
    this.#used = used;
  }

  #learn(like: Node): void {
    const places: string[] = [];
    const add = (place: string) => void places.push(place);
    this.#read(like, { add, restate: add, addJson: add, endJson: () => {} }, '');
    this.#placeOfLike = defined(places[0], 'The text of a known delta');
    this.#like = like;
  }

  add(place: string, text: string | Uint8Array): void {
    if (this.#isLost) return;
    const half = typeof text === 'string' ? this.#halves.get(place) : undefined;
    const said = half === undefined ? text : half + text;
    if (half !== undefined) this.#halves.delete(place);
    if (typeof said !== 'string' || !endsInHalf(said)) return this.#write(place, said);
    this.#write(place, said.slice(0, -1));
    // The next piece for this place goes through `#clear`.
    this.#clear('');
    this.#textAt(place);
    this.#halves.set(place, said.slice(-1));
  }

  restate(place: string, text: string, by: string): void {
    this.#clear(place);
    const told = this.#texts.get(place);
    if (told === undefined) this.add(place, text);
    else if (told.hexSoFar() !== new Sha256().update(text).hex()) this.add(`${place} ${by}`, text);
  }

  addJson(place: string, piece: string): void {
    if (place !== this.#placeOfJson) this.endJson();
    this.#placeOfJson = place;
    if (this.#isLongJson) return this.add(place, piece);
    this.#json += piece;
    if (this.#json.length <= longestJson) return;
    this.#isLongJson = true;
    this.add(place, this.#json);
    this.#json = '';
  }

  endJson(): void {
    const text = this.#json;
    const place = this.#placeOfJson;
    this.#json = '';
    this.#placeOfJson = '';
    this.#isLongJson = false;
    try {
      if (text !== '') takeJson(text, place, (at, said) => this.add(at, said));
    } catch {
      this.#isLost = true;
    }
  }

  /** Returns the digest of what was taken in; null if that had too many texts. Nothing can be added afterwards. */
  digest(salt: string): string | null {
    this.endJson();
    this.#flush();
    for (const [place, half] of this.#halves) this.#textAt(place).update(half);
    if (this.#isLost) return null;
    const places = [...this.#texts].sort(([one], [other]) => (one < other ? -1 : 1));
    const texts = places.map(([place, text]) => `${JSON.stringify(place)}:"${text.hex()}"`);
    return saltedDigest(salt, `{${texts.join(',')}}`);
  }

  #write(place: string, text: string | Uint8Array): void {
    const isSmall = typeof text === 'string' && 3 * text.length <= deskBytes;
    if (place !== this.#at || !isSmall || this.#used + 3 * text.length > deskBytes) this.#clear(place);
    if (isSmall) this.#used = written(text, this.#desk, this.#used);
    else this.#textAt(place).update(text);
  }

  /** Clears the desk for the text at this place, which goes on with no second half. */
  #clear(place: string): void {
    this.#flush();
    if (this.#desk.length === 0) this.#desk = new Uint8Array(deskBytes);
    this.#at = place;
    const half = this.#halves.get(place);
    if (half === undefined) return;
    this.#halves.delete(place);
    this.#textAt(place).update(half);
  }

  #flush(): void {
    if (this.#used === 0) return;
    this.#textAt(this.#at).update(this.#desk.subarray(0, this.#used));
    this.#used = 0;
  }

  #textAt(place: string): Sha256 {
    const known = this.#texts.get(place);
    if (known) return known;
    const begun = new Sha256();
    if (this.#texts.size >= mostPlaces) this.#isLost = true;
    else this.#texts.set(place, begun);
    return begun;
  }
}

const endsInHalf = (text: string): boolean => (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800;

/** Writes a text as UTF-8, and returns where it ends. */
function written(text: string, to: Uint8Array, from: number): number {
  let used = from;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    // The encoder does the rest: calling it costs more than most texts do.
    if (unit > 0x7f) return used + encoder.encodeInto(text.slice(at), to.subarray(used)).written;
    to[used++] = unit;
  }
  return used;
}

/** The digest of a request is over the bytes of its body. */
export const saltedDigest = (salt: string, of: string | Uint8Array): string =>
  `sha256:${new Sha256().update(`${salt}\n`).update(of).hex()}`;
