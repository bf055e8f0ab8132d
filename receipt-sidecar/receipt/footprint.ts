/** Models what a call took, or would have taken under other circumstances, by the formulas of its receipt. */
import type { ReceiptNumbers } from '@gw/contract/receipt';
import { assess } from '@gw/methodology/assess';
import { type Footprint, footprintOf } from '@gw/methodology/footprint';
import type { Candidate } from '../catalogue/snapshot.ts';
import { type CallIdentity, type CallOutcome, callFacts } from './receipt.ts';

/** Returns what the routing trace says by. */
export const footprints = (call: CallIdentity, outcome: CallOutcome, numbers: ReceiptNumbers | null) => ({
  footprintAt: (candidate: Candidate) => footprintAt(call, outcome, numbers, candidate),
  cachedTokens: outcome.usage?.cachedPromptTokens ?? null,
  uncachedFootprint: () => uncachedFootprint(call, outcome, numbers),
});

/**
 * Returns what the call took at a deployment by the formulas of its receipt, or would have taken there, from its tokens: measured energy of
 * one place tells nothing of another. Null without a receipt that has numbers.
 */
export function footprintAt(
  call: CallIdentity,
  outcome: CallOutcome,
  numbers: ReceiptNumbers | null,
  candidate: Candidate,
): Footprint | null {
  if (numbers === null || outcome.usage === null) return null;
  if (candidate === outcome.servedBy && numbers.tier !== 'telemetry') return footprintOf(numbers);
  return modelledFootprint(call, outcome, candidate);
}

/** Returns what the call would have taken, by the same formulas, if the provider had had nothing in its cache. */
function uncachedFootprint(call: CallIdentity, outcome: CallOutcome, numbers: ReceiptNumbers | null): Footprint | null {
  const { servedBy, usage } = outcome;
  if (numbers === null || usage === null || servedBy === null) return null;
  return modelledFootprint(call, { ...outcome, usage: { ...usage, cachedPromptTokens: 0 } }, servedBy);
}

function modelledFootprint(call: CallIdentity, outcome: CallOutcome, candidate: Candidate): Footprint | null {
  const { telemetry: _measured, ...facts } = callFacts(call, outcome, candidate);
  const requestedTier = facts.requestedTier === 'telemetry' ? 'auto' : facts.requestedTier;
  const assessment = assess({ ...facts, requestedTier });
  return assessment.ok ? footprintOf(assessment.impact) : null;
}
