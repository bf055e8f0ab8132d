/**
 * Puts a receipt together: the identity of the call from here, the numbers from the methodology package.
 *
 * Invariant: making a receipt never fails. Whatever is missing gives a degraded receipt with its reason.
 *
 * Receipts are made as JSON text in two parts, since that is how they leave (to the client and to the ledger), and one
 * object of 50 fields costs more than all of the arithmetic.
 */
import { degradedDefinitions } from '@gw/contract/degraded-reasons';
import type { SnapshotModel } from '@gw/contract/internal/snapshot';
import type { DegradedReason, Receipt, ReceiptHead, ReceiptNumbers, UsageReceipt } from '@gw/contract/receipt';
import { receiptCounts } from '@gw/contract/receipt-counts';
import { unknownNumbers } from '@gw/contract/unknown-numbers';
import { assess, type CallFacts, type TokenUsage } from '@gw/methodology/assess';
import type { TelemetryResult } from '@gw/methodology/telemetry/reading';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import { apiOf } from '../api/shapes.ts';
import type { Candidate } from '../catalogue/snapshot.ts';
import type { Route } from '../routing/route.ts';
import type { UsageAdditions } from '../wire/json-body.ts';
import { gridStated } from './known-grid.ts';
import { digestOfCall, factsText } from './receipt-facts.ts';
import { type MirroredNumbers, usageImpacts } from './usage-impacts.ts';

/** The facts of a call before its provider answers. */
export interface CallIdentity {
  readonly receiptId: string;
  readonly createdAt: string;
  readonly requestId: string | null;
  readonly request: ParsedRequest;
  readonly route: Route;
  /** The project that is charged; null if none is named. */
  readonly project: string | null;
  /** Whether the account has asked for `usage.impacts` in its replies; absent: it has not. */
  readonly usageImpacts?: boolean;
}

/** How a call ended. */
export interface CallOutcome {
  readonly status: 'complete' | 'client_aborted' | 'upstream_error';
  /** Where it was served; null if that is not known. */
  readonly servedBy: Candidate | null;
  /** Null if it is not known how many tokens were read and written. */
  readonly usage: TokenUsage | null;
  /** How long the provider took. */
  readonly upstreamLatencyS: number | null;
  /** The energy that the provider reported, or the refusal of what it said; absent or null if it said nothing. */
  readonly telemetry?: TelemetryResult;
  /** Whether the reply broke off before the answer was whole; absent: it did not. */
  readonly isCutShort?: boolean;
  /** Wh: as `CallFacts.failedAttemptsMostWh`. */
  readonly failedAttemptsMostWh?: number | null | undefined;
  /** The digest of the answer that the client gets; absent or null: the receipt is bound to none. */
  readonly answerDigest?: string | null;
  /** Why the receipt is degraded, if there is nothing to measure by. */
  readonly unmeasured?: DegradedReason;
  /** Replaces the explanation in the definition of `unmeasured`. */
  readonly explanation?: string;
}

/** Returns the model that answered; the one that was asked first where nobody knows who did. */
export const modelServed = ({ model, modelOf }: Route, servedBy: Candidate | null): SnapshotModel =>
  servedBy ? modelOf(servedBy) : model;

/** Returns the members that say who called, when and where. */
function receiptHead(
  call: CallIdentity,
  outcome: Pick<CallOutcome, 'answerDigest' | 'servedBy' | 'usage'> & { status: Receipt['status'] },
): string {
  const head: ReceiptHead = {
    id: call.receiptId,
    object: 'gw.receipt',
    version: 1,
    supersedes: null,
    created_at: call.createdAt,
    request_id: call.requestId,
    status: outcome.status,
    requested_tier: call.request.options.tier ?? 'auto',
    model: modelServed(call.route, outcome.servedBy).id,
    provider: outcome.servedBy?.deployment.provider ?? null,
    region: outcome.servedBy?.region.code ?? null,
    pinned_region: call.request.options.region ?? null,
    api: apiOf(call.request.endpoint),
    usage_source: usageSource(outcome.usage),
    ...simulatedBy(outcome.servedBy),
    project: call.project,
    request_digest: bindingOf(call, outcome)?.requestDigest ?? null,
    answer_digest: outcome.answerDigest ?? null,
  };
  return JSON.stringify(head);
}

