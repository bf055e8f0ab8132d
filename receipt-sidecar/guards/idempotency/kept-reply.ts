/**
 * The reply of a call that has a claim, on its way into the store.
 *
 * Invariants: what is stored is what the client gets. The last of it goes out, and then the whole goes to the store, two turns of the event
 * loop later: so of a client that has seen the whole, the key gives the same again. Where Envoy went on without us, with a degraded
 * receipt, since this process stood still, the key is free, and the next call is told. The store is not waited for: where it does not take the
 * reply, the key is free when its lease is over (open: it is paid for; the next call is told).
 */
import { setImmediate as untilRead } from 'node:timers/promises';
import { reexecuted, reexecutedHeader } from '@gw/contract/internal/idempotency-key';
import type { Claim, SealedReply } from '@gw/service/idempotency';
import type { IdempotencyMetrics } from './metrics.ts';

/** A larger reply is not kept, and the key stands for its receipt alone. */
export const maxKeptBytes = 2 * 1024 * 1024;

/** Handing out takes two turns of the event loop. A process that took so long for them, ms, stood still, and Envoy may have given up meanwhile. */
const stoodStillMs = 250;

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

  /** Whether the key has neither a reply yet nor been freed. */
  get isOpen(): boolean {
    return !this.#isOver && !this.#isOut;
  }

  /** Adds what the client gets next. */
  add(parts: readonly Buffer[]): void {
    if (this.#isOver || this.#body === null) return;
    for (const part of parts) this.#bytes += part.length;
    if (this.#bytes > maxKeptBytes) this.#body = null;
    else this.#body.push(...parts);
  }

  /** Calls `handOut`, which gives the client the last of what was added, and stores it as the whole. Rejects only if `handOut` throws. */
  async store(contentType: string, handOut: () => void): Promise<void> {
    const sealed = this.#isOver ? null : await this.#sealed(contentType);
    await untilRead();
    const since = performance.now();
    // In between all is read that Envoy had said by then: that it has given up, if this process stood still.
    await untilRead();
    handOut();
    if (this.#isOver) return;
    this.#isOut = true;
    void this.#keep(sealed, since);
  }

  /** `since`: when Envoy still waited. */
  async #keep(sealed: SealedReply | null, since: number): Promise<void> {
    // What was handed out leaves at the end of the turn.
    await untilRead();
    const isLate = performance.now() - since >= stoodStillMs;
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
      ...{ 'content-type': contentType, 'x-gw-receipt-id': this.#receiptId, 'cache-control': 'no-store' },
      // Whoever gets it again has perhaps not seen the first.
      ...(this.mayHaveRun ? { [reexecutedHeader]: reexecuted } : {}),
    };
    return body && this.#claim.seal({ status: 200, headers, body });
  }

  /** Frees the key, because there is no reply that could be stored. Does nothing once the client has it. */
  free(mayHaveRun = true): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#body = null;
    if (!this.#isOut) this.#claim.free(mayHaveRun);
  }
}
