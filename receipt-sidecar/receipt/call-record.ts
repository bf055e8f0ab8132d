/**
 * The receipt of one call, from "a provider is being asked" to "it is in the ledger".
 *
 * Invariant: a call that reached a provider is recorded exactly once, however it ends.
 */
import type { Amounts } from '@gw/contract/internal/budgets';
import type { SnapshotModel } from '@gw/contract/internal/snapshot';
import type { TelemetryResult } from '@gw/methodology/telemetry/reading';
import type { SaidSoFar } from '../api/port/shape.ts';
import type { ProviderNames } from '../api/provider-errors/provider-error.ts';
import { shapeOf } from '../api/shapes.ts';
import type { Candidate, Catalogue } from '../catalogue/snapshot.ts';
import type { Reservation } from '../guards/budgets/budgets.ts';
import { amountsUsed } from '../guards/budgets/estimate.ts';
import type { Caller } from '../guards/caller.ts';
import { routingTrace } from '../routing/routing-trace.ts';
import type { Books, Recorded } from './books.ts';
import { countCall } from './count.ts';
import type { EndedBy } from './ends.ts';
import {
  type CallIdentity,
  type CallOutcome,
  makeReceipt,
  modelServed,
  notStoredReceipt,
  type ShownReceipt,
  unattendedReceipt,
} from './receipt.ts';
import type { StreamFacts } from './reply-facts.ts';
import { countedReceipt } from './usage-metrics.ts';

type OutcomeFacts = Omit<CallOutcome, 'servedBy' | 'upstreamLatencyS'>;

/** One call: `begin`, then at most one of `finish`, `complete`, `breakOff` and `discard`. */
export class CallRecord {
  readonly identity: CallIdentity;
  readonly #caller: Caller;
  readonly #catalogue: Catalogue;
  readonly #books: Books;
  readonly #reservation: Reservation | null;
  readonly startedAt = performance.now();
  #repliedAt: number | null = null;
  #servedBy: Candidate | null = null;
  /** Null until somebody has answered. */
  #attempts: number | null = null;
  #status = 200;
  #recorded = false;
  #unsaved: string | null = null;

  constructor(
    identity: CallIdentity,
    caller: Caller,
    catalogue: Catalogue,
    books: Books,
    reservation: Reservation | null = null,
  ) {
    this.identity = identity;
    this.#caller = caller;
    this.#catalogue = catalogue;
    this.#books = books;
    this.#reservation = reservation;
  }

  /** The header about budgets; null for none. */
  get budgets(): string | null {
    return this.#reservation?.header ?? null;
  }

  get accountId(): string {
    return this.#caller.accountId;
  }

  /** The entry that no store has taken, as JSON; null if there is none. Known once `saved` has resolved. */
  get unsaved(): string | null {
    return this.#unsaved;
  }

  get recorded(): boolean {
    return this.#recorded;
  }

  /** Stores the receipt as pending. Returns the degraded block that the client gets if this process dies. */
  begin(): string {
    const { identity } = this;
    this.#books.ledger.begin(identity.receiptId, this.#entry(unattendedReceipt(identity, 'pending'), 'null', 'null'));
    return unattendedReceipt(identity, 'complete');
  }

  /** Notes who answered, as Envoy says; null if it does not say. */
  answeredBy(deployment: string | null, attempts: number, status: number): void {
    this.#servedBy = deployment === null ? null : (this.#catalogue.candidate(deployment) ?? null);
    this.#attempts = attempts;
    this.#status = status;
  }

  /** Notes that the provider has finished, and returns when: the time until then is its latency. */
  replied(): number {
    this.#repliedAt = performance.now();
    return this.#repliedAt;
  }

  /** The model of the deployment that answered, or of the first candidate while that is unknown. */
  get #model(): SnapshotModel {
    return modelServed(this.identity.route, this.#servedBy);
  }

  /** The names that the provider that answered uses. */
  get providerNames(): Omit<ProviderNames, 'added'> {
    const { id } = this.#model;
    const { calls, models = {} } = this.#servedBy?.deployment ?? {};
    return { model: models[id] ?? id, fields: calls?.requestFields ?? {} };
  }

  /** The shape in which the deployment that answered reports energy; null if it reports none. */
  get telemetryShape(): string | null {
    return this.#servedBy?.deployment.telemetry ?? null;
  }

