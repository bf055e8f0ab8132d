/**
 * Decides how a measurement changes a receipt.
 *
 * Invariant: pure. A modelled receipt is replaced only by one that knows more; an explicit telemetry tier that the
 * counters could not serve ends as `tier_unavailable`, for good and with the reason. What was measured is in the facts
 * of the new version, so a later one needs no counters.
 */

import { degradedDefinitions } from '@gw/contract/degraded-reasons';
import type { Receipt, ReceiptNumbers } from '@gw/contract/receipt';
import { assess, type NotAssessed } from '@gw/methodology/assess';
import type { NewVersion } from '../receipts/supersede.ts';
import type { Measured } from './measure.ts';
import type { WaitingCall } from './queue.ts';

/** The new version that the receipt gets, or `settled` if it gets none. */
export type Verdict = NewVersion | 'settled';

/** Judges a call by its measurement. `at` is the time that the new version states for its revision. */
export function verdictOn(call: Pick<WaitingCall, 'receipt' | 'facts'>, telemetry: Measured, at: Date): Verdict {
  const { receipt, facts } = call;
  // Done by an attempt that could not say so any more.
  if (facts === null || facts.telemetryFollows !== true) return 'settled';
  const nothing = 'refused' in telemetry && telemetry.refused === 'no_samples';
  const { telemetryFollows: _, ...known } = facts;
  const reason = nothing ? 'not_measured' : 'measured';
  const revision = { completed: [], catalogue_version: null, grid: null, reason, at: at.toISOString() } as const;
  const next = { ...known, telemetry, revision };
  const assessment = assess(next);
  if (assessment.ok) {
    // The same numbers again, or those that the recalculation makes, and nothing counted that an auditor could look at.
    return nothing ? 'settled' : { current: receipt, numbers: assessment.impact, facts: next };
  }
  if (receipt.tier !== 'degraded' || (nothing && assessment.reason === receipt.degraded_reason)) return 'settled';
  return { current: receipt, numbers: degradedAgain(receipt, assessment), facts: next };
}

/** Makes the numbers of a receipt that stays degraded: energy that was not measured then cannot be measured later. */
function degradedAgain(
  current: Receipt,
  { reason, explanation }: { readonly reason: NotAssessed; readonly explanation: string },
): ReceiptNumbers {
  const { id, object, version, supersedes, created_at, request_id, status, requested_tier, ...rest } = current;
  const { model, provider, region, usage_source, ...numbers } = rest;
  const { recalculable } = degradedDefinitions[reason];
  return { ...numbers, degraded_reason: reason, explanation, recalculable };
}
