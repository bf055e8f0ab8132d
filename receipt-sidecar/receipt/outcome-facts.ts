/** What is known of a call at its end, beside who served it. */
import type { CallOutcome } from './receipt.ts';

export type OutcomeFacts = Omit<CallOutcome, 'servedBy' | 'upstreamLatencyS'>;

/** Makes a call that did not end well unmeasured, unless there are counts or energy that was read. */
export function orUnmeasured(
  facts: OutcomeFacts & { readonly status: 'client_aborted' | 'upstream_error' },
): OutcomeFacts {
  const { status, telemetry, unmeasured, usage } = facts;
  const isRead = telemetry != null && !('refused' in telemetry);
  if (usage !== null || unmeasured || isRead) return facts;
  return { ...facts, unmeasured: `${status}_unmeasured` };
}
