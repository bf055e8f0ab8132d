/**
 * Keys in memory: a key is looked up once, then answered from here until something about it changes.
 *
 * Invariant: an entry is served only if it was read after the last change that this instance knows of, and only while a
 * store has confirmed within `graceMs` that nothing has changed. A look-up that was under way when a change arrived is
 * thrown away and made again, so that it can not bring a revoked key back.
 */
import type { FoundKey } from '@gw/prisma/find-key';

export interface KeyStore {
  find(publicId: string): Promise<FoundKey | null>;
}

export interface KeyCacheOptions {
  /** Time in ms; monotonic enough for ages. */
  readonly now: () => number;
  /** Entries at most, known and unknown keys each; the oldest go first. */
  readonly capacity: number;
  /** How long entries are honoured when no store answers. */
  readonly graceMs: number;
}

/** No store has answered for longer than the grace time: nobody can say whether the key still holds. */
export class KeysUnconfirmedError extends Error {
  constructor() {
    super('Neither Postgres nor Redis has confirmed the keys within the grace time.');
  }
}

const attempts = 3;

export class KeyCache {
  readonly #store: KeyStore;
  readonly #options: KeyCacheOptions;
  readonly #known = new Map<string, FoundKey>();
  /** Ids that no key has. Apart, so that a flood of made-up keys can not push real ones out. */
  readonly #unknown = new Set<string>();
  readonly #underWay = new Map<string, Promise<FoundKey | null>>();
  /** Counts changes; a look-up is good only if this is the same before and after it. */
  #epoch = 0;
  #confirmedAt: number;

  constructor(store: KeyStore, options: KeyCacheOptions) {
    this.#store = store;
    this.#options = options;
    this.#confirmedAt = options.now();
  }

  /** A store said that nothing has changed since the last known change. */
  confirm(): void {
    this.#confirmedAt = this.#options.now();
  }

  /** Something about this key changed; `*` or an account's change means any key may have. */
  forget(publicId: string): void {
    this.#epoch += 1;
    this.#unknown.clear();
    if (publicId === '*') this.#known.clear();
    else this.#known.delete(publicId);
  }

  /** The key, or null if there is none. Throws KeysUnconfirmedError, or the store's error. */
  async find(publicId: string): Promise<FoundKey | null> {
    const known = this.#known.get(publicId);
    const cached = known ?? (this.#unknown.has(publicId) ? null : undefined);
    if (cached !== undefined) {
      if (this.#options.now() - this.#confirmedAt > this.#options.graceMs) throw new KeysUnconfirmedError();
      return cached;
    }
    const running = this.#underWay.get(publicId);
    if (running) return running;
    const lookUp = this.#lookUp(publicId).finally(() => this.#underWay.delete(publicId));
    this.#underWay.set(publicId, lookUp);
    return lookUp;
  }

  async #lookUp(publicId: string): Promise<FoundKey | null> {
    for (let attempt = 1; ; attempt++) {
      const epoch = this.#epoch;
      const found = await this.#store.find(publicId);
      if (epoch === this.#epoch) {
        this.#keep(publicId, found);
        return found;
      }
      // Changes keep arriving: the last answer is newer than most of them, but must not be kept.
      if (attempt === attempts) return found;
    }
  }

  #keep(publicId: string, found: FoundKey | null): void {
    const entries: { readonly size: number; keys(): IterableIterator<string>; delete(id: string): boolean } = found
      ? this.#known
      : this.#unknown;
    if (entries.size >= this.#options.capacity) {
      const oldest = entries.keys().next().value;
      if (oldest !== undefined) entries.delete(oldest);
    }
    if (found) this.#known.set(publicId, found);
    else this.#unknown.add(publicId);
  }
}
