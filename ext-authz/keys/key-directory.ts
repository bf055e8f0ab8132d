/**
 * Which public ids exist, so that a flood of made-up keys asks nobody.
 *
 * Invariant: an id is refused without a look-up only if it was in no table that was read within the last second. A key
 * that was issued since is looked up: because a message told of it, or out of a small budget of look-ups per second for
 * ids that are not known here. Where neither the table nor the budget can tell, the answer is that nobody knows.
 */

/** Length of a public id, bytes. */
const width = 12;

/** Look-ups of unknown ids: as many at once, and as many per second. */
export const budget = { burst: 50, ratePerS: 20 } as const;
/** An id that is not in a table of this age or less belongs to no key that has to be known yet. */
const freshMs = 1000;
/** Ids that messages told of; more than can be issued between two readings of the table. */
const mostTold = 10_000;

export type Admission = 'look_up' | 'unknown' | 'unsure';

export interface DirectoryOptions {
  /** Monotonic, ms. */
  readonly now: () => number;
  /** All public ids, 12 bytes each, in ascending order of their bytes. */
  readonly load: () => Promise<Buffer>;
}

export class KeyDirectory {
  readonly #options: DirectoryOptions;
  #ids: Buffer = Buffer.alloc(0);
  /** The generation that the table was read at or after. */
  #generation: number | null = null;
  /** Every key that was issued before this is in the table. */
  #completeAt = Number.NEGATIVE_INFINITY;
  #loading = false;
  readonly #told = new Set<string>();
  #tokens: number = budget.burst;
  #tokensAt: number;

  constructor(options: DirectoryOptions) {
    this.#options = options;
    this.#tokensAt = options.now();
  }

  /** Notes an id of which a message said that something has changed, since it can be new. */
  tell(publicId: string): void {
    if (publicId.length === width && this.#told.size < mostTold) this.#told.add(publicId);
  }

  /** Postgres said at `askedAt` or later that the generation is this. Reads the table again if it is older. */
  async confirm(generation: number, askedAt: number): Promise<void> {
    if (generation === this.#generation) {
      this.#completeAt = askedAt;
      return;
    }
    if (this.#loading) return;
    this.#loading = true;
    try {
      const told = [...this.#told];
      this.#ids = await this.#options.load();
      this.#generation = generation;
      this.#completeAt = askedAt;
      // What was told while the table was read may not be in it.
      for (const id of told) this.#told.delete(id);
    } finally {
      this.#loading = false;
    }
  }

  admit(publicId: string): Admission {
    if (this.#has(publicId) || this.#told.has(publicId) || this.#takeToken()) return 'look_up';
    return this.#options.now() - this.#completeAt <= freshMs ? 'unknown' : 'unsure';
  }

  #has(publicId: string): boolean {
    const wanted = Buffer.from(publicId, 'latin1');
    let low = 0;
    let high = this.#ids.length / width;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = this.#ids.compare(wanted, 0, width, middle * width, (middle + 1) * width);
      if (order === 0) return true;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return false;
  }

  #takeToken(): boolean {
    const now = this.#options.now();
    this.#tokens = Math.min(budget.burst, this.#tokens + ((now - this.#tokensAt) * budget.ratePerS) / 1000);
    this.#tokensAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
