/**
 * Streams that run although no slot is held for them here, as Envoy tells of them every ten seconds: the sidecar that
 * let them in has died or was stopped, or is another instance, which is told nothing by it.
 *
 * Invariants: a stream that runs keeps its lease, whether its sidecar lives or not; a slot that was released here is
 * not taken again by a word that Envoy said before it heard of the end.
 */
import { HeldSlots } from './held-slots.ts';
import type { Lease, Leases } from './leases.ts';

/**
 * How long a release is remembered at least: far longer than a word of Envoy takes. It is forgotten after twice that.
 */
const rememberMs = 10_000;

export interface RunningOptions {
  readonly leases: Pick<Leases, 'renew' | 'connected'>;
  readonly onError: (error: unknown) => void;
}

export class Running {
  readonly #options: RunningOptions;
  #told = new HeldSlots();
  #collecting: NodeJS.Immediate | undefined;
  /** Slots that were released here in this span of `rememberMs`, and in the one before. */
  #released = new Set<string>();
  #releasedBefore = new Set<string>();
  readonly #forgetting: NodeJS.Timeout;

  constructor(options: RunningOptions) {
    this.#options = options;
    this.#forgetting = setInterval(() => {
      this.#releasedBefore = this.#released;
      this.#released = new Set();
    }, rememberMs);
  }

  /** Renews the lease of a stream that Envoy reports as running, unless it was released here a short time ago. */
  tell(lease: Lease): void {
    if (this.#released.has(lease.id) || this.#releasedBefore.has(lease.id)) return;
    this.#told.add(lease);
    // What comes in one turn is renewed together. It waits no longer: another instance may be about to release the slot.
    this.#collecting ??= setImmediate(() => this.#renew());
  }

  /** Remembers a release, so that a late word of Envoy does not take the slot again. */
  released(lease: Lease): void {
    this.#released.add(lease.id);
    this.#told.remove(lease);
  }

  stop(): void {
    if (this.#collecting) clearImmediate(this.#collecting);
    clearInterval(this.#forgetting);
  }

  /** Renews what was told. Without Redis it does nothing, since Envoy reports again. */
  #renew(): void {
    const { leases, onError } = this.#options;
    const told = this.#told.accounts();
    this.#told = new HeldSlots();
    this.#collecting = undefined;
    if (!leases.connected()) return;
    for (const [accountId, slots] of told) leases.renew(accountId, slots).catch(onError);
  }
}
