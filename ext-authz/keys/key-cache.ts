/**
 * Caches keys until they change.
 *
 * Invariant: an entry is served only if it was read after the last known change, and only while a store has confirmed within `graceMs`
 * that nothing has changed. A lookup that runs while a change arrives is repeated, so that it cannot restore a revoked key.
 */
import { accountMessage } from '@gw/contract/internal/redis';
import type { FoundKey } from '@gw/prisma/find-key';
import { dropOldest } from '@gw/service/drop-oldest';
import type { Admission } from './key-directory.ts';
import type { KeyDoubts } from './key-doubts.ts';

export interface KeyStore {
  find(publicId: string): Promise<FoundKey | null>;
}

export interface KeyCacheOptions {
  /** Monotonic, ms. */
  readonly now: () => number;
  /** The most entries; the oldest are dropped. */
  readonly capacity: number;
  /** How long entries are served without a confirmation, ms. */
  readonly graceMs: number;
  /** Decides whether to look up an id that is not cached. */
  readonly admit: (publicId: string) => Admission;
}

/** Thrown if no store can confirm the key. */
export class KeysUnconfirmedError extends Error {}

const attempts = 3;
/** Cached unknown ids, enough to avoid lookups for clients with a wrong key. */
const unknownCapacity = 1000;

interface LookUp {
  readonly result: Promise<FoundKey | null>;
  /** Whether a relevant change arrived after its last query. */
  stale: boolean;
  /** Accounts that changed since then; the key's account is only known from the result. */
  readonly accounts: Set<string>;
}

export class KeyCache {
  readonly #store: KeyStore;
  readonly #options: KeyCacheOptions;
  readonly #known = new Map<string, FoundKey>();
  /** Ids that do not exist, kept separately so that a flood of made-up keys cannot displace real ones. */
  readonly #unknown = new Set<string>();
  readonly #underWay = new Map<string, LookUp>();
  #confirmedAt: number;
  #doubts: KeyDoubts | null = null;

  constructor(store: KeyStore, options: KeyCacheOptions) {
    this.#store = store;
    this.#options = options;
    this.#confirmedAt = options.now();
  }

  /** Notes that a store has confirmed that there are no further changes. */
  confirm(): void {
    this.#confirmedAt = this.#options.now();
  }

  /** From now on the keys in doubt are refused; null: there are none. Drops all keys, since Postgres is, or was, another one. */
  doubt(doubts: KeyDoubts | null): void {
    this.#doubts = doubts;
    this.forgetAll();
  }

  /** Drops a changed or new key. */
  forget(publicId: string): void {
    this.#unknown.delete(publicId);
    this.#known.delete(publicId);
    const lookUp = this.#underWay.get(publicId);
    if (lookUp) lookUp.stale = true;
  }

  /** Drops all keys of an account. A rare operation, so it scans all entries. */
  forgetAccount(accountId: string): void {
    for (const [publicId, key] of this.#known) if (key.accountId === accountId) this.#known.delete(publicId);
    for (const lookUp of this.#underWay.values()) lookUp.accounts.add(accountId);
  }

  forgetAll(): void {
    this.#unknown.clear();
    this.#known.clear();
    for (const lookUp of this.#underWay.values()) lookUp.stale = true;
  }

  /** Returns the key, or null if there is none. Throws KeysUnconfirmedError, or the store's error. */
  find(publicId: string): Promise<FoundKey | null> {
    return this.#doubts === null ? this.#find(publicId) : this.#findInDoubt(publicId, this.#doubts);
  }

  /** Fails closed: a key that Postgres may have lost a change of is refused, and one that is known to be revoked stays so. */
  async #findInDoubt(publicId: string, { changed, closed }: KeyDoubts): Promise<FoundKey | null> {
    const found = await this.#find(publicId);
    if (found !== null && closed.has(publicId)) return { ...found, state: 'revoked' };
    const account = found === null ? null : accountMessage(found.accountId);
    // The key may be a new one that Postgres has lost, so it is not called unknown either.
    if (changed.has(publicId) || (account !== null && changed.has(account)))
      throw new KeysUnconfirmedError('Postgres has gone back in time, and this key or its account changed since.');
    if (found === null || account === null || !closed.has(account)) return found;
    return { ...found, account: { ...found.account, state: 'suspended' } };
  }

  async #find(publicId: string): Promise<FoundKey | null> {
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
    // Fail closed, but not with a 401, because the key may be valid.
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
    // The last result may be outdated already.
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
