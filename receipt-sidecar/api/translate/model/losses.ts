/** Collects what of a call cannot be said in the words of another API. */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { NoCounterpart } from '../../port/translator.ts';

/** Names of fields can be as long as a request. */
const longestField = 200;

/** The names of fields that a trace repeats. */
const mostLeft = 32;

export class Losses {
  /** The first field without a counterpart. */
  refused: NoCounterpart | null = null;
  readonly #left = new Set<string>();

  get left(): readonly string[] {
    return [...this.#left];
  }

  refuse(field: string, why: string): void {
    this.refused ??= { field: field.slice(0, longestField), why };
  }

  /** Notes a field that no answer depends on, once for all elements of a list. */
  leave(field: string): void {
    if (this.#left.size < mostLeft) this.#left.add(field.slice(0, longestField).replaceAll(/\[\d+\]/g, '[]'));
  }

  /** Refuses the first field of an object that is neither known nor null. */
  only(value: object, known: ReadonlySet<string>, at: string): void {
    for (const name in value)
      if (!known.has(name) && (value as JsonObject)[name] != null)
        this.refuse(`${at}.${name}`, 'it has no counterpart there');
  }
}
