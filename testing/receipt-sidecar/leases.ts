/** Simulates in memory the Redis that slots need, by the timers' clock: it can be lost, hang, be emptied and come back. */
import {
  type FoundSlots,
  type Lease,
  type Leases,
  leaseMs,
  type SlotLimits,
} from '@gw/receipt-sidecar/internals/guards/slots/leases';

export class RedisForTests {
  /** Ends of leases, ms, by slot. */
  readonly #ends = new Map<string, { readonly lease: Lease; until: number }>();
  readonly #waiting: (() => void)[] = [];
  #hangs = false;

  open(accountId: string): number {
    this.#dropEnded();
    return [...this.#ends.values()].filter(({ lease }) => lease.accountId === accountId).length;
  }

  empty(): void {
    this.#ends.clear();
  }

  hang(): void {
    this.#hangs = true;
  }

  /** Runs the commands that came meanwhile, in order. */
  goOn(): void {
    this.#hangs = false;
    for (const run of this.#waiting.splice(0)) run();
  }

  /** Runs `work` now, or in `goOn` if Redis hangs. */
  do<T>(work: () => T): Promise<T> {
    if (!this.#hangs) return Promise.resolve(work());
    return new Promise((resolve) => this.#waiting.push(() => resolve(work())));
  }

  take(lease: Lease, { limit, keyLimit, evenIfFull }: SlotLimits): FoundSlots {
    const ended = this.#dropEnded();
    const ofAccount = [...this.#ends.values()].filter((each) => each.lease.accountId === lease.accountId);
    const open = ofAccount.length;
    const keyOpen = ofAccount.filter((each) => each.lease.keyId === lease.keyId).length;
    const full = open >= limit ? 'account' : keyLimit !== null && keyOpen >= keyLimit ? 'key' : null;
    if (full === null || evenIfFull) this.renew(lease);
    return { full, open, keyOpen, ended };
  }

  renew(lease: Lease): void {
    this.#ends.set(lease.id, { lease, until: performance.now() + leaseMs });
  }

  release({ id }: Lease): void {
    this.#ends.delete(id);
  }

  #dropEnded(): number {
    const now = performance.now();
    const before = this.#ends.size;
    for (const [id, { until }] of this.#ends) if (until <= now) this.#ends.delete(id);
    return before - this.#ends.size;
  }
}

export interface ConnectionForTests {
  readonly leases: Leases;
  lose(): void;
  comeBack(): void;
  /** The names of the commands that were sent. */
  readonly sent: string[];
  reconnects(): number;
}

/** Makes the connection of one instance to `redis`. */
export function connectionForTests(redis: RedisForTests): ConnectionForTests {
  let connected = true;
  let reconnects = 0;
  let watcher: Parameters<Leases['watch']>[0] | null = null;
  const sent: string[] = [];
  const send = <T>(name: string, work: () => T): Promise<T> => {
    if (!connected) return Promise.reject(new Error('The connection is away.'));
    sent.push(name);
    return redis.do(work);
  };
  return {
    sent,
    reconnects: () => reconnects,
    lose() {
      connected = false;
      watcher?.lost();
    },
    comeBack() {
      connected = true;
      watcher?.back();
    },
    leases: {
      take: (lease, room) => send('take', () => redis.take(lease, room)),
      renew: (_accountId, leases) =>
        send('renew', () => {
          for (const lease of leases) redis.renew(lease);
        }),
      release: (lease) => send('release', () => redis.release(lease)),
      probe: () => send('probe', () => undefined),
      reconnect: () => {
        reconnects += 1;
      },
      connected: () => connected,
      watch: (given) => {
        watcher = given;
      },
    },
  };
}
