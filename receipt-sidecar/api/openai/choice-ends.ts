/**
 * Whether the choices of a stream have come to their end, and whether a provider that says so can be believed: some name a
 * reason on every chunk, count as they go, or write more choices than were asked for.
 *
 * Invariants: what a provider says costs bounded memory. A sign of an end behind which text came is not believed again.
 */

/** A reply ends with a reason on each choice, followed by a usage on a chunk of its own. */
type Sign = 'reason' | 'usage';

export class ChoiceEnds {
  readonly #expected: number;
  /** Index → why it has finished. */
  readonly #finished = new Map<number, string>();
  /** The choices that have said something; no more than were asked for. */
  readonly #begun = new Set<number>();
  /** The last sign. */
  #sign: Sign = 'reason';
  /** Signs that were followed by more text. */
  readonly #refuted = new Set<Sign>();
  #hasText = false;
  /** Whether a reason came together with text, or before any: so it comes on every chunk of some providers. */
  #isMixed = false;

  /** `expected` is how many choices the request asked for. */
  constructor(expected: number) {
    this.#expected = expected;
  }

  /** Whether each choice has finished, as far as the provider says. */
  get isAtEnd(): boolean {
    return this.#finished.size >= this.#expected;
  }

  /** Whether each choice that has said something has finished, and at least one has. */
  get areAll(): boolean {
    return this.isAtEnd || (this.hasBegun && [...this.#begun].every((index) => this.#finished.has(index)));
  }

  /** Whether any choice has finished. */
  get hasBegun(): boolean {
    return this.#finished.size > 0;
  }

  /** Whether text came before behind what now looks like the end. */
  get isRefuted(): boolean {
    return this.#refuted.has(this.#sign);
  }

  /** Whether this is the end, as far as can be told before the stream itself ends. */
  get isCredible(): boolean {
    return this.isAtEnd && !this.isRefuted && (this.#sign === 'usage' || !this.#isMixed);
  }

  /** Takes the choices of a chunk in. Returns whether they hold text. */
  take(choices: readonly unknown[]): boolean {
    const hadText = this.#hasText;
    let saysText = false;
    for (const choice of choices) {
      if (hasText(choice)) {
        saysText = true;
        if (this.#begun.size < this.#expected) this.#begun.add(indexOf(choice));
        if (this.isAtEnd) this.#refuted.add(this.#sign);
        this.#sign = 'reason';
      }
      const reason = finishReasonOf(choice);
      if (reason === null) continue;
      if (saysText || !hadText) this.#isMixed = true;
      const index = indexOf(choice);
      if (!this.isAtEnd || this.#finished.has(index)) this.#finished.set(index, reason);
    }
    this.#hasText ||= saysText;
    return saysText;
  }

  /** The same for a choice that holds text and goes on, before any has finished. */
  takeText(): void {
    this.#sign = 'reason';
    this.#hasText = true;
  }

  /** Takes in that a usage came on a chunk of its own. */
  takeUsage(): void {
    if (this.isAtEnd) this.#sign = 'usage';
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

/** Never converts: an object can throw when it is made a number. */
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
