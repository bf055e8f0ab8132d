/**
 * Knows which public ids exist, so that a flood of made-up keys causes no lookups.
 *
 * Invariant: an id is refused without a lookup only if no key had it at some time within the last second. The list is read from the
 * table and updated by the polled changes; if changes are missing, it is read again. A newer key is looked up because a message
 * announced it, or from a small budget of lookups per second for unknown ids. If neither the list nor the budget suffices, the result is
 * `unsure`.
 *
 * The id of a deleted key stays until the table is read again, and only causes lookups of that id.
 */
import type { KeyChanges } from '@gw/prisma/find-key';
import { IdList, width } from './id-list.ts';

/** Lookups of unknown ids. */
export const budget = { burst: 50, ratePerS: 20 } as const;
/** The age of a list, ms, up to which an id that it lacks is refused. */
const freshMs = 1000;
/** The most announced ids, more than can be issued between two polls. */
const mostTold = 10_000;

export type Admission = 'look_up' | 'unknown' | 'unsure';

export interface DirectoryOptions {
  /** Monotonic, ms. */
  readonly now: () => number;
  /** All public ids, 12 bytes each, in ascending order of their bytes. */
  readonly load: () => Promise<Buffer>;
}

/** The extent to which a list is complete. */
interface Extent {
  /** The list has every key up to this generation; `broken` if changes are missing. */
  generation: number;
  /** The list has every key issued before this time. */
  at: number;
}

const broken = -1;

export class KeyDirectory {
  readonly #options: DirectoryOptions;
  #ids = new IdList(Buffer.alloc(0));
  #held: Extent = { generation: broken, at: Number.NEGATIVE_INFINITY };
  /** The table being read, and the ids that arrived meanwhile, which it may lack. */
  #reading: (Extent & { readonly missed: Set<string> }) | null = null;
  /** Announced ids, and when. */
  readonly #told = new Map<string, number>();
  #tokens: number = budget.burst;
  #tokensAt: number;

  constructor(options: DirectoryOptions) {
    this.#options = options;
    this.#tokensAt = options.now();
  }

  /** Notes the id of a changed key, which may be new. */
  tell(publicId: string): void {
    if (publicId.length === width && this.#told.size < mostTold) this.#told.set(publicId, this.#options.now());
  }

  /**
   * Applies the changes since the generation `known`, which Postgres reported at `askedAt` or later. Reads the whole table only if the
   * list was not complete up to that generation, or the changes are unknown.
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

  /** A message follows its change, so the list has all ids announced before the query. */
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
