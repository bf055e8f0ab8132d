/**
 * What a measurement makes of a receipt.
 *
 * Invariant: pure. A modelled receipt is replaced only by one that knows more; an explicit telemetry tier that the
 * counters could not serve ends as `tier_unavailable`, for good and with the reason.
 */
import type { Receipt } from '@gw/contract/receipt';
import { assess } from '@gw/methodology/assess';
import type { NewVersion, ReceiptNumbers } from '../receipts/supersede.ts';
import type { Measured } from './measure.ts';
import type { WaitingCall } from './queue.ts';

/** `settled`: there is nothing left to do. `incomplete`: something else of the call is still missing. */
export type Verdict = { readonly version: NewVersion } | 'settled' | 'incomplete';

export function verdictOn(
  { receipt, facts }: Pick<WaitingCall, 'receipt' | 'facts'>,
  telemetry: Measured,
  at: Date,
): Verdict {
  // Done by an attempt that could not say so any more, or by hand.
  if (facts === null || facts.telemetry || facts.telemetryFollows !== true) return 'settled';
  const { telemetryFollows: _, ...known } = facts;
  const revision = {
    reason: 'measured' as const,
    at: at.toISOString(),
    completed: [],
    catalogue_version: null,
    grid: null,
  };
  const next = { ...known, telemetry, revision };
  const nothing = 'refused' in telemetry && telemetry.refused === 'no_samples';
  // The same numbers again, and nothing that an auditor could look at.
  if (nothing && receipt.tier !== 'degraded') return 'settled';
  const assessment = assess(next);
  if (assessment.ok) return { version: { current: receipt, numbers: assessment.impact, facts: next } };
  if (assessment.reason !== 'tier_unavailable') return 'incomplete';
  return { version: { current: receipt, numbers: unavailable(receipt, assessment.explanation), facts: next } };
}

/** From a degraded receipt: such a call never had another. */
function unavailable(current: Receipt, explanation: string): ReceiptNumbers {
  const { id, object, version, supersedes, created_at, request_id, status, requested_tier, ...rest } = current;
  const { model, provider, region, usage_source, ...numbers } = rest;
  return { ...numbers, degraded_reason: 'tier_unavailable', explanation, recalculable: false };
}
