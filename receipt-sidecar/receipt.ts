/**
 * Puts a receipt together: the identity of the call from here, the numbers from the methodology package.
 *
 * Invariant: making a receipt never fails. Whatever is missing gives a degraded receipt with its reason.
 *
 * Receipts are made as JSON text in two parts, since that is how they leave (to the client and to the ledger), and one
 * object of 50 fields costs more than all of the arithmetic.
 */
import { randomBytes } from 'node:crypto';
import type { DegradedReason, Receipt } from '@gw/contract/receipt';
import { assess, type CallFacts } from '@gw/methodology/assess';
import type { ParsedRequest } from './request/parse.ts';
import type { Candidate, Route } from './request/route.ts';

export interface Usage {
  readonly promptTokens: number;
  readonly cachedPromptTokens: number;
  readonly completionTokens: number;
}

/** What is known of a call before its provider answers. */
export interface CallIdentity {
  readonly receiptId: string;
  readonly createdAt: string;
  readonly requestId: string | null;
  readonly request: ParsedRequest;
  readonly route: Route;
}

/** How a call ended. */
export interface Outcome {
  readonly status: 'complete' | 'client_aborted' | 'upstream_error';
  /** Where it was served; null if nobody knows. */
  readonly servedBy: Candidate | null;
  readonly usage: Usage | null;
  readonly usageSource: 'provider' | 'estimated' | null;
  /** Time the provider took, seconds: caps the generation time. */
  readonly upstreamLatencyS: number | null;
  /** Set when there is nothing to measure by. */
  readonly unmeasured?: DegradedReason;
}

