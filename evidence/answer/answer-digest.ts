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
  readonly #api: ApiName;
  readonly #texts = new Map<string, Sha256>();
  #isLost = false;
  /** The next bytes of the text at `#at`. */
  #desk: Uint8Array | null = null;
  #used = 0;
  #at = '';
  #like: object | null = null;
  #placeOfLike = '';

  constructor(api: ApiName) {
    this.#api = api;
  }

  /** Takes in a whole reply, or the next event as the client gets it; `name`: of that event. */
  take(said: Node, name: string | null = null): void {
    try {
      contentReaders[this.#api](said, this, String(name));
    } catch {
      // It holds what has no canonical form.
      this.#isLost = true;
    }
  }

  /** Takes in an event that differs from an earlier one in its text alone, which is ASCII without escapes. */
  takeLetters(like: Node, bytes: Uint8Array, from: number, end: number): void {
    if (like !== this.#like) this.#learn(like);
    if (end - from > deskBytes) return this.add(this.#placeOfLike, bytes.subarray(from, end));
    const desk = this.#deskAt(this.#placeOfLike, end - from);
    let used = this.#used;
    // So few bytes are copied faster one by one.
    for (let at = from; at < end; at += 1) desk[used++] = bytes[at] as number;
    this.#used = used;
  }

  #learn(like: Node): void {
    const places: string[] = [];
    const add = (place: string) => void places.push(place);
    contentReaders[this.#api](like, { add, restate: add }, '');
    this.#placeOfLike = defined(places[0], 'The text of a known delta');
    this.#like = like;
  }

  add(place: string, text: string | Uint8Array): void {
    if (this.#texts.size > mostPlaces) this.#isLost = true;
    if (this.#isLost) return;
    if (typeof text === 'string' && 3 * text.length <= deskBytes) {
      const desk = this.#deskAt(place, 3 * text.length);
      this.#used += encoder.encodeInto(text, desk.subarray(this.#used)).written;
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

  /** Returns the desk with room for so many bytes of the text at this place. */
  #deskAt(place: string, bytes: number): Uint8Array {
    this.#desk ??= new Uint8Array(deskBytes);
    if (place !== this.#at || this.#used + bytes > deskBytes) this.#flush();
    this.#at = place;
    return this.#desk;
  }

  #flush(): void {
    if (this.#desk === null || this.#used === 0) return;
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

/** The digest of a request is over the bytes of its body. */
export const saltedDigest = (salt: string, of: string | Uint8Array): string =>
  `sha256:${new Sha256().update(`${salt}\n`).update(of).hex()}`;
