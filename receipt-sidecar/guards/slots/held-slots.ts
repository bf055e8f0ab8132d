/** The slots that this process holds, by account. It renews them, and counts them while it has to count alone. */
import type { Lease } from './leases.ts';

export class HeldSlots {
  readonly #accounts = new Map<string, Map<string, Lease>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(lease: Lease): void {
    let account = this.#accounts.get(lease.accountId);
    if (!account) {
      account = new Map();
      this.#accounts.set(lease.accountId, account);
    }
    if (!account.has(lease.id)) this.#size += 1;
    account.set(lease.id, lease);
  }

  has({ accountId, id }: Lease): boolean {
    return this.#accounts.get(accountId)?.has(id) ?? false;
  }

  /** Returns false if the slot was not held. */
  remove({ accountId, id }: Lease): boolean {
    const account = this.#accounts.get(accountId);
    if (!account?.delete(id)) return false;
    if (account.size === 0) this.#accounts.delete(accountId);
    this.#size -= 1;
    return true;
  }

  open(accountId: string): number {
    return this.#accounts.get(accountId)?.size ?? 0;
  }

  openOfKey(accountId: string, keyId: string): number {
    let open = 0;
    for (const lease of this.#accounts.get(accountId)?.values() ?? []) if (lease.keyId === keyId) open += 1;
    return open;
  }

  /** Returns each account with its slots, copied. */
  accounts(): (readonly [accountId: string, leases: readonly Lease[]])[] {
    return [...this.#accounts].map(([accountId, leases]) => [accountId, [...leases.values()]] as const);
  }
}
