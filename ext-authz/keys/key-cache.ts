/**
 * Keys in memory: a key is looked up once, then answered from here until something about it changes.
 *
 * Invariant: an entry is served only if it was read after the last change that this instance knows of, and only while a
 * store has confirmed within `graceMs` that nothing has changed. A look-up that was under way when a change arrived is
 * thrown away and made again, so that it cannot bring a revoked key back.
 */
import type { FoundKey } from '@gw/prisma/find-key';
import type { Admission } from './key-directory.ts';

export interface KeyStore {
  find(publicId: string): Promise<FoundKey | null>;
}

export interface KeyCacheOptions {
  /** Time in ms; monotonic enough for ages. */
  readonly now: () => number;
  /** Entries at most; the oldest go first. */
  readonly capacity: number;
  /** How long entries are used when no store answers, ms. */
  readonly graceMs: number;
  /** Whether the store is asked for an id that is not here. */
  readonly admit: (publicId: string) => Admission;
}

/** Thrown if no store can say now whether the key is valid. */
export class KeysUnconfirmedError extends Error {}

const attempts = 3;
/** Unknown ids that were asked for; only so many as spare a client with a wrong key its look-ups. */
const unknownCapacity = 1000;

interface LookUp {
  readonly result: Promise<FoundKey | null>;
  /** A change that concerns it arrived after its last query. */
  stale: boolean;
  /** Accounts that changed since then; whose key it is shows when it is found. */
  readonly accounts: Set<string>;
}

export class KeyCache {
  readonly #store: KeyStore;
  readonly #options: KeyCacheOptions;
  readonly #known = new Map<string, FoundKey>();
  /** Ids that no key has. Apart, so that a flood of made-up keys cannot push real ones out. */
  readonly #unknown = new Set<string>();
  readonly #underWay = new Map<string, LookUp>();
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

  /** Drops a key of which something has changed, or which is new. */
  forget(publicId: string): void {
    this.#unknown.delete(publicId);
    this.#known.delete(publicId);
    const lookUp = this.#underWay.get(publicId);
    if (lookUp) lookUp.stale = true;
  }

  /** Drops all keys of an account that has changed. It looks through all entries, since this happens rarely. */
  forgetAccount(accountId: string): void {
    for (const [publicId, key] of this.#known) if (key.accountId === accountId) this.#known.delete(publicId);
    for (const lookUp of this.#underWay.values()) lookUp.accounts.add(accountId);
  }

  /** Drops all keys, because any of them can have changed. */
  forgetAll(): void {
    this.#unknown.clear();
    this.#known.clear();
    for (const lookUp of this.#underWay.values()) lookUp.stale = true;
  }

  /** Returns the key, or null if there is none. Throws KeysUnconfirmedError, or the store's error. */
  async find(publicId: string): Promise<FoundKey | null> {
    const known = this.#known.get(publicId);
    const cached = known ?? (this.#unknown.has(publicId) ? null : undefined);
    if (cached !== undefined) {
      if (this.#options.now() - this.#confirmedAt > this.#options.graceMs)
        throw new KeysUnconfirmedError('Neither Postgres nor Redis has confirmed the keys within the grace time.');
      return cached;
    }
    const running = this.#underWay.get(publicId);
    if (running) return running.result;
    const admission = this.#options.admit(publicId);
    if (admission === 'unknown') return null;
    // Fails closed, and not with a 401: the key may be a good one.
    if (admission === 'unsure')
      throw new KeysUnconfirmedError('Too many unknown keys, and no fresh list of the real ones.');
    return this.#begin(publicId).result;
  }

  #begin(publicId: string): LookUp {
    let settle: (found: Promise<FoundKey | null>) => void = () => {};
    const result = new Promise<FoundKey | null>((resolve) => {
      settle = resolve;
    });
    const lookUp: LookUp = { result, stale: false, accounts: new Set() };
    this.#underWay.set(publicId, lookUp);
    settle(this.#lookUp(publicId, lookUp).finally(() => this.#underWay.delete(publicId)));
    return lookUp;
  }

  async #lookUp(publicId: string, lookUp: LookUp): Promise<FoundKey | null> {
    for (let attempt = 1; attempt <= attempts; attempt++) {
      lookUp.stale = false;
      lookUp.accounts.clear();
      const found = await this.#store.find(publicId);
      if (lookUp.stale || (found && lookUp.accounts.has(found.accountId))) continue;
      this.#keep(publicId, found);
      return found;
    }
    // What was read last may be older than the last change, so it is not even used once.
    throw new KeysUnconfirmedError('The key changed again and again while it was looked up.');
  }

  #keep(publicId: string, found: FoundKey | null): void {
    if (found) {
      dropOldest(this.#known, this.#options.capacity);
      this.#known.set(publicId, found);
    } else {
      dropOldest(this.#unknown, unknownCapacity);
      this.#unknown.add(publicId);
    }
  }
}

interface Entries {
  readonly size: number;
  keys(): IterableIterator<string>;
  delete(id: string): boolean;
}

function dropOldest(entries: Entries, capacity: number): void {
  if (entries.size < capacity) return;
  const oldest = entries.keys().next().value;
  if (oldest !== undefined) entries.delete(oldest);
}