/** UUIDv7: the time in its first 48 bits is the receipt's `created_at`. */
export function newReceiptId(nowMs: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString('hex');
  return `rcpt_${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const explanations: Partial<Record<DegradedReason, string>> = {
  sidecar_unavailable: 'The part that makes receipts did not finish. The completion is not affected.',
  client_aborted_unmeasured: 'The client went away before the provider had reported how much was generated.',
  upstream_error_unmeasured: 'The provider failed, so nothing is known of the energy that it spent.',
};

/** Degradations that a later look at stored facts can mend. */
const recalculable: ReadonlySet<DegradedReason> = new Set([
  'model_parameters_unknown',
  'no_embedding_factor',
  'grid_intensity_missing',
  'tier_unavailable',
  'calculator_fault',
]);

/** Who, when, where: known here. */
type ReceiptHead = Pick<
  Receipt,
  | 'id'
  | 'object'
  | 'version'
  | 'supersedes'
  | 'created_at'
  | 'request_id'
  | 'status'
  | 'requested_tier'
  | 'model'
  | 'provider'
  | 'region'
  | 'usage_source'
>;
/** The numbers, or why there are none. */
type ReceiptTail = Omit<Receipt, keyof ReceiptHead>;

function receiptHead(
  call: CallIdentity,
  outcome: Pick<Outcome, 'servedBy' | 'usageSource'> & { status: Receipt['status'] },
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
    model: call.route.model.id,
    provider: outcome.servedBy?.deployment.provider ?? null,
    region: outcome.servedBy?.region.code ?? null,
    usage_source: outcome.usageSource,
  };
  return JSON.stringify(head);
}

const join = (head: string, tail: string): string => `${head.slice(0, -1)},${tail.slice(1)}`;

function degradedTail(
  boundary: Receipt['boundary'],
  outcome: Pick<Outcome, 'servedBy' | 'usage'>,
  reason: DegradedReason,
  explanation: string,
): string {
  const { servedBy, usage } = outcome;
  const tail: ReceiptTail = {
    tier: 'degraded',
    tier_reason: null,
    boundary,
    boundary_excludes: [],
    grid_zone: servedBy?.region.gridZone ?? null,
    prompt_tokens: usage?.promptTokens ?? null,
    completion_tokens: usage?.completionTokens ?? null,
    energy_wh: null,
    energy_accelerator_wh: null,
    energy_host_wh: null,
    energy_idle_wh: null,
    energy_overhead_wh: null,
    energy_low_wh: null,
    energy_high_wh: null,
    energy_split: null,
    energy_failed_attempts_wh: null,
    carbon_g: null,
    carbon_operation_g: null,
    carbon_embodied_g: null,
    carbon_low_g: null,
    carbon_high_g: null,
    sci_g_per_request: null,
    water_ml: null,
    uncertainty_basis: null,
    pue: null,
    grid_intensity_g_per_kwh: null,
    grid_intensity_source: null,
    grid_intensity_observed_at: null,
    grid_intensity_requested_at: null,
    grid_intensity_age_minutes: null,
    grid_temporal_match: 'none',
    methodology: null,
    methodology_version: null,
    methodology_hash: null,
    degraded_reason: reason,
    explanation,
    recalculable: recalculable.has(reason) && usage !== null,
  };
  return JSON.stringify(tail);
}

const boundaryOf = (call: CallIdentity): Receipt['boundary'] => call.request.options.boundary ?? 'comprehensive';

function degraded(
  call: CallIdentity,
  outcome: Outcome,
  reason: DegradedReason,
  explanation = explanations[reason] ?? '',
): string {
  return join(receiptHead(call, outcome), degradedTail(boundaryOf(call), outcome, reason, explanation));
}

const nothingKnown = { servedBy: null, usage: null, usageSource: null } as const;
const unattendedTails = {
  comprehensive: degradedTail(
    'comprehensive',
    nothingKnown,
    'sidecar_unavailable',
    explanations.sidecar_unavailable ?? '',
  ),
  narrow: degradedTail('narrow', nothingKnown, 'sidecar_unavailable', explanations.sidecar_unavailable ?? ''),
};

/** What the client gets if this process dies, as JSON; with `pending`, what a reader gets while the call runs. */
export function unattendedReceipt(call: CallIdentity, status: 'pending' | 'complete'): string {
  return join(receiptHead(call, { ...nothingKnown, status }), unattendedTails[boundaryOf(call)]);
}

/** Everything that the numbers depend on; stored with the receipt, so that they can be made again. */
function callFacts(call: CallIdentity, outcome: Outcome, servedBy: Candidate): CallFacts {
  return {
    requestedTier: call.request.options.tier ?? 'auto',
    boundary: boundaryOf(call),
    requestedAt: call.createdAt,
    usage: outcome.usage,
    upstreamLatencyS: outcome.upstreamLatencyS,
    model: call.route.model,
    site: servedBy.deployment,
    grid: servedBy.gridAt(new Date(call.createdAt)),
  };
}

const texts = new WeakMap<object, string>();
/** JSON of a part of the catalogue, which is never changed after it was made. */
function catalogueText(part: object | null): string {
  if (part === null) return 'null';
  let text = texts.get(part);
  if (text === undefined) {
    text = JSON.stringify(part);
    texts.set(part, text);
  }
  return text;
}

function factsText({ model, site, grid, ...call }: CallFacts): string {
  const catalogue = `"model":${catalogueText(model)},"site":${catalogueText(site)},"grid":${catalogueText(grid)}`;
  return `${JSON.stringify(call).slice(0, -1)},${catalogue}}`;
}

export interface MadeReceipt {
  /** The receipt as JSON. */
  readonly receipt: string;
  /** The facts behind it as JSON, or `null`. */
  readonly facts: string;
}

/** The finished receipt and the facts behind it. */
export function makeReceipt(call: CallIdentity, outcome: Outcome): MadeReceipt {
  const { servedBy } = outcome;
  if (!servedBy) return { receipt: degraded(call, outcome, outcome.unmeasured ?? 'calculator_fault'), facts: 'null' };
  const facts = callFacts(call, outcome, servedBy);
  const made = (receipt: string): MadeReceipt => ({ receipt, facts: factsText(facts) });
  if (outcome.unmeasured) return made(degraded(call, outcome, outcome.unmeasured));
  let assessment: ReturnType<typeof assess>;
  try {
    assessment = assess(facts);
  } catch {
    // Fail open: the completion is paid for, and its facts are stored for a recalculation.
    return made(degraded(call, outcome, 'calculator_fault', 'The calculation failed.'));
  }
  if (!assessment.ok) return made(degraded(call, outcome, assessment.reason, assessment.explanation));
  const tail: ReceiptTail = assessment.impact;
  return made(join(receiptHead(call, outcome), JSON.stringify(tail)));
}
