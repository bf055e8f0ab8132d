/**
 * The receipt of one call, from "a provider is being asked" to "it is in the ledger".
 *
 * Invariant: a call that reached a provider is recorded exactly once, however it ends.
 */
import type { SnapshotModel } from '@gw/contract/internal/snapshot';
import type { TelemetryResult } from '@gw/methodology/telemetry/reading';
import { returningFrom } from '../api/behind.ts';
import type { SaidSoFar } from '../api/port/shape.ts';
import type { ProviderNames } from '../api/provider-errors/provider-error.ts';
import type { JudgedReply } from '../attempts/attempt-outcome.ts';
import type { AttemptEnd } from '../attempts/settlement.ts';
import type { Candidate, Catalogue } from '../catalogue/snapshot.ts';
import { amountsUsed } from '../guards/budgets/estimate.ts';
import type { Caller } from '../guards/caller.ts';
import { type ServedCall, traceText } from '../routing/routing-trace.ts';
import type { Books, Recorded } from './books.ts';
import { countCall } from './count.ts';
import { callToCount, type EndOfCall } from './counted-call.ts';
import type { EndedBy } from './ends.ts';
import { entryContent, type StandIn, standInOf } from './entry-content.ts';
import { failedAttemptsMostWh } from './failed-attempts-energy.ts';
import { footprints } from './footprint.ts';
import { type CallIdentity, type CallOutcome, makeReceipt, modelServed, notStoredReceipt } from './receipt.ts';
import type { StreamFacts } from './reply-facts.ts';
import { type HeldByCall, nothingHeld, release, settleCall } from './settle-call.ts';
import { type ShownReceipt, shownReceipt } from './shown-receipt.ts';
import { countedReceipt } from './usage-metrics.ts';

type OutcomeFacts = Omit<CallOutcome, 'servedBy' | 'upstreamLatencyS' | 'failedAttemptsMostWh'>;

/** One call: `begin`, then at most one of `finish`, `complete`, `breakOff` and `discard`. */
export class CallRecord {
  readonly identity: CallIdentity;
  readonly #caller: Caller;
  readonly #catalogue: Catalogue;
  readonly #books: Books;
  readonly #held: HeldByCall;
  readonly startedAt = performance.now();
  #repliedAt: number | null = null;
  #servedBy: Candidate | null = null;
  /** Null until somebody has answered. */
  #attempts: number | null = null;
  /** The head of the reply, as far as it tells about the deployment. */
  #reply: Pick<JudgedReply, 'fault' | 'status'> = { fault: null, status: 200 };
  /** How the last attempt ended, where the head of the reply says it; null while an answer may follow. */
  #end: AttemptEnd | null = null;
  #recorded = false;
  #unsaved: Buffer | null = null;

  constructor(
    identity: CallIdentity,
    caller: Caller,
    catalogue: Catalogue,
    books: Books,
    held: HeldByCall = nothingHeld,
  ) {
    this.identity = identity;
    this.#caller = caller;
    this.#catalogue = catalogue;
    this.#books = books;
    this.#held = held;
  }

  /** The header about budgets; null for none. */
  get budgets(): string | null {
    return this.#held.reservation?.header ?? null;
  }

  get accountId(): string {
    return this.#caller.accountId;
  }

  /** The entry that no store has taken; null if there is none. Known once `saved` has resolved. */
  get unsaved(): Buffer | null {
    return this.#unsaved;
  }

  get recorded(): boolean {
    return this.#recorded;
  }

