/**
 * Idempotency keys: a call with the key of an earlier one gets its reply and does not run.
 *
 * Invariants: of all calls with the same account, path and key, one runs at a time over all instances. A call that runs after one that
 * may have run learns so. It fails closed: without Redis no call runs, because another instance might be running it. If Redis is
 * emptied or loses more than `leaseMs` of writes, the claims in them are lost.
 */
import { hash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClaimId, Claims, Finished } from './claims.ts';
import type { ReplyCipher, StoredReply } from './reply-cipher.ts';
import { leaseMs } from './scripts.lua.ts';
import { type Look, type Waiting, WaitingRoom } from './waiting-room.ts';

export { defaultRoomBytes, redisClaims } from './claims.ts';
export type { ReplyCipher, StoredReply } from './reply-cipher.ts';
export type { Waiting } from './waiting-room.ts';

export interface KeyedCall {
  readonly accountId: string;
  readonly path: string;
  /** The idempotency key as the client sent it. */
  readonly key: string;
  /** `bodySha256` of the parsed body. */
  readonly body: string;
}

/** An encrypted reply, as Redis stores it. */
export type SealedReply = Buffer;

/** The right to run a call until the first call of `finish` or `free`. */
export interface Claim {
  /** Whether an earlier call with this key may have run, which the client has to be told. */
  readonly mayHaveRun: boolean;
  /**
   * Encrypts a reply in advance, so that `finish` can write to Redis synchronously. Never rejects: if encryption fails, it releases the
   * key, with `mayHaveRun` for the next call, and resolves to null.
   */
  seal(reply: StoredReply): Promise<SealedReply | null>;
  /** Stores the reply for later calls. Null, for one that is too large, makes them fail with `reference`. Never rejects. */
  finish(reply: SealedReply | null, reference: string): Promise<Finished>;
  /** Releases the key without a reply. `mayHaveRun`: whether the next call learns of this one. */
  free(mayHaveRun: boolean): void;
}

export type ClaimResult =
  | { readonly is: 'claimed'; readonly claim: Claim }
  | { readonly is: 'replay'; readonly reply: StoredReply }
  /** The call has run, and its reply was not kept or cannot be read. */
  | { readonly is: 'not_kept'; readonly reference: string }
  /** The key belongs to another request. */
  | { readonly is: 'reused' }
  /** The call is running. `waited` is false if there was no room to wait. */
  | { readonly is: 'running'; readonly waited: boolean }
  /** Redis did not answer. */
  | { readonly is: 'unknown' };

export interface IdempotencyOptions {
  readonly claims: Claims;
  readonly cipher: ReplyCipher;
  /** A monotonic clock, ms. */
  readonly now: () => number;
}

interface HeldClaim {
  readonly id: ClaimId;
  /** When the key becomes free, by the monotonic clock. */
  readonly endsAt: number;
}

const renewEveryMs = leaseMs / 3;
/** How long a shutdown waits for Redis. */
const freedWithinMs = 1000;
const bytesOf = ({ body }: StoredReply): number => body.reduce((sum, part) => sum + part.length, 0);
const digestOf = ({ accountId, key, path }: KeyedCall): string =>
  hash('sha256', JSON.stringify([accountId, path, key]), 'base64url');
const roomOf = ({ digest, fingerprint }: ClaimId): string => `${digest} ${fingerprint}`;

