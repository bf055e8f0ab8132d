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
    return choices.every((choice) =>
      Object.entries(choice ?? {}).every(([key, value]) => {
        if (key === 'index') return true;
        if (key === 'delta') return isBlank(value);
        if (!reasons.has(key)) return value === null || value === '';
        return value === null || value === this.#finished.get(indexOf(choice)) || key === 'native_finish_reason';
      }),
    );
  }
}

/** The second is OpenRouter's, beside the first. */
const reasons = new Set(['finish_reason', 'native_finish_reason']);

/** Of what is not a number nothing is asked: an object can refuse to become one. */
function indexOf(choice: unknown): number {
  const index = (choice as { index?: unknown } | null)?.index;
  return typeof index === 'number' ? index : 0;
}

function finishReasonOf(choice: unknown): string | null {
  const reason = (choice as { finish_reason?: unknown } | null)?.finish_reason;
  return typeof reason === 'string' && reason !== '' ? reason : null;
}

/** Whether a delta holds at most who speaks. */
const isBlank = (delta: unknown): boolean =>
  Object.entries(delta ?? {}).every(([key, value]) => key === 'role' || value === null || value === '');

function hasText(choice: unknown): boolean {
  const { delta, text } = (choice ?? {}) as { delta?: unknown; text?: unknown };
  return !isBlank(delta) || (typeof text === 'string' && text !== '');
}
