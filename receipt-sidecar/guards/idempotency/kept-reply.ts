/**
 * Collects the reply of a call that has a claim and stores it under the idempotency key.
 *
 * Invariants: the stored reply is what the client gets. The last part goes out first, and two turns of the event loop later the whole goes to
 * the store, so a client that has seen the whole reply gets the same one again by its key. If this process stalled and Envoy finished the
 * reply without it, with a degraded receipt, the key is freed and the next call is told. Nothing waits for the store: if that does not take
 * the reply, the key is free when its lease expires (fail-open, since the reply is paid for; the next call is told).
 */
import { setImmediate as untilRead } from 'node:timers/promises';
import { reexecuted, reexecutedHeader } from '@gw/contract/internal/idempotency-key';
import type { Claim, SealedReply } from '@gw/service/idempotency';
import type { IdempotencyMetrics } from './metrics.ts';

/** A larger reply is not kept; its key then only leads to the receipt. */
export const maxKeptBytes = 2 * 1024 * 1024;

/** If the two turns of the event loop take this long, the process stalled, and Envoy may have given up meanwhile. */
const stallMs = 250;

export class KeptReply {
  readonly #claim: Claim;
  readonly #receiptId: string;
  readonly #metrics: Pick<IdempotencyMetrics, 'ended'>;
  #body: Buffer[] | null = [];
  #bytes = 0;
  #isOver = false;
  #isOut = false;

  constructor(claim: Claim, receiptId: string, metrics: Pick<IdempotencyMetrics, 'ended'>) {
    this.#claim = claim;
    this.#receiptId = receiptId;
    this.#metrics = metrics;
  }

  /** Whether an earlier call with the key may have run. */
  get mayHaveRun(): boolean {
    return this.#claim.mayHaveRun;
  }

  /** Whether the key neither has a reply nor has been freed. */
  get isOpen(): boolean {
    return !this.#isOver && !this.#isOut;
  }

  add(parts: readonly Buffer[]): void {
    if (this.#isOver || this.#body === null) return;
    for (const part of parts) this.#bytes += part.length;
    if (this.#bytes > maxKeptBytes) this.#body = null;
    else this.#body.push(...parts);
  }

  /** Calls `handOut`, which sends the client the last part, and then stores the reply. Rejects only if `handOut` throws. */
  async store(contentType: string, handOut: () => void): Promise<void> {
    const sealed = this.#isOver ? null : await this.#sealed(contentType);
    await untilRead();
    const since = performance.now();
    // This turn reads what Envoy has sent by now, for example that it gave up while this process stalled.
    await untilRead();
    handOut();
    if (this.#isOver) return;
    this.#isOut = true;
    void this.#keep(sealed, since);
  }

  /** `since`: a time at which Envoy still waited. */
  async #keep(sealed: SealedReply | null, since: number): Promise<void> {
    // The last part leaves at the end of the turn.
    await untilRead();
    const isLate = performance.now() - since >= stallMs;
    if (isLate) await untilRead();
    const hasGivenUp = isLate && this.#isOver;
    this.#isOver = true;
    if (hasGivenUp) return this.#claim.free(true);
    const end = await this.#claim.finish(sealed, this.#receiptId);
    this.#metrics.ended(end === 'not_kept' ? (sealed ? 'over_quota' : 'too_large') : end);
  }

  #sealed(contentType: string): Promise<SealedReply | null> | null {
    const body = this.#body;
    this.#body = null;
    const headers = {
      'content-type': contentType,
      'x-gw-receipt-id': this.#receiptId,
      'cache-control': 'no-store',
      // A client that gets the replay may not have seen the first reply.
      ...(this.mayHaveRun ? { [reexecutedHeader]: reexecuted } : {}),
    };
    return body && this.#claim.seal({ status: 200, headers, body });
  }

  /** Frees the key, because there is no reply to store. Does nothing once the client has the reply. */
  free(mayHaveRun = true): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#body = null;
    if (!this.#isOut) this.#claim.free(mayHaveRun);
  }
}