/** Returns what binds a receipt; undefined where that has no answer. */
export const bindingOf = ({ request }: CallIdentity, { answerDigest }: Pick<CallOutcome, 'answerDigest'>) =>
  answerDigest ? request.binding : undefined;

/** Only the kind of the provider decides, never the words of a client, a provider or a catalogue entry. */
export const simulatedBy = (servedBy: Candidate | null): Pick<CallFacts, 'simulated'> =>
  servedBy?.deployment.simulated ? { simulated: true } : {};

/** Returns `estimated` even if only one of the counts is estimated. */
const usageSource = (usage: TokenUsage | null): Receipt['usage_source'] =>
  usage === null ? null : usage.estimated ? 'estimated' : 'provider';

const join = (head: string, tail: string): string => `${head.slice(0, -1)},${tail.slice(1)}`;

interface DegradedDetails {
  /** Whether the facts of the call are stored with the receipt. */
  readonly hasFacts: boolean;
  readonly explanation?: string;
}

/** `createdAt`: null where nobody knows who answered. */
function degradedTail(
  boundary: Receipt['boundary'],
  createdAt: string | null,
  outcome: Pick<CallOutcome, 'failedAttemptsMostWh' | 'servedBy' | 'usage'>,
  reason: DegradedReason,
  { hasFacts, explanation = degradedDefinitions[reason].explanation }: DegradedDetails,
): string {
  const { failedAttemptsMostWh: most = 0, servedBy, usage } = outcome;
  const failed = { energy_failed_attempts_wh: most === 0 ? 0 : null, energy_failed_attempts_high_wh: most };
  const grid = servedBy === null || createdAt === null ? null : gridStated(servedBy, createdAt);
  const tail: ReceiptNumbers = {
    tier: 'degraded',
    tier_reason: null,
    boundary,
    boundary_excludes: [],
    grid_zone: servedBy?.region.gridZone ?? null,
    ...receiptCounts(usage),
    ...unknownNumbers,
    ...grid,
    ...(createdAt !== null && failed),
    degraded_reason: reason,
    explanation,
    recalculable: degradedDefinitions[reason].recalculable && usage !== null && hasFacts,
  };
  return JSON.stringify(tail);
}

export const boundaryOf = (call: CallIdentity): Receipt['boundary'] => call.request.options.boundary ?? 'comprehensive';

function degraded(call: CallIdentity, outcome: CallOutcome, reason: DegradedReason, details: DegradedDetails): string {
  return join(receiptHead(call, outcome), degradedTail(boundaryOf(call), call.createdAt, outcome, reason, details));
}

const nothingKnown = { servedBy: null, usage: null } as const;
/** How a call counts that its sidecar does not finish. */
export const unattended = { ...nothingKnown, status: 'complete' } as const;
const unattendedTails = {
  comprehensive: degradedTail('comprehensive', null, nothingKnown, 'sidecar_unavailable', { hasFacts: false }),
  narrow: degradedTail('narrow', null, nothingKnown, 'sidecar_unavailable', { hasFacts: false }),
};

/** Returns as JSON what the client gets if this process dies. */
export const unattendedReceipt = (call: CallIdentity): string =>
  join(receiptHead(call, unattended), unattendedTails[boundaryOf(call)]);

/** Returns everything that the numbers depend on. It is stored with the receipt, so that they can be made again. */
export function callFacts(call: CallIdentity, outcome: CallOutcome, servedBy: Candidate): CallFacts {
  const facts: CallFacts = {
    requestedTier: call.request.options.tier ?? 'auto',
    boundary: boundaryOf(call),
    requestedAt: call.createdAt,
    usage: outcome.usage,
    upstreamLatencyS: outcome.upstreamLatencyS,
    model: modelServed(call.route, servedBy),
    site: servedBy.deployment,
    grid: servedBy.gridAt(new Date(call.createdAt)),
    ...(outcome.isCutShort && { isCutShort: true }),
    ...(outcome.failedAttemptsMostWh !== undefined && { failedAttemptsMostWh: outcome.failedAttemptsMostWh }),
    ...simulatedBy(servedBy),
  };
  if (outcome.telemetry) return { ...facts, telemetry: outcome.telemetry };
  return waitsForCounters(facts, servedBy) ? { ...facts, telemetryFollows: true } : facts;
}

