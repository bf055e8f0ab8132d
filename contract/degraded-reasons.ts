/**
 * The reasons for a degraded receipt: the texts that clients read, whether the receipt can be made again, and the page about
 * them (`docs/degraded-receipts.md`).
 *
 * Invariant: a completion is the same with or without a receipt; a degraded one is never an error of the call.
 */
import type { DegradedReason } from './receipt.ts';

export interface DegradedDefinition {
  /** `explanation` of the receipt, unless the code that degrades it has a more precise one. */
  readonly explanation: string;
  /** How it happens, for the page. */
  readonly when: string;
  /** Tells the client or the platform team how to react. */
  readonly action: string;
  /** Whether a later version can follow. The receipt is `recalculable` only if the facts of its call are known too. */
  readonly recalculable: boolean;
}

const WAIT = 'Nothing: a new version follows by itself.';

export const degradedDefinitions: Readonly<Record<DegradedReason, DegradedDefinition>> = {
  usage_missing: {
    explanation: 'The provider reported no token usage for this call.',
    when: 'The reply or the whole stream had no `usage` and no text that could be counted, and its energy was not measured.',
    action: 'Choose a model whose provider reports usage; the platform team knows which ones do.',
    recalculable: false,
  },
  usage_implausible: {
    explanation: 'The provider states more tokens than this call can have had.',
    when: 'The token counts that the provider states are above what the limit of the request, the context window, the time of the call or the power of the accelerators allow, or above what request and reply show though the catalogue says that the model neither thinks unseen nor reads by itself. The `explanation` names the claim and the bound.',
    action: 'Tell the platform team, which contacts the provider; the claim is not charged.',
    // The provider's claim stays wrong.
    recalculable: false,
  },
  model_parameters_unknown: {
    explanation: 'Neither the parameter counts nor the size class of this model are known.',
    when: 'The catalogue has neither for this model.',
    action: 'The platform team adds them to the catalogue; then a new version follows by itself.',
    recalculable: true,
  },
  no_embedding_factor: {
    explanation: 'There is no energy factor for this embedding model.',
    when: 'The methodology of that time had no factor for the embedding model.',
    action: WAIT,
    recalculable: true,
  },
  grid_intensity_missing: {
    explanation: 'There is no average carbon intensity for the grid zone of this call.',
    when: 'Neither a live source nor the yearly table knows the grid zone of the region that served the call.',
    action: 'The platform team gives the region a zone that is known; then a new version follows by itself.',
    recalculable: true,
  },
  tier_unavailable: {
    explanation: 'The requested tier cannot be served for this model and provider.',
    when: 'The request named a `gw.tier`, and the route promised it, but the measured energy was missing or absurd.',
    action: 'Request `gw.tier: auto`, which takes the best tier available.',
    // A provider does not report energy after the reply.
    recalculable: false,
  },
  telemetry_pending: {
    explanation: 'The measured energy of this call comes from counters that have not arrived yet.',
    when: 'The request named `gw.tier: telemetry`, and the energy of the deployment is measured outside the reply.',
    action: WAIT,
    recalculable: true,
  },
  calculator_fault: {
    explanation: 'The calculation failed on the facts of this call.',
    when: 'A figure of the catalogue or of the reply lies outside what the formulas can take, or the gateway has a bug.',
    action: 'Tell the platform team if it persists; a new version follows once the cause is fixed.',
    recalculable: true,
  },
  sidecar_unavailable: {
    explanation:
      'The part that makes receipts did not finish, so the tokens were not counted. The completion is not affected.',
    when: 'The sidecar died or stalled while the provider worked; the gateway finished the reply without it.',
    action:
      'Nothing: if the sidecar delivers what it knew of the call after all, a new version with its numbers follows. Otherwise there are none: no other part of the gateway knows its tokens.',
    // The facts of the call are not known and may never be.
    recalculable: false,
  },
  receipt_not_stored: {
    explanation: 'The receipt could not be stored in time. The completion is not affected.',
    when: 'Neither Valkey nor the disk of the sidecar took the receipt within 250 ms in all.',
    action: 'Nothing: it is stored when either is available again, and a new version with its numbers follows.',
    recalculable: true,
  },
  client_aborted_unmeasured: {
    explanation: 'The client left before the provider had reported how much was generated.',
    when: 'The client closed the connection of a JSON call, or of a stream before its first word, so nothing is known of what the provider did.',
    action: 'Nothing: the call cannot be measured afterwards.',
    recalculable: false,
  },
  upstream_error_unmeasured: {
    explanation: 'The provider failed, so nothing is known of the energy that it spent.',
    when: 'The call ended in `inference_error`, or its stream broke off before the first word. The receipt is in the ledger under `x-gw-receipt-id`.',
    action: 'Retry the call as its error says; each attempt has a receipt of its own.',
    recalculable: false,
  },
};

export function degradedReasonsPage(): string {
  const rows = (Object.entries(degradedDefinitions) as [DegradedReason, DegradedDefinition][]).map(
    ([reason, { when, action, recalculable }]) =>
      `| \`${reason}\` | ${when} | ${action} | ${recalculable ? 'yes' : 'no'} |`,
  );
  return `# Degraded receipts

A missing receipt never affects the completion: the reply is a normal 200, and its \`gw\` has
\`tier: "degraded"\`, \`degraded_reason\`, an \`explanation\` in words, and \`recalculable\`. The amounts of the call
itself are null, never 0; of attempts that failed before it the receipt says what is known.

\`recalculable: true\` means that the facts of the call are known, so that a job makes a new version when the reason is gone:
the same id, \`version\` one higher, \`supersedes\` the previous one, which \`?version=n\` still reads. With \`false\` none is
promised; one still follows if the sidecar delivers the facts of the call after all (\`sidecar_unavailable\`).

| \`degraded_reason\` | When | What to do | Can be made again |
|---|---|---|---|
${rows.join('\n')}

\`methodology_error\` \`receipt_generation_failed\` (500) is the answer only in two cases: a lineage
whose stored facts do not give the stored numbers, and a reply of 200 that came while the sidecar was unavailable and is not a
JSON object, so that no receipt can be added to it.
`;
}
