/**
 * Renews the leases of streams that Envoy reports as running, every ten seconds, although this process holds no slot for them: their lease
 * holder has died or was stopped, or is another instance, to which this renewal makes no difference.
 *
 * Invariants: a running stream keeps its lease, whether its sidecar lives or not; a report that Envoy sent before it heard of the end does
 * not take a slot again that was released here.
 */
import { HeldSlots } from './held-slots.ts';
import type { Lease, Leases } from './leases.ts';

/** A release is remembered for one to two times this long, which is far longer than a report of Envoy takes. */
const rememberMs = 10_000;

export interface RunningStreamsOptions {
  readonly leases: Pick<Leases, 'renew' | 'connected'>;
  readonly onError: (error: unknown) => void;
}

export class RunningStreams {
  readonly #options: RunningStreamsOptions;
  #told = new HeldSlots();
  #collecting: NodeJS.Immediate | undefined;
  /** Slots that were released here in the current span of `rememberMs`. */
  #released = new Set<string>();
  /** Slots that were released in the span before. */
  #releasedBefore = new Set<string>();
  readonly #forgetting: NodeJS.Timeout;

  constructor(options: RunningStreamsOptions) {
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
    // Reports of one turn are renewed together, and no later, since another instance may be about to release the slot.
    this.#collecting ??= setImmediate(() => this.#renew());
  }

  /** Remembers a release, so that a late report does not take the slot again. */
  released(lease: Lease): void {
    this.#released.add(lease.id);
    this.#told.remove(lease);
  }

  stop(): void {
    if (this.#collecting) clearImmediate(this.#collecting);
    clearInterval(this.#forgetting);
  }

  /** Does nothing without Redis, since Envoy reports again. */
  #renew(): void {
    const { leases, onError } = this.#options;
    const told = this.#told.accounts();
    this.#told = new HeldSlots();
    this.#collecting = undefined;
    if (!leases.connected()) return;
    for (const [accountId, slots] of told) leases.renew(accountId, slots).catch(onError);
  }
}