/** Whether a version with measured energy follows, which the control plane makes when GPU counters are scraped. */
const waitsForCounters = ({ requestedTier, usage }: CallFacts, { deployment }: Candidate): boolean =>
  deployment.telemetry === 'gpu_counters' &&
  usage !== null &&
  (requestedTier === 'auto' || requestedTier === 'telemetry');

/** A receipt of the first version, with what it was made from. */
export interface MadeReceipt {
  /** The receipt as JSON. */
  readonly receipt: string;
  /** The part of it in the `usage` of the reply. */
  readonly inUsage: UsageAdditions;
  /** The facts behind it as JSON; null if there are none. */
  readonly facts: string | null;
  /** Null if it has numbers. */
  readonly reason: DegradedReason | null;
  /** Null if it has none. */
  readonly numbers: ReceiptNumbers | null;
}

/**
 * Makes the receipt and the facts behind it. Never throws: an error of the program makes a degraded receipt, and is given to
 * `onFault`.
 */
export function makeReceipt(call: CallIdentity, outcome: CallOutcome, onFault: (error: unknown) => void): MadeReceipt {
  // Fail open: the completion is paid for. What is known of the call is stored for a recalculation.
  let facts: string | null = null;
  const degradedBy = (reason: DegradedReason, explanation?: string): MadeReceipt => {
    const details = { hasFacts: facts !== null, ...(explanation !== undefined && { explanation }) };
    const receipt = degraded(call, outcome, reason, details);
    return { receipt, inUsage: inUsage(call, unknownNumbers), facts, reason, numbers: null };
  };
  try {
    const { explanation, servedBy, unmeasured } = outcome;
    if (!servedBy) return degradedBy(unmeasured ?? 'calculator_fault', explanation);
    const known = callFacts(call, outcome, servedBy);
    facts = factsText(known);
    if (unmeasured) return degradedBy(unmeasured, explanation);
    const assessment = assess(known);
    if (!assessment.ok) return degradedBy(assessment.reason, assessment.explanation);
    const { impact } = assessment;
    const pinned = call.request.options.region ?? null;
    const stated = {
      id: call.receiptId,
      version: 1,
      created_at: call.createdAt,
      model: modelServed(call.route, servedBy).id,
      provider: servedBy.deployment.provider,
      region: servedBy.region.code,
      deployment: servedBy.deployment.id,
      ...(pinned !== null && { pinned_region: pinned }),
      api: apiOf(call.request.endpoint),
      ...(call.project !== null && { project: call.project }),
    };
    const tail: ReceiptNumbers = Object.assign(impact, {
      lineage_digest: digestOfCall(stated, known, impact.methodology_hash),
    });
    const receipt = join(receiptHead(call, outcome), JSON.stringify(tail));
    return { receipt, inUsage: inUsage(call, tail), facts, reason: null, numbers: tail };
  } catch (error) {
    onFault(error);
    return degradedBy('calculator_fault');
  }
}

/** Returns what the client gets instead of a receipt that no store took in time. `facts` are those of that receipt. */
export function notStoredReceipt(call: CallIdentity, outcome: CallOutcome, facts: string | null) {
  const receipt = degraded(call, outcome, 'receipt_not_stored', { hasFacts: facts !== null });
  return { receipt, inUsage: inUsage(call, unknownNumbers) };
}

/** The few numbers that stand in the `usage` of a reply, for frameworks that keep nothing else of it. */
function inUsage(call: CallIdentity, numbers: MirroredNumbers): UsageAdditions {
  const { carbon_g, energy_wh } = numbers;
  const usageGw = JSON.stringify({ receipt_id: call.receiptId, energy_wh, carbon_g } satisfies UsageReceipt);
  if (!call.usageImpacts) return { usageGw };
  const impacts = usageImpacts(numbers);
  return { usageGw, usageImpacts: impacts && JSON.stringify(impacts) };
}
