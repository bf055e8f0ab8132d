/**
 * The digest that binds a receipt to its answer: `sha256:` and SHA-256 over the salt, a line feed, and the object of all places of the content
 * with the SHA-256 of the text there, as JSON by RFC 8785. Without the salt, which the reply alone has, it says nothing of the answer.
 *
 * Invariant: memory is bounded, however long an answer is: of each text only its running SHA-256 is kept.
 */

import type { ApiName } from '@gw/contract/api-names';
import { defined } from '@gw/contract/internal/defined';
import { Sha256 } from '#sha256';
import type { Node } from '../receipt-node.ts';
import { type Content, contentReaders } from './content.ts';

/** An answer with more texts than that is bound to nothing. */
const mostPlaces = 4096;
/** Small pieces are hashed together. */
const deskBytes = 4096;
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
    this.#read(like, { add, restate: add }, '');
    this.#placeOfLike = defined(places[0], 'The text of a known delta');
    this.#like = like;
  }

  add(place: string, text: string | Uint8Array): void {
    if (this.#texts.size > mostPlaces) this.#isLost = true;
    if (this.#isLost) return;
    if (typeof text === 'string' && 3 * text.length <= deskBytes) {
      if (place !== this.#at || this.#used + 3 * text.length > deskBytes) this.#clear(place);
      this.#used = written(text, this.#desk, this.#used);
      return;
    }
    this.#flush();
    this.#textAt(place).update(text);
  }

  restate(place: string, text: string, by: string): void {
    this.#flush();
    const told = this.#texts.get(place);
    if (told === undefined) this.add(place, text);
    else if (told.hexSoFar() !== new Sha256().update(text).hex()) this.add(`${place} ${by}`, text);
  }

  /** Returns the digest of what was taken in; null if that had too many texts. Nothing can be added afterwards. */
  digest(salt: string): string | null {
    this.#flush();
    if (this.#isLost) return null;
    const places = [...this.#texts].sort(([one], [other]) => (one < other ? -1 : 1));
    const texts = places.map(([place, text]) => `${JSON.stringify(place)}:"${text.hex()}"`);
    return saltedDigest(salt, `{${texts.join(',')}}`);
  }

  /** Clears the desk for the text at this place. */
  #clear(place: string): void {
    this.#flush();
    if (this.#desk.length === 0) this.#desk = new Uint8Array(deskBytes);
    this.#at = place;
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
    this.#texts.set(place, begun);
    return begun;
  }
}

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
