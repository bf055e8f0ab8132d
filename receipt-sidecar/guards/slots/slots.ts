/**
 * Limits the open streams of an account and of a key: each stream in flight holds one slot.
 *
 * Invariants: a held slot is renewed until it is released, and never after that; a slot whose lease holder has gone is renewed for as long as
 * Envoy reports its stream. So Redis counts the running streams and, for `leaseMs`, those that ended without a release. While Redis is
 * unavailable, each instance goes on with its share of the limit in its own memory: never unlimited, never closed.
 */
import { type ApiError, apiError } from '@gw/contract/errors';
import { defined } from '@gw/contract/internal/defined';
import { err, ok, type Result } from '@gw/contract/internal/result';
import type { Logger } from '@gw/service/log';
import { succeedsWithin } from '../../wire/bounded.ts';
import type { Caller } from '../caller.ts';
import { type Availability, watchAvailability } from './availability.ts';
import { HeldSlots } from './held-slots.ts';
import { type FoundSlots, type Lease, type Leases, leaseMs } from './leases.ts';
import { RunningStreams } from './running.ts';
import type { SlotMetrics } from './slot-metrics.ts';

export interface Slot {
  /** The id under which Envoy reports the stream while it runs. */
  readonly id: string;
  /** Gives the slot back, because the stream has ended. Further calls do nothing. */
  release(): void;
}

export interface SlotOptions {
  readonly leases: Leases;
  /** How many instances share the limits while they cannot count together. */
  readonly instances: number;
  readonly newId: () => string;
  /** A monotonic clock, ms. */
  readonly now: () => number;
  readonly metrics: Pick<SlotMetrics, 'decided' | 'ended'>;
  readonly log: Logger;
}

/** How long a stream waits for Redis; those after it do not wait until Redis answers again. */
const patienceMs = 250;
const renewEveryMs = leaseMs / 3;
/** How often an exceeded limit in shadow mode is logged for each account. */
const reportEveryMs = 60_000;
/** Bounds the releases that wait for Redis. */
const mostUnsent = 10_000;

/** The limits that are enforced: the agreed ones, or this instance's share of them. */
interface EnforcedLimits {
  readonly account: number;
  readonly key: number | null;
}

export class StreamSlots {
  readonly #options: SlotOptions;
  readonly #held = new HeldSlots();
  readonly #availability: Availability;
  readonly #running: RunningStreams;
  /** When a limit in shadow mode was last reported, by account. */
  readonly #reported = new Map<string, number>();
  /** Releases that could not be sent to Redis, which may come back with its data. */
  readonly #unsent: Lease[] = [];
  readonly #timers: readonly NodeJS.Timeout[];
  #abandoned = false;

