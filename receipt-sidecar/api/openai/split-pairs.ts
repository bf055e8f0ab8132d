/**
 * Mends the text of chunks: a character of two UTF-16 units that a server has cut into halves, in two deltas of one text, goes out whole in the
 * second one, since few clients put halves together again. A half that nothing completes becomes U+FFFD, at the latest in the chunk that ends its
 * choice, and so does NUL.
 *
 * Invariants: nothing else of a chunk changes. No more than `mostHalves` are kept; a half beyond them becomes U+FFFD.
 */
import { elementsOf, type Member, membersOf, objectOf } from '@gw/contract/internal/json-members';
import { isEscaped, wellFormed } from '@gw/contract/internal/well-formed';
import { parseObject } from '../../wire/json-body.ts';
import type { Chunk } from './chunk.ts';

/** Names, and the `index` of what is in a list. */
type Path = readonly (string | number)[];

interface Half {
  readonly choice: number;
  readonly path: Path;
  /** The escape of the first half. */
  readonly first: string;
}

interface ChoiceAt {
  readonly choice: number;
  /** Whether this is the last chunk of the choice. */
  readonly isLast: boolean;
}

export const mostHalves = 64;
const longestKey = 200;
/** How deep a delta has text that is put together from several chunks: `tool_calls[0].function.arguments`. */
const deepest = 4;
export const halfEscape = /\\u[dD][89a-fA-F][0-9a-fA-F]{2}/;
const firstHalfAtEnd = /\\u[dD][89abAB][0-9a-fA-F]{2}$/;
const lengthOfEscape = 6;

/** Returns where the half begins that the inside of a literal ends with; null if there is none. */
export function cutAtEnd(text: string): number | null {
  const at = text.length - lengthOfEscape;
  return firstHalfAtEnd.test(text) && !isEscaped(text, at) ? at : null;
}

/** The members of a choice that go on from chunk to chunk. */
const growing = new Set(['delta', 'text']);

export class SplitPairs {
  /** The halves that wait, keyed by choice and path. */
  readonly #halves = new Map<string, Half>();

  /** Whether a half waits for the other one. */
  get isWaiting(): boolean {
    return this.#halves.size > 0;
  }

  /** Returns the chunk for the client. `data` is the JSON of `chunk`. */
  mended(data: string, chunk: Chunk): { readonly text: string; readonly value: Chunk } {
    if (!this.isWaiting && !data.includes('\\u')) return { text: data, value: chunk };
    const joined = this.isWaiting || halfEscape.test(data) ? this.#joined(data, chunk) : data;
    const text = wellFormed(joined);
    return text === data ? { text: data, value: chunk } : { text, value: parseObject(text) ?? chunk };
  }

  #joined(data: string, { choices }: Chunk): string {
    if (!Array.isArray(choices)) return data;
    let hasChanged = false;
    const changed = (json: string, to: string) => {
      hasChanged ||= json !== to;
      return to;
    };
    const choice = (json: string, at: number) => changed(json, this.#choice(json, choices[at]));
    const members = membersOf(data).map(([name, json]): Member => {
      const isList = name === 'choices' && json.startsWith('[');
      return [name, isList ? `[${elementsOf(json).map(choice).join(',')}]` : json];
    });
    return hasChanged ? objectOf(members) : data;
  }

  /** `value` is the value of `json`. */
  #choice(json: string, value: unknown): string {
    if (!json.startsWith('{')) return json;
    const { finish_reason: reason, index } = value as { readonly finish_reason?: unknown; readonly index?: unknown };
    const place = { choice: typeof index === 'number' ? index : 0, isLast: Boolean(reason) };
    let hasChanged = false;
    const members = membersOf(json).map(([name, inner]): Member => {
      const mended = growing.has(name) ? this.#mend(inner, [name], place) : inner;
      hasChanged ||= mended !== inner;
      return [name, mended];
    });
    const left = place.isLast ? this.#takeLeft(place.choice) : [];
    for (const { first, path } of left) addAt(members, path, first);
    return hasChanged || left.length > 0 ? objectOf(members) : json;
  }

  #mend(json: string, path: Path, place: ChoiceAt): string {
    if (json.startsWith('"')) return this.#text(json, path, place);
    if (path.length > deepest) return json;
    let hasChanged = false;
    const mend = (inner: string, step: string | number): string => {
      const mended = this.#mend(inner, [...path, step], place);
      hasChanged ||= mended !== inner;
      return mended;
    };
    if (json.startsWith('{')) {
      const members = membersOf(json).map(([name, inner]): Member => [name, mend(inner, name)]);
      return hasChanged ? objectOf(members) : json;
    }
    if (!json.startsWith('[')) return json;
    const elements = elementsOf(json).map((inner, at) => mend(inner, indexIn(inner) ?? at));
    return hasChanged ? `[${elements.join(',')}]` : json;
  }

  #text(literal: string, path: Path, { choice, isLast }: ChoiceAt): string {
    const key = JSON.stringify([choice, ...path]);
    const begun = this.#halves.get(key);
    this.#halves.delete(key);
    const inside = literal.slice(1, -1);
    const text = begun ? begun.first + inside : inside;
    const at = isLast ? null : cutAtEnd(text);
    if (at === null || this.#halves.size >= mostHalves || key.length > longestKey) return begun ? `"${text}"` : literal;
    this.#halves.set(key, { choice, path, first: text.slice(at) });
    return `"${text.slice(0, at)}"`;
  }

  #takeLeft(choice: number): Half[] {
    const left = [...this.#halves].filter(([, each]) => each.choice === choice);
    for (const [key] of left) this.#halves.delete(key);
    return left.map(([, each]) => each);
  }
}

/** Returns the `index` of an element; null if it states none. */
function indexIn(json: string): number | null {
  const index = json.startsWith('{') ? membersOf(json).find(([name]) => name === 'index')?.[1] : undefined;
  return index !== undefined && /^\d{1,6}$/.test(index) ? Number(index) : null;
}

/** Adds a text (without quotes) to an object where its members have nothing at this place. */
function addAt(members: Member[], [name, ...path]: Path, text: string): void {
  const at = members.findIndex(([each]) => each === name);
  const there = members[at]?.[1] ?? 'null';
  if (there === 'null') {
    const added: Member = [String(name), nested(path, text)];
    members.splice(at === -1 ? members.length : at, at === -1 ? 0 : 1, added);
  } else if (there.startsWith('{') && path.length > 0) {
    const inner = membersOf(there);
    addAt(inner, path, text);
    members[at] = [String(name), objectOf(inner)];
  }
}

function nested([step, ...path]: Path, text: string): string {
  if (step === undefined) return `"${text}"`;
  if (typeof step === 'string') return objectOf([[step, nested(path, text)]]);
  const [name, ...rest] = path;
  return `[${objectOf([
    ['index', String(step)],
    [String(name), nested(rest, text)],
  ])}]`;
}
