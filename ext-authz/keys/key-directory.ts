/**
 * Which public ids exist, so that a flood of made-up keys asks nobody.
 *
 * Invariant: an id is refused without a look-up only if no key had it at some moment within the last second. That is known of
 * a table that was read, and of what has changed since, as long as the polls told all of it; else the table is read again. A
 * key that was issued since is looked up: because a message told of it, or out of a small budget of look-ups per second for
 * ids that are not known here. Where neither the list nor the budget can tell, the answer is that nobody knows.
 *
 * An id whose key is gone stays until the table is read again, and costs look-ups of that id alone.
 */
import type { KeyChanges } from '@gw/prisma/find-key';
import { IdList, width } from './id-list.ts';

/** Look-ups of unknown ids: as many at once, and as many per second. */
export const budget = { burst: 50, ratePerS: 20 } as const;
/** An id that is not in a list of this age or less belongs to no key that has to be known yet. */
const freshMs = 1000;
/** Ids that messages told of; more than can be issued between two polls. */
const mostTold = 10_000;

export type Admission = 'look_up' | 'unknown' | 'unsure';

export interface DirectoryOptions {
  /** Monotonic, ms. */
  readonly now: () => number;
  /** All public ids, 12 bytes each, in ascending order of their bytes. */
  readonly load: () => Promise<Buffer>;
}

/** How far a list is complete. */
interface Extent {
  /** Every key up to this generation is in the list; `broken` if changes are missing, so that it can no longer follow. */
  generation: number;
  /** Every key that was issued before this is in the list. */
  at: number;
}

const broken = -1;

export class KeyDirectory {
  readonly #options: DirectoryOptions;
  #ids = new IdList(Buffer.alloc(0));
  #held: Extent = { generation: broken, at: Number.NEGATIVE_INFINITY };
  /** Of the table that is being read, with the ids that came meanwhile: it may be without them. */
  #reading: (Extent & { readonly missed: Set<string> }) | null = null;
  /** When a message told of which id. */
  readonly #told = new Map<string, number>();
  #tokens: number = budget.burst;
  #tokensAt: number;

  constructor(options: DirectoryOptions) {
    this.#options = options;
    this.#tokensAt = options.now();
  }

  /** Notes an id of which a message said that something has changed, since it can be new. */
  tell(publicId: string): void {
    if (publicId.length === width && this.#told.size < mostTold) this.#told.set(publicId, this.#options.now());
  }

  /**
   * Postgres said at `askedAt` or later what has changed since the generation that was `known`. Reads the whole table only if
   * the list is not complete up to that one, or more has changed than is told.
   */
  async confirm(known: number | null, { generation, since }: KeyChanges, askedAt: number): Promise<void> {
    for (const id of since?.publicIds ?? []) {
      this.#ids.add(id);
      this.#reading?.missed.add(id);
    }
    for (const extent of [this.#held, this.#reading]) {
      if (extent === null) continue;
      const follows = since !== null && extent.generation === known;
      extent.generation = follows ? generation : broken;
      if (follows) extent.at = askedAt;
    }
    if (this.#held.generation === broken && this.#reading === null) await this.#read(generation, askedAt);
    else this.#dropTold();
  }

  admit(publicId: string): Admission {
    if (this.#ids.has(publicId) || this.#told.has(publicId) || this.#takeToken()) return 'look_up';
    return this.#options.now() - this.#held.at <= freshMs ? 'unknown' : 'unsure';
  }

  async #read(generation: number, at: number): Promise<void> {
    const reading = { generation, at, missed: new Set<string>() };
    this.#reading = reading;
    try {
      const ids = new IdList(await this.#options.load());
      for (const id of reading.missed) ids.add(id);
      this.#ids = ids;
      this.#held = reading;
      this.#dropTold();
    } finally {
      this.#reading = null;
    }
  }

  /** A message comes after its change, so the list has what was told before Postgres was asked. */
  #dropTold(): void {
    for (const [id, at] of this.#told) if (at < this.#held.at) this.#told.delete(id);
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
