/**
 * How much energy the attempts that failed before the answer can have taken.
 *
 * Invariant: each counts as if it had written all that the request or the window allows, by the upper bound of the methodology. One
 * whose outcome nobody told counts, too.
 */
import { assess } from '@gw/methodology/assess';
import { type FailedAttempt, failedBefore } from '../attempts/failed-attempts.ts';
import { mayHaveGenerated } from '../attempts/settlement.ts';
import type { Candidate } from '../catalogue/snapshot.ts';
import { mostWritten } from './doubts.ts';
import { boundaryOf, type CallIdentity } from './receipt.ts';

/** As all amounts of a receipt have. */
const receiptDigits = 12;

interface Attempted {
  readonly servedBy: Candidate | null;
  /** With the one that answered; null: nobody has. */
  readonly attempts: number | null;
  readonly failures: readonly FailedAttempt[];
}

/** Wh; undefined if nothing was computed, null if it is not known. An error of the program is given to `onFault`, and nothing is known. */
export function failedAttemptsMostWh(
  call: CallIdentity,
  { attempts, failures, servedBy }: Attempted,
  onFault: (error: unknown) => void,
): number | null | undefined {
  if (attempts === null) return null;
  const failed = failedBefore(call.route.failoverChain, servedBy?.deployment.id ?? null, attempts);
  const asked = mayHaveGenerated(failed, failures);
  if (asked.length === 0) return undefined;
  try {
    const each = asked.map((candidate) => attemptMostWh(call, candidate));
    if (!each.every((wh) => wh !== null)) return null;
    return Number(each.reduce((sum, wh) => sum + wh, 0).toPrecision(receiptDigits));
  } catch (error) {
    onFault(error);
    return null;
  }
}

function attemptMostWh(call: CallIdentity, candidate: Candidate): number | null {
  const { createdAt, request, route } = call;
  const { deployment, gridAt } = candidate;
  const model = route.modelOf(candidate);
  const completionTokens = model.kind === 'embedding' ? 0 : mostWritten(request, model.contextWindow);
  if (completionTokens === null) return null;
  const made = assess({
    requestedTier: 'auto',
    boundary: boundaryOf(call),
    requestedAt: createdAt,
    usage: {
      promptTokens: request.estimatedPromptTokens,
      cachedPromptTokens: 0,
      completionTokens,
      estimated: 'prompt',
    },
    upstreamLatencyS: null,
    model,
    site: deployment,
    grid: gridAt(new Date(createdAt)),
  });
  return made.ok ? made.impact.energy_high_wh : null;
}
