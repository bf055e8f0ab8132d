/**
 * Adds to chunks what clients read without looking, and some servers leave out: the list of choices, the index of a choice, and the index
 * by which clients join the pieces of a call of a tool.
 *
 * Invariants: nothing else of a chunk changes, and one that lacks nothing is not touched. The calls of `mostChoices` choices are
 * remembered.
 */
import { elementsOf, type Member, membersOf, objectOf } from '@gw/contract/internal/json-members';
import { parseObject } from '../../wire/json-body.ts';
import type { Chunk } from './chunk.ts';
import { field } from './usage-names.ts';

/** The call that a choice has named last. */
interface LastCall {
  readonly index: number;
  /** Empty if it has none. */
  readonly id: string;
}

/** The parts that a choice lacks: its own index, and the index of each of its calls; null: it lacks none. */
interface Lack {
  readonly index: number | null;
  readonly calls: readonly number[] | null;
}

const mostChoices = 128;
const longestId = 256;
const noCall: LastCall = { index: -1, id: '' };

export class MissingParts {
  readonly #lastCalls = new Map<number, LastCall>();

  /** Returns the chunk for the client. `data` is the JSON of `chunk`. */
  added(data: string, chunk: Chunk): { readonly text: string; readonly value: Chunk } {
    const { choices } = chunk;
    const added = Array.isArray(choices) ? this.#withIndexes(data, choices) : withoutChoices(data);
    return added === null ? { text: data, value: chunk } : { text: added, value: parseObject(added) ?? chunk };
  }

  #withIndexes(data: string, choices: readonly unknown[]): string | null {
    const lacks = new Map<number, Lack>();
    for (const [at, choice] of choices.entries()) {
      const lack = this.#lackOf(choice, at);
      if (lack !== null) lacks.set(at, lack);
    }
    if (lacks.size === 0) return null;
    return changed(data, 'choices', (json) => eachOf(json, (choice, at) => withLack(choice, lacks.get(at))));
  }

  #lackOf(choice: unknown, at: number): Lack | null {
    if (choice === null || typeof choice !== 'object') return null;
    const stated = field(choice, 'index');
    const calls = field(field(choice, 'delta'), 'tool_calls');
    const isStated = typeof stated === 'number';
    const numbers = Array.isArray(calls) ? this.#numbersOf(calls, isStated ? stated : at) : null;
    return isStated && numbers === null ? null : { index: isStated ? null : at, calls: numbers };
  }

  /** A call begins with another id, or with a name where there are no ids; other pieces go on with the last one. */
  #numbersOf(calls: readonly unknown[], choice: number): readonly number[] | null {
    let last = this.#lastCalls.get(choice) ?? noCall;
    let isLacking = false;
    const numbers = calls.map((call) => {
      const stated = field(call, 'index');
      const id = textOf(field(call, 'id')).slice(0, longestId);
      const begins = id === '' ? textOf(field(field(call, 'function'), 'name')) !== '' : id !== last.id;
      isLacking ||= typeof stated !== 'number';
      const next = begins || last.index < 0 ? last.index + 1 : last.index;
      last = { index: typeof stated === 'number' ? stated : next, id: id === '' && !begins ? last.id : id };
      return last.index;
    });
    if (this.#lastCalls.size < mostChoices || this.#lastCalls.has(choice)) this.#lastCalls.set(choice, last);
    return isLacking ? numbers : null;
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const withoutChoices = (data: string): string =>
  objectOf([...membersOf(data).filter(([name]) => name !== 'choices'), ['choices', '[]']]);

/** Changes the members of this name of an object. */
const changed = (json: string, name: string, change: (inner: string) => string): string =>
  objectOf(membersOf(json).map(([each, inner]): Member => [each, each === name ? change(inner) : inner]));

const eachOf = (json: string, change: (element: string, at: number) => string): string =>
  json.startsWith('[') ? `[${elementsOf(json).map(change).join()}]` : json;

function withLack(choice: string, lack: Lack | undefined): string {
  if (lack === undefined) return choice;
  const { calls, index } = lack;
  const indexed = index === null ? choice : withIndex(choice, index);
  if (calls === null) return indexed;
  return changed(indexed, 'delta', (delta) =>
    changed(delta, 'tool_calls', (list) => eachOf(list, (call, at) => withIndex(call, calls[at]))),
  );
}

const withIndex = (json: string, index: number | undefined): string =>
  json.startsWith('{') && index !== undefined
    ? objectOf([['index', String(index)], ...membersOf(json).filter(([name]) => name !== 'index')])
    : json;
