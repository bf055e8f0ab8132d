/**
 * Idempotency keys: a call with the key of an earlier one gets the reply of that one, and does not run.
 *
 * Invariants: of all calls with one key in an account and at a path, one runs at a time, in any number of instances. One
 * that runs after another that may have run is told so. Fails closed: while Redis does not answer nobody is told to run,
 * since nobody can say who runs. What Redis loses (it is emptied, or lacks more than `leaseMs` of writes) is lost.
 */
import { hash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClaimId, Claims, Finished } from './claims.ts';
import type { ReplyCipher, StoredReply } from './reply-cipher.ts';
import { leaseMs } from './scripts.lua.ts';
import { type Look, type Waiting, WaitingRoom } from './waiting-room.ts';

export { redisClaims } from './claims.ts';
export type { ReplyCipher, StoredReply } from './reply-cipher.ts';
export type { Waiting } from './waiting-room.ts';

export interface KeyedCall {
  readonly accountId: string;
  readonly path: string;
  /** As the client sent it. */
  readonly key: string;
  /** Of the parsed body (`bodySha256` of the contract). */
  readonly body: string;
}

/** A reply as it lies in Redis. */
export type SealedReply = Buffer;

/** The right to run a call, until `finish` or `free`, of which the first counts. */
export interface Claim {
  /** Whether an earlier call with this key may have run; the client has to be told. */
  readonly mayHaveRun: boolean;
  /**
   * Makes a reply ready to be stored, so that `finish` asks Redis in the turn in which it is called. Never rejects: if it cannot be made
   * ready, the key is given back, the next call is told, and it resolves to null.
   */
  seal(reply: StoredReply): Promise<SealedReply | null>;
  /**
   * Stores the reply, in place of which later calls get it; null if it is too large to be kept: then they are refused
   * with `reference`. Never rejects.
   */
  finish(reply: SealedReply | null, reference: string): Promise<Finished>;
  /** Gives the key back without a reply. `mayHaveRun`: whether the next one has to be told of this call. */
  free(mayHaveRun: boolean): void;
}

export type Found =
  | { readonly is: 'claimed'; readonly claim: Claim }
  | { readonly is: 'replay'; readonly reply: StoredReply }
  /** It has run, and its reply was not kept, or cannot be read. */
  | { readonly is: 'not_kept'; readonly reference: string }
  /** The key stands for another request. */
  | { readonly is: 'reused' }
  /** It runs. `waited` is false if there was no room to wait. */
  | { readonly is: 'running'; readonly waited: boolean }
  /** Nobody can say. */
  | { readonly is: 'unknown' };

export interface IdempotencyOptions {
  readonly claims: Claims;
  readonly cipher: ReplyCipher;
  /** A monotonic clock, ms. */
  readonly now: () => number;
}

interface Held {
  readonly id: ClaimId;
  /** When the key can be used for something new, by the monotonic clock. */
  readonly endsAt: number;
}

const renewEveryMs = leaseMs / 3;
/** How long an orderly end can wait for Redis. */
const freedWithinMs = 1000;
const bytesOf = ({ body }: StoredReply): number => body.reduce((sum, part) => sum + part.length, 0);
const digestOf = ({ accountId, key, path }: KeyedCall): string =>
  hash('sha256', JSON.stringify([accountId, path, key]), 'base64url');
const roomOf = ({ digest, fingerprint }: ClaimId): string => `${digest} ${fingerprint}`;

export class Idempotency {
  readonly #options: IdempotencyOptions;
  readonly #held = new Map<string, Held>();
  /** What Redis is being told of. */
  readonly #telling = new Set<Promise<unknown>>();
  readonly #room = new WaitingRoom<Found>({
    tooLong: (waited) => ({ is: 'running', waited }),
    unclaimed: (found) => found.is === 'claimed' && found.claim.free(false),
    bytesOf: (found) => (found.is === 'replay' ? bytesOf(found.reply) : 0),
  });
  readonly #timer: NodeJS.Timeout;
  /** Names the owners. */
  readonly #name = randomUUID();
  #tries = 0;

  constructor(options: IdempotencyOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#renew(), renewEveryMs);
  }

  /** Never rejects. Without `waiting` a call that runs is the answer at once. */
  async claim(call: KeyedCall, waiting: Waiting | null): Promise<Found> {
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

  /** Tells all who wait that it still runs, so that an orderly end does not wait for others. Claims go on. */
  stopWaiting(): void {
    this.#room.stop();
  }

  /**
   * Gives back what is still held, when nothing goes on here any more: it may have run. Resolves when Redis has heard of it
   * and of what was stored or given back before, or after a while.
   */
  async freeHeld(): Promise<void> {
    for (const { id } of this.#held.values()) void this.#free(id, true);
    this.#held.clear();
    const timeOver = delay(freedWithinMs, undefined, { ref: false });
    await Promise.race([Promise.all(this.#telling), timeOver]);
  }

  /** Ends the renewing: what is still held here ends with its lease. */
  stop(): void {
    clearInterval(this.#timer);
    this.#held.clear();
    this.#room.stop();
  }

  async #ask(asked: Omit<ClaimId, 'owner'>, formerly: string): Promise<Found> {
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
      // It may have been taken all the same, or be about to be: only the answer was late.
      void this.#free(id, false);
      return { is: 'unknown' };
    }
  }

  #claimOf(id: ClaimId, mayHaveRun: boolean): Claim {
    let isOver = false;
    const end = (): Held | null => {
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

  #store({ endsAt, id }: Held, reply: SealedReply | null, reference: string): Promise<Finished> {
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
      // Also where the key's time is over: Redis keeps it while its call runs. What it does not hear of now is said again the next time.
      claims.renew(held.id, leftMs(held, now())).then(
        (isOurs) => isOurs || this.#held.delete(held.id.owner),
        () => undefined,
      );
    }
  }
}

const leftMs = ({ endsAt }: Pick<Held, 'endsAt'>, now: number): number => Math.max(0, Math.ceil(endsAt - now));

function lookOf(found: Found): Look<Found> {
  if (found.is === 'running') return { for: 'nobody' };
  return { for: found.is === 'claimed' ? 'one' : 'all', found };
}