export class Idempotency {
  readonly #options: IdempotencyOptions;
  readonly #held = new Map<string, HeldClaim>();
  /** Pending writes to Redis. */
  readonly #telling = new Set<Promise<unknown>>();
  readonly #room = new WaitingRoom<ClaimResult>({
    tooLong: (waited) => ({ is: 'running', waited }),
    unclaimed: (found) => found.is === 'claimed' && found.claim.free(false),
    bytesOf: (found) => (found.is === 'replay' ? bytesOf(found.reply) : 0),
  });
  readonly #timer: NodeJS.Timeout;
  /** Prefix of the owner ids. */
  readonly #name = randomUUID();
  #tries = 0;

  constructor(options: IdempotencyOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#renew(), renewEveryMs);
  }

  /** Never rejects. Without `waiting` it returns immediately if the call is running. */
  async claim(call: KeyedCall, waiting: Waiting | null): Promise<ClaimResult> {
    const { accountId, body, path } = call;
    const [fingerprint, formerly] = this.#options.cipher.fingerprints(`${accountId} ${path} ${body}`);
    const id = { accountId, digest: digestOf(call), fingerprint };
    const found = await this.#ask(id, formerly);
    if (waiting === null) return found;
    if (found.is === 'replay') return this.#room.pass(found, accountId, waiting);
    if (found.is !== 'running') return found;
    const name = roomOf({ ...id, owner: '' });
    return this.#room.wait(name, accountId, waiting, async () => lookOf(await this.#ask(id, formerly)));
  }

  /** Answers all waiting calls with `running`, so that a shutdown does not wait for others. Claims continue. */
  stopWaiting(): void {
    this.#room.stop();
  }

  /** Releases all held claims, as calls that may have run, and waits a while for pending writes to Redis. */
  async freeHeld(): Promise<void> {
    for (const { id } of this.#held.values()) void this.#free(id, true);
    this.#held.clear();
    const timeOver = delay(freedWithinMs, undefined, { ref: false });
    await Promise.race([Promise.all(this.#telling), timeOver]);
  }

  /** Stops renewals; claims that are still held expire with their lease. */
  stop(): void {
    clearInterval(this.#timer);
    this.#held.clear();
    this.#room.stop();
  }

  async #ask(asked: Omit<ClaimId, 'owner'>, formerly: string): Promise<ClaimResult> {
    this.#tries += 1;
    const id = { ...asked, owner: `${this.#name}.${this.#tries}` };
    const { cipher, claims, now } = this.#options;
    try {
      const taken = await claims.take(id, formerly);
      if (taken.is === 'claimed') {
        this.#held.set(id.owner, { id, endsAt: now() + taken.lifeMs });
        return { is: 'claimed', claim: this.#claimOf(id, taken.mayHaveRun) };
      }
      if (taken.is === 'running') return { is: 'running', waited: false };
      if (taken.is !== 'done') return { is: taken.is };
      const reply = taken.reply && (await cipher.open(taken.reply, id.digest));
      return reply ? { is: 'replay', reply } : { is: 'not_kept', reference: taken.reference };
    } catch {
      // Redis may have taken the claim, or may be about to, without answering in time.
      void this.#free(id, false);
      return { is: 'unknown' };
    }
  }

  #claimOf(id: ClaimId, mayHaveRun: boolean): Claim {
    let isOver = false;
    const end = (): HeldClaim | null => {
      const held = isOver ? undefined : this.#held.get(id.owner);
      isOver = true;
      this.#held.delete(id.owner);
      return held ?? null;
    };
    const wake = () => this.#room.wake(roomOf(id));
    const free = (hasRun: boolean): void => {
      if (end()) void this.#free(id, hasRun).then(wake);
    };
    return {
      mayHaveRun,
      seal: (reply) =>
        this.#options.cipher.seal(reply, id.digest).catch(() => {
          free(true);
          return null;
        }),
      finish: (reply, reference) => {
        const held = end();
        return held ? this.#tell(this.#store(held, reply, reference)).finally(wake) : Promise.resolve('lost');
      },
      free,
    };
  }

  #store({ endsAt, id }: HeldClaim, reply: SealedReply | null, reference: string): Promise<Finished> {
    const { claims, now } = this.#options;
    return claims.finish(id, leftMs({ endsAt }, now()), reference, reply).catch(() => 'lost' as const);
  }

  #free(id: ClaimId, hasRun: boolean): Promise<unknown> {
    return this.#tell(this.#options.claims.free(id, hasRun).catch(() => undefined));
  }

  /** `told` must not reject. */
  #tell<T>(told: Promise<T>): Promise<T> {
    this.#telling.add(told);
    void told.then(() => this.#telling.delete(told));
    return told;
  }

  #renew(): void {
    const { claims, now } = this.#options;
    for (const held of this.#held.values()) {
      // Also after the key's time, because Redis keeps it while its call runs. A failed renewal is repeated the next time.
      claims.renew(held.id, leftMs(held, now())).then(
        (isOurs) => isOurs || this.#held.delete(held.id.owner),
        () => undefined,
      );
    }
  }
}

const leftMs = ({ endsAt }: Pick<HeldClaim, 'endsAt'>, now: number): number => Math.max(0, Math.ceil(endsAt - now));

function lookOf(found: ClaimResult): Look<ClaimResult> {
  if (found.is === 'running') return { for: 'nobody' };
  return { for: found.is === 'claimed' ? 'one' : 'all', found };
}