  /** Records the call. Throws if it was recorded before. Without `seen` the client gets only the id of the receipt. */
  finish(facts: OutcomeFacts, seen = true): Recorded {
    if (this.#recorded) throw new Error('A call was recorded twice.');
    this.#recorded = true;
    const { identity } = this;
    const servedBy = this.#servedBy;
    const upstreamLatencyS = this.#elapsedS();
    const outcome: CallOutcome = { ...facts, servedBy, upstreamLatencyS };
    const made = makeReceipt(identity, outcome, (error) => this.#books.faults.fault('receipt', error));
    const used = this.#reservation && amountsUsed(made, facts.usage, identity, this.#model, servedBy);
    // First, so that no reader of the ledger knows of the receipt before its budgets do.
    if (used) this.#reservation?.settle(used);
    const trace = this.#trace(made.numbers?.energy_wh ?? null);
    const entry = this.#entry(made.receipt, trace || 'null', made.facts, false, used);
    const wanted: ShownReceipt = { gw: made.receipt, usageGw: made.usageGw };
    const notStored = (): ShownReceipt => {
      const shown = seen ? notStoredReceipt(identity, outcome, made.facts) : wanted;
      this.#unsaved = this.#entry(shown.gw, trace || 'null', made.facts, seen);
      this.#books.ledger.keep(identity.receiptId, this.#unsaved);
      return shown;
    };
    const stored = this.#books.ledger.finish(identity.receiptId, entry);
    const saved = stored.then((is) => {
      this.#books.metrics.made(is ? made.reason : 'receipt_not_stored');
      const isDegraded = !is || made.reason !== null;
      this.#books.live.ended({ status: facts.status, isDegraded, ms: upstreamLatencyS * 1000 });
      this.#books.usageMetrics.count(this.accountId, countedReceipt(identity, outcome, is ? made.numbers : null));
      return is ? wanted : notStored();
    });
    return { ...wanted, routingTrace: trace, counts: facts.usage, saved };
  }

  /** Returns the trace as JSON, or empty text, which leaves it out, if it cannot be made. */
  #trace(energyWh: number | null): string {
    const { createdAt: requestedAt, receiptId, route } = this.identity;
    try {
      const failures = this.#books.failedAttempts.of(receiptId);
      const served = {
        by: this.#servedBy,
        attempts: this.#attempts ?? 0,
        status: this.#status,
        failures,
        requestedAt,
        energyWh,
      };
      return JSON.stringify(routingTrace(route, served));
    } catch (error) {
      this.#books.faults.fault('routing_trace', error);
      return '';
    }
  }

  /** Records a call whose reply came to its end, or to an error in its stream (`failed`). */
  complete(said: SaidSoFar, telemetry: TelemetryResult, failed = false): Recorded {
    const counted = this.#count(said, !failed);
    if (failed) return this.#finishBroken({ status: 'upstream_error', ...counted, telemetry, isCutShort: true });
    return this.finish({ status: 'complete', ...counted, telemetry });
  }

  /** Counts that text came behind the receipt. */
  wentOn(): void {
    this.#books.metrics.wentOn();
  }

  #count(said: SaidSoFar, isWhole: boolean): Pick<CallOutcome, 'usage' | 'unmeasured' | 'explanation'> {
    const { request } = this.identity;
    const contextWindow = this.#model.contextWindow ?? null;
    const counted = countCall(said, { request, contextWindow, elapsedS: this.#elapsedS(), isWhole });
    if (counted.ok) return { usage: counted.value };
    return { usage: null, unmeasured: 'usage_implausible', explanation: counted.error };
  }

  #elapsedS(): number {
    return ((this.#repliedAt ?? performance.now()) - this.startedAt) / 1000;
  }

  /**
   * Records a call that broke off. What was streamed is counted (count.ts); null as `seen` means that nothing is known.
   * Whether the provider stops when its connection is closed nobody knows, so unless the answer was whole already, the
   * receipt says that more may have been generated.
   */
  breakOff(by: 'client' | 'provider', seen: Omit<StreamFacts, 'failed'> | null): Recorded {
    const status = by === 'client' ? 'client_aborted' : 'upstream_error';
    if (seen === null) return this.#finishBroken({ status, usage: null });
    const { isWritten, said, telemetry } = seen;
    return this.#finishBroken({ status, ...this.#count(said, false), telemetry, isCutShort: !isWritten });
  }

  /** Records a call that did not end well as unmeasured, unless it has counts or energy that was read. */
  #finishBroken(facts: OutcomeFacts & { readonly status: 'client_aborted' | 'upstream_error' }): Recorded {
    const { status, telemetry, unmeasured, usage } = facts;
    const isRead = telemetry != null && !('refused' in telemetry);
    const reason = unmeasured ?? (usage === null && !isRead ? (`${status}_unmeasured` as const) : undefined);
    return this.finish({ ...facts, ...(reason && { unmeasured: reason }) }, false);
  }

  /** Settles by Envoy's word what becomes of a call that broke off. Resolves when its receipt is stored, if it makes one. */
  endedBy(by: EndedBy, seen: Omit<StreamFacts, 'failed'> | null): Promise<unknown> | undefined {
    if (by === 'nobody') this.#reservation?.forget();
    else if (this.#recorded) return undefined;
    // Whoever has an answer was asked.
    else if (by === 'unsent' && this.#attempts === null) this.discard(null);
    else return this.breakOff(by === 'provider' ? by : 'client', seen).saved;
    return undefined;
  }

  /** Takes the pending receipt back, because no provider was reached. `status`: of the answer; null: the access log tells it. */
  discard(status: number | null): void {
    if (status !== null) this.#books.live.refused(status);
    this.#recorded = true;
    this.#reservation?.release();
    this.#books.ledger.discard(this.identity.receiptId);
  }

  /** Returns a LedgerEntry, put together from JSON texts. An entry without all numbers carries the reserved amounts. */
  #entry(receipt: string, trace: string, facts: string, shown = false, used: Amounts | null = null): string {
    const isKnown = used !== null && !Object.values(used).includes(null);
    const reserved = isKnown ? undefined : this.#reservation?.estimate;
    const { accountId, keyId } = this.#caller;
    const head = JSON.stringify({ accountId, keyId, endpoint: shapeOf(this.identity.request.endpoint).path });
    const tail = `${reserved === undefined ? '' : `,"reserved":${JSON.stringify(reserved)}`}${shown ? ',"shown":true' : ''}`;
    return `${head.slice(0, -1)},"receipt":${receipt},"routingTrace":${trace},"facts":${facts}${tail}}`;
  }
}
