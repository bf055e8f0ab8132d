/**
 * The hashed form of a step of an application. The operators' chain of the audit log contains the hash, so that an altered, removed or
 * inserted step is detected like an entry.
 *
 * The hash is SHA-256 over the UTF-8 bytes of the step's RFC 8785 form. It is in no chain that customers can read, because the result
 * of a screening could be guessed from it.
 */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { ActorKind } from './audit-chain.ts';
import { asHashed, type HiddenNames } from './hidden-names.ts';

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
  /** As of an entry of the audit log. */
  readonly hidden?: HiddenNames | undefined;
}

export function stepHash(shown: OnboardingStep): string {
  const { account_id, step, action, from, to, actor, at, input, outcome } = asHashed(shown);
  const { kind, id } = actor;
  const text = canonicalize({ account_id, step, action, from, to, actor: { kind, id }, at, input, outcome });
  if (text === undefined) throw new Error('A step has no canonical form.');
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