  constructor(options: SlotOptions) {
    this.#options = options;
    const { leases } = options;
    const register = () => {
      for (const lease of this.#unsent.splice(0)) this.#letGo(lease);
      return Promise.all(this.#held.accounts().map(([accountId, slots]) => leases.renew(accountId, slots)));
    };
    const availability = watchAvailability({ ...options, register });
    const renew = () => {
      if (availability.together()) register().catch(availability.lose);
    };
    this.#availability = availability;
    this.#running = new RunningStreams({ leases, onError: availability.lose });
    this.#timers = [setInterval(renew, renewEveryMs), setInterval(() => this.#forgetReports(), reportEveryMs)];
  }

  /** How many slots this process holds. */
  get open(): number {
    return this.#held.size;
  }

  /** Whether this instance counts alone. */
  get local(): boolean {
    return !this.#availability.together();
  }

  /**
   * Takes a slot, or refuses with `concurrent_streams_exceeded`. It waits for Redis for about 250 ms at most, and never rejects.
   */
  async take(caller: Caller): Promise<Result<Slot, ApiError>> {
    const { accountId, keyId, streams, keyStreams } = caller;
    const lease = { id: this.#options.newId(), accountId, keyId };
    const agreed = { account: streams.limit, key: keyStreams };
    if (this.#availability.together()) {
      const found = await this.#ask(lease, agreed, streams.shadow);
      if (found) return this.#decide(lease, caller, found, agreed);
      const taken = this.#decideAlone(lease, caller);
      // Redis may have given the slot all the same, and only answered late.
      if (!taken.ok) this.#letGo(lease);
      return taken;
    }
    return this.#decideAlone(lease, caller);
  }

  /** Envoy reports that the stream of this slot runs. A slot that is held here is renewed anyway. */
  runs(lease: Lease): void {
    if (!this.#held.has(lease)) this.#running.tell(lease);
  }

  /** Stops releasing, because streams go on without this process; slots that are still held end with their leases. */
  abandon(): void {
    this.#abandoned = true;
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#running.stop();
    this.#availability.stop();
  }

  /** Resolves to null if Redis does not answer in time. */
  async #ask(lease: Lease, { account, key }: EnforcedLimits, evenIfFull: boolean): Promise<FoundSlots | null> {
    let found: FoundSlots | null = null;
    let error: unknown;
    const asked = this.#options.leases.take(lease, { limit: account, keyLimit: key, evenIfFull }).then(
      (reply) => {
        found = reply;
      },
      (failed: unknown) => {
        error = failed;
        throw failed;
      },
    );
    if (await succeedsWithin(asked, { leftMs: patienceMs })) return found;
    this.#availability.lose(error);
    return null;
  }

  #decideAlone(lease: Lease, caller: Caller): Result<Slot, ApiError> {
    const { accountId, keyId, streams, keyStreams } = caller;
    const account = this.#share(streams.limit);
    const key = keyStreams === null ? null : this.#share(keyStreams);
    const open = this.#held.open(accountId);
    const keyOpen = key === null ? 0 : this.#held.openOfKey(accountId, keyId);
    const full = open >= account ? 'account' : key !== null && keyOpen >= key ? 'key' : null;
    return this.#decide(lease, caller, { full, open, keyOpen, ended: 0 }, { account, key });
  }

  /** Returns the share of this instance: at least 1, unless 0 was agreed. */
  #share(limit: number): number {
    return Math.min(limit, Math.max(1, Math.floor(limit / this.#options.instances)));
  }

  #decide(
    lease: Lease,
    { streams, keyStreams }: Caller,
    found: FoundSlots,
    limits: EnforcedLimits,
  ): Result<Slot, ApiError> {
    const { metrics } = this.#options;
    metrics.ended(found.ended);
    if (found.full !== null) {
      const exceeded: ExceededLimit =
        found.full === 'key'
          ? {
              full: 'key',
              open: found.keyOpen,
              limit: defined(limits.key, keyLimit),
              agreed: defined(keyStreams, keyLimit),
            }
          : { full: 'account', open: found.open, limit: limits.account, agreed: streams.limit };
      if (!streams.shadow) {
        metrics.decided('denied', this.local);
        return err(streamsExceeded(exceeded));
      }
      this.#report(lease, exceeded);
    }
    metrics.decided(found.full === null ? 'taken' : 'shadowed', this.local);
    this.#held.add(lease);
    return ok({ id: lease.id, release: () => this.#release(lease) });
  }

  #release(lease: Lease): void {
    if (!this.#held.remove(lease) || this.#abandoned) return;
    this.#running.released(lease);
    this.#letGo(lease);
  }

  #letGo(lease: Lease): void {
    const { leases } = this.#options;
    const sendLater = () => {
      // Above the bound, the slot ends with its lease.
      if (this.#unsent.length < mostUnsent) this.#unsent.push(lease);
    };
    if (leases.connected()) leases.release(lease).catch(sendLater);
    else sendLater();
  }

  #report({ accountId, keyId }: Lease, exceeded: ExceededLimit): void {
    const { log, now } = this.#options;
    if (now() - (this.#reported.get(accountId) ?? Number.NEGATIVE_INFINITY) < reportEveryMs) return;
    this.#reported.set(accountId, now());
    log.info({ accountId, keyId, ...exceeded }, 'a limit of open streams in shadow mode was exceeded');
  }

  #forgetReports(): void {
    const before = this.#options.now() - reportEveryMs;
    for (const [accountId, at] of this.#reported) if (at <= before) this.#reported.delete(accountId);
  }
}

/** Only a key with a limit of its own can be full. */
const keyLimit = 'The limit of the key';

interface ExceededLimit {
  readonly full: 'account' | 'key';
  readonly open: number;
  /** The limit that is enforced; less than `agreed` while the instances cannot count together. */
  readonly limit: number;
  readonly agreed: number;
}

/** With many streams open one ends soon, and the official clients increase their back-off only if they get no `Retry-After`. */
const retryAfterS = 1;

function streamsExceeded({ full, open, limit, agreed }: ExceededLimit): ApiError {
  const streams = open === 1 ? '1 stream' : `${open} streams`;
  const share =
    limit < agreed
      ? `its share here of the limit of ${agreed} is ${limit} while the instances of the gateway cannot count together`
      : `its limit is ${limit}`;
  const more = full === 'account' ? 'ask for a higher tier' : 'use another key';
  const message = `This ${full === 'account' ? 'account' : 'API key'} has ${streams} open, and ${share}. Close one, wait until one ends, or ${more}.`;
  return apiError('concurrent_streams_exceeded', { message, retryAfterS });
}
