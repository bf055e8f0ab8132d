/**
 * When the choices of a stream have come to their end.
 *
 * Invariant: what a provider says costs bounded memory, and text behind an end means that it was none: some providers name a
 * reason on every chunk, or write more choices than were asked for.
 */

/** Choices behind the end that are told apart; more are none that a client has asked for. */
const mostReopened = 1024;

export class ChoiceEnds {
  readonly #expected: number;
  /** Index → why it has finished. */
  readonly #finished = new Map<number, string>();
  /** Those that were written on behind the end. */
  readonly #reopened = new Set<number>();

  /** `expected` is how many choices the request asked for. */
  constructor(expected: number) {
    this.#expected = expected;
  }

  /** Whether each choice has finished, as far as the provider says. */
  get isAtEnd(): boolean {
    return this.#finished.size >= this.#expected;
  }

  /** Whether text came behind that, which has no end yet. */
  get goOn(): boolean {
    return this.#reopened.size > 0;
  }

  /** Whether any choice has finished. */
  get hasBegun(): boolean {
    return this.#finished.size > 0;
  }

  /** Takes the choices of a chunk in. Returns whether they hold text behind the end. */
  take(choices: readonly unknown[]): boolean {
    let hasMore = false;
    for (const choice of choices) {
      const index = indexOf(choice);
      if (this.isAtEnd && hasText(choice)) {
        hasMore = true;
        if (this.#reopened.size < mostReopened) this.#reopened.add(index);
      }
      const reason = finishReasonOf(choice);
      if (reason === null) continue;
      this.#reopened.delete(index);
      if (this.#finished.size < this.#expected || this.#finished.has(index)) this.#finished.set(index, reason);
    }
    return hasMore;
  }

  /** Whether the choices hold nothing that was not said before, as those of some usage chunks. */
  sayNothing(choices: readonly unknown[]): boolean {
    return choices.every(
      (choice) =>
        isNothing(choice) ||
        (isFields(choice) && everyField(choice, (key, value) => this.#isKnown(choice, key, value))),
    );
  }

  #isKnown(choice: Fields, key: string, value: unknown): boolean {
    if (key === 'index' || key === 'native_finish_reason') return true;
    if (key === 'delta') return isBlank(value);
    if (key === 'finish_reason' && value === this.#finished.get(indexOf(choice))) return true;
    return isNothing(value);
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Whether a value has fields with names; the letters of a text are none, and there can be millions. */
const isFields = (value: unknown): value is Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** Goes on only while it holds, and copies nothing: how many parts there can be is bounded where a chunk is read. */
function everyField(fields: Fields, holds: (key: string, value: unknown) => boolean): boolean {
  for (const key in fields) if (!holds(key, fields[key])) return false;
  return true;
}

/** Whether a value says nothing: null, or an empty text, list or object. */
const isNothing = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (Array.isArray(value) ? value.length === 0 : isFields(value) && everyField(value, () => false));

/** Whether a delta holds at most who speaks. */
const isBlank = (delta: unknown): boolean =>
  isNothing(delta) || (isFields(delta) && everyField(delta, (key, value) => key === 'role' || isNothing(value)));

/** Of what is not a number nothing is asked: an object can refuse to become one. */
function indexOf(choice: unknown): number {
  const index = (choice as { index?: unknown } | null)?.index;
  return typeof index === 'number' ? index : 0;
}

/** The longest reason that is kept, in letters; providers' are a word or two. */
const longestReason = 64;

/** Returns null if there is none, and an empty text for one that is too long to keep. */
function finishReasonOf(choice: unknown): string | null {
  const reason = (choice as { finish_reason?: unknown } | null)?.finish_reason;
  if (typeof reason !== 'string' || reason === '') return null;
  return reason.length <= longestReason ? reason : '';
}

function hasText(choice: unknown): boolean {
  if (!isFields(choice)) return false;
  return !isBlank(choice.delta) || (typeof choice.text === 'string' && choice.text !== '');
}