  /** Stores the receipt as pending. Returns what stands in for it if this process dies. */
  begin(): StandIn {
    const { identity } = this;
    const { ledger, sealer } = this.#books;
    const [standIn, pending] = standInOf(sealer, this.#caller, identity, this.#held.reservation?.assumed ?? null);
    ledger.begin(identity.receiptId, pending);
    return standIn;
  }

  /** Notes who answered, as Envoy says, and how; null if it does not say. */
  answeredBy(
    deployment: string | null,
    attempts: number,
    { fault, status }: Pick<JudgedReply, 'fault' | 'status'>,
    end: AttemptEnd | null,
  ): void {
    this.#servedBy = deployment === null ? null : (this.#catalogue.candidate(deployment) ?? null);
    this.#attempts = attempts;
    this.#reply = { fault, status };
    this.#end = end;
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

  /** The deployment that answered; null if it is unknown. */
  get servedBy(): Candidate['deployment'] | null {
    return this.#servedBy?.deployment ?? null;
  }

  /** Records the call, once. `end` holds unless the head of the reply has said it. Without `seen` the client gets only the id of the receipt. */
  finish(facts: OutcomeFacts, end: AttemptEnd, seen = true): Recorded {
    if (this.#recorded) throw new Error('A call was recorded twice.');
    this.#recorded = true;
    const { identity } = this;
    const servedBy = this.#servedBy;
    const upstreamLatencyS = this.#elapsedS();
    const failures = this.#books.failedAttempts.of(identity.receiptId);
    const onFault = (error: unknown) => this.#books.faults.fault('receipt', error);
    const failedWh = failedAttemptsMostWh(identity, { servedBy, attempts: this.#attempts, failures }, onFault);
    const outcome: CallOutcome = { ...facts, servedBy, upstreamLatencyS, failedAttemptsMostWh: failedWh };
    const made = makeReceipt(identity, outcome, onFault);
    // First, so that no reader of the ledger knows of the receipt before its budgets do.
    const used = () => amountsUsed(made, facts.usage, identity, this.#model, servedBy);
    const settled = settleCall(this.#held, { used, usage: facts.usage }, this.#end ?? end);
    const returning = returningFrom(identity.request, this.servedBy);
    const served: ServedCall = {
      by: servedBy,
      ...(returning && { translation: { api: returning.api, left_out: [...returning.terms.left] } }),
      attempts: this.#attempts ?? 0,
      ...this.#reply,
      failures,
      requestedAt: identity.createdAt,
      ...footprints(identity, outcome, made.numbers),
    };
    const trace = traceText(identity.route, served, (error) => this.#books.faults.fault('routing_trace', error));
    const texts = { receipt: made.receipt, trace, facts: made.facts, assumed: settled.assumed };
    const { sealer } = this.#books;
    const sealed = (state: 'made' | 'shown', stated = texts, numbers = made.numbers) =>
      sealer.seal(entryContent(this.#caller, identity, { outcome, numbers }, stated), state);
    const entry = sealed('made');
    const wanted = shownReceipt(identity, outcome, made);
    const notStored = (): ShownReceipt => {
      const shown = seen ? notStoredReceipt(identity, outcome, made.facts) : made;
      // The receipt has no numbers yet, although they are known.
      const counted = { ...texts, receipt: shown.receipt, assumed: settled.counted };
      this.#unsaved = seen ? sealed('shown', counted, null) : sealed('made', counted);
      this.#books.ledger.keep(identity.receiptId, this.#unsaved);
      return shownReceipt(identity, outcome, shown);
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

  /** Records a call whose reply came to its end, or to an error in its stream (`failed`). `answerDigest`: of what its client gets. */
  complete(said: SaidSoFar, telemetry: TelemetryResult, failed = false, answerDigest: string | null = null): Recorded {
    const counted = this.#count(said, { isWhole: !failed, isCutShort: failed });
    const isNothing = counted.usage === null && counted.unmeasured === undefined && said.otherBytes === 0;
    if (failed)
      return this.#finishBroken(
        { status: 'upstream_error', ...counted, telemetry, isCutShort: true },
        isNothing ? 'error_reply' : 'answered',
      );
    const facts = { status: 'complete', ...counted, telemetry, answerDigest: answerDigest ?? null } as const;
    return this.finish(facts, isNothing ? 'nothing_generated' : 'answered');
  }

  /** Counts that text came behind the receipt. */
  wentOn(): void {
    this.#books.metrics.wentOn();
  }

  #count(said: SaidSoFar, end: Omit<EndOfCall, 'elapsedS'>): Pick<CallOutcome, 'usage' | 'unmeasured' | 'explanation'> {
    const counted = countCall(said, callToCount(this.identity, this.#servedBy, { ...end, elapsedS: this.#elapsedS() }));
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
  breakOff(
    by: 'client' | 'provider',
    seen: Omit<StreamFacts, 'failed'> | null,
    end: AttemptEnd = by === 'client' ? 'client_left' : 'cut_off',
  ): Recorded {
    const status = by === 'client' ? 'client_aborted' : 'upstream_error';
    if (seen === null) return this.#finishBroken({ status, usage: null }, end);
    const { isWritten, said, telemetry } = seen;
    const counted = this.#count(said, { isWhole: false, isCutShort: !isWritten });
    return this.#finishBroken({ status, ...counted, telemetry, isCutShort: !isWritten }, end);
  }

  /** Records a call that did not end well as unmeasured, unless it has counts or energy that was read. */
  #finishBroken(
    facts: OutcomeFacts & { readonly status: 'client_aborted' | 'upstream_error' },
    end: AttemptEnd,
  ): Recorded {
    const { status, telemetry, unmeasured, usage } = facts;
    const isRead = telemetry != null && !('refused' in telemetry);
    const reason = unmeasured ?? (usage === null && !isRead ? (`${status}_unmeasured` as const) : undefined);
    return this.finish({ ...facts, ...(reason && { unmeasured: reason }) }, end, false);
  }

  /** Settles by Envoy's word what becomes of a call that broke off. Resolves when its receipt is stored, if it makes one. */
  endedBy(by: EndedBy, seen: Omit<StreamFacts, 'failed'> | null): Promise<unknown> | undefined {
    if (by === 'nobody') this.#held.reservation?.forget();
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
    release(this.#held);
    this.#books.ledger.discard(this.identity.receiptId);
  }
}
