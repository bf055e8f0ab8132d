/**
 * A step of an application as it is hashed. The entry of the step in the operators' chain of the audit log holds the hash,
 * so that a step that was altered, taken out or put in is found like an entry.
 *
 * The hash is SHA-256 over the UTF-8 bytes of the step's RFC 8785 form. It stands in no chain that a customer reads: what a
 * screening found could be guessed from it.
 */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { ActorKind } from './audit-chain.ts';

/** Names and form are frozen. */
export interface OnboardingStep {
  readonly account_id: string;
  /** 1 to 6, as in the specification. */
  readonly step: number;
  readonly action: string;
  readonly from: string | null;
  readonly to: string;
  readonly actor: { readonly kind: ActorKind; readonly id: string };
  /** RFC 3339, UTC, milliseconds. */
  readonly at: string;
  readonly input: unknown;
  readonly outcome: unknown;
}

export function stepHash({
  account_id,
  step,
  action,
  from,
  to,
  actor: { kind, id },
  at,
  input,
  outcome,
}: OnboardingStep): string {
  const text = canonicalize({ account_id, step, action, from, to, actor: { kind, id }, at, input, outcome });
  if (text === undefined) throw new Error('A step has no canonical form.');
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
