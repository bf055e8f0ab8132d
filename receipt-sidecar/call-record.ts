/**
 * The receipt of one call, from "a provider is being asked" to "it is in the ledger".
 *
 * Invariant: a call that reached a provider is recorded exactly once, however it ends.
 */
import type { LedgerWriter } from './ledger/writer.ts';
import type { Caller } from './messages.ts';
import { type CallIdentity, makeReceipt, type Outcome, unattendedReceipt } from './receipt.ts';
import { estimatePromptTokens } from './request/estimate.ts';
import type { StreamFacts } from './response/event-stream.ts';
import { routingTrace } from './routing-trace.ts';
import type { Catalogue } from './snapshot.ts';

export interface Recorded {
  /** JSON texts of the receipt and the trace, as the client sees them. */
  readonly gw: string;
  readonly routingTrace: string;
  /** Resolves when the receipt is safe. Never rejects. */
  readonly saved: Promise<void>;
}

export type OutcomeFacts = Pick<Outcome, 'status' | 'usage' | 'usageSource'> & Pick<Partial<Outcome>, 'unmeasured'>;

const path = { chat: '/v1/chat/completions', completions: '/v1/completions', embeddings: '/v1/embeddings' } as const;

export class CallRecord {
  readonly identity: CallIdentity;
  readonly #caller: Caller;
  readonly #catalogue: Catalogue;
  readonly #ledger: LedgerWriter;
  readonly #startedAt = performance.now();
  #servedBy: string | null = null;
  #attempts = 0;
  #recorded = false;

  constructor(identity: CallIdentity, caller: Caller, catalogue: Catalogue, ledger: LedgerWriter) {
    this.identity = identity;
    this.#caller = caller;
    this.#catalogue = catalogue;
    this.#ledger = ledger;
  }

  get recorded(): boolean {
    return this.#recorded;
  }

  /** Stores the receipt as pending. Returns the degraded block that the client gets if this process dies. */
  begin(): string {
    const { identity } = this;
    this.#ledger.begin(identity.receiptId, this.#entry(unattendedReceipt(identity, 'pending'), 'null', 'null'));
    return unattendedReceipt(identity, 'complete');
  }

  /** Envoy's word on who answered. */
  answeredBy(deployment: string | null, attempts: number): void {
    this.#servedBy = deployment;
    this.#attempts = attempts;
  }

  finish(facts: OutcomeFacts): Recorded {
    if (this.#recorded) throw new Error('A call was recorded twice.');
    this.#recorded = true;
    const { identity } = this;
    const servedBy = this.#servedBy === null ? null : (this.#catalogue.candidate(this.#servedBy) ?? null);
    const outcome: Outcome = { ...facts, servedBy, upstreamLatencyS: (performance.now() - this.#startedAt) / 1000 };
    const made = makeReceipt(identity, outcome);
    const trace = JSON.stringify(routingTrace(identity.route, servedBy, this.#attempts, identity.createdAt));
    const entry = this.#entry(made.receipt, trace, made.facts);
    return { gw: made.receipt, routingTrace: trace, saved: this.#ledger.finish(identity.receiptId, entry) };
  }

  /** The call broke off. What was streamed counts by the provider's word or else by estimate; of JSON nothing is known. */
  breakOff(by: 'client' | 'provider', seen: Pick<StreamFacts, 'usage' | 'contentEvents'> | null): Recorded {
    const status = by === 'client' ? 'client_aborted' : 'upstream_error';
    if (seen === null) {
      const unmeasured = by === 'client' ? 'client_aborted_unmeasured' : 'upstream_error_unmeasured';
      return this.finish({ status, usage: null, usageSource: null, unmeasured });
    }
    if (seen.usage) return this.finish({ status, usage: seen.usage, usageSource: 'provider' });
    return this.finish({ status, usage: this.estimate(seen.contentEvents), usageSource: 'estimated' });
  }

  /** No provider was reached after all: there is nothing to account for. */
  discard(): void {
    this.#recorded = true;
    this.#ledger.discard(this.identity.receiptId);
  }

  estimate(contentEvents: number) {
    const promptTokens = estimatePromptTokens(this.identity.request.body);
    return { promptTokens, cachedPromptTokens: 0, completionTokens: contentEvents };
  }

  /** A LedgerEntry; put together from JSON texts. */
  #entry(receipt: string, trace: string, facts: string): string {
    const { accountId, keyId } = this.#caller;
    const head = JSON.stringify({ accountId, keyId, endpoint: path[this.identity.request.endpoint] });
    return `${head.slice(0, -1)},"receipt":${receipt},"routingTrace":${trace},"facts":${facts}}`;
  }
}
