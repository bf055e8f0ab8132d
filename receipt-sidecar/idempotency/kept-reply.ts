/**
 * The reply of a call that has a claim, on its way into the store.
 *
 * Invariants: what is stored is what the client gets, and it is stored before the last of that goes out, so that a client
 * that has seen the whole of it gets it again. A reply is never held up for long: where the store does not take it in
 * time, it goes out, and the key is free when its lease is over (open: it is paid for; the next call is told).
 */
import { reexecuted, reexecutedHeader } from '@gw/contract/internal/idempotency-key';
import type { Claim } from '@gw/service/idempotency';
import { succeedsWithin } from '../ledger/bounded.ts';
import type { IdempotencyMetrics } from './metrics.ts';

/** A larger reply is not kept, and the key stands for its receipt alone. */
export const maxKeptBytes = 2 * 1024 * 1024;
const patienceMs = 250;

export class KeptReply {
  readonly #claim: Claim;
  readonly #receiptId: string;
  readonly #metrics: Pick<IdempotencyMetrics, 'ended'>;
  #body: Buffer[] | null = [];
  #bytes = 0;
  #isOver = false;

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
    return !this.#isOver;
  }

  /** Adds what the client gets next. */
  add(parts: readonly Buffer[]): void {
    if (this.#isOver || this.#body === null) return;
    for (const part of parts) this.#bytes += part.length;
    if (this.#bytes > maxKeptBytes) this.#body = null;
    else this.#body.push(...parts);
  }

  /** Stores what was added, as the whole. Resolves when it is stored or took too long; never rejects. */
  async store(contentType: string): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const headers = {
      ...{ 'content-type': contentType, 'x-gw-receipt-id': this.#receiptId, 'cache-control': 'no-store' },
      // Whoever gets it again has perhaps not seen the first.
      ...(this.mayHaveRun ? { [reexecutedHeader]: reexecuted } : {}),
    };
    const reply = this.#body && { status: 200, headers, body: this.#body };
    this.#body = null;
    const stored = this.#claim.finish(reply, this.#receiptId).then((end) => {
      this.#metrics.ended(end === 'not_kept' ? (reply ? 'over_quota' : 'too_large') : end);
    });
    await succeedsWithin(stored, { leftMs: patienceMs });
  }

  /** Frees the key, because there is no reply that could be stored. Does nothing once it is stored. */
  free(mayHaveRun = true): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#body = null;
    this.#claim.free(mayHaveRun);
  }
}
