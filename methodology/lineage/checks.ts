/**
 * The checks of a verification, and how it reports a mismatch.
 *
 * Invariant: a check has one name for good, and everything that a verification refuses is a mismatch of one of them. A new
 * check is a line here, and the compiler asks for it in recompute.ts.
 */
import { sameJson, sortedText } from '../documents/digest.ts';
import type { Impact } from '../generated/receipt.ts';

/** In the order in which they are made. */
export const checkTexts = {
  form: 'The lineage has the form of one, of a methodology that there is and of facts that numbers follow from. If not, no other check can be made',
  methodology: 'Version and hash are those of the methodology that it names',
  digest: 'The digest is that of the call, the facts and the methodology, from which all the rest follows',
  steps:
    'No step is missing or added; each formula and factor is that of the methodology, each input that of the facts, each output follows',
  statements:
    'All else that the lineage says follows from its facts too, the call has their time and deployment, and a measured figure is what its reader finds in the words of its source',
  call: 'The receipt is of the call that the lineage is of, and states its digest as `lineage_digest` (receipts by `ecologits-0.11.3` may lack it); who counted the tokens and how the call ended do not contradict the facts',
  receipt:
    'Each field of the receipt that the methodology gives is there and as it follows, and none is there that it does not give. `request_id` is not looked at: it follows from nothing',
} as const;

export type CheckId = keyof typeof checkTexts;

export interface Check {
  readonly id: CheckId;
  readonly ok: boolean;
  /** Each says where, what is stated and what follows. Empty if it is ok. */
  readonly mismatches: readonly string[];
}

/** `checks`: those that were made. `ok`: all that there are have been made and found right. */
export type Verification =
  | { readonly ok: true; readonly checks: readonly Check[]; readonly impact: Impact }
  /** `mismatches`: those of all checks. */
  | { readonly ok: false; readonly checks: readonly Check[]; readonly mismatches: readonly string[] };

export class Mismatches {
  readonly list: string[] = [];

  compare(where: string, stated: unknown, follows: unknown): void {
    if (sameJson(stated, follows)) return;
    this.list.push(`${where}: ${shown(stated)} is stated, ${shown(follows)} follows`);
  }
}

/** A field that is not there at all differs from one that is null. */
const shown = (value: unknown): string => (value === undefined ? 'nothing' : brief(sortedText(value)));

export const brief = (text: string): string => (text.length > 160 ? `${text.slice(0, 160)}…` : text);

export const checkOf = (id: CheckId, mismatches: readonly string[]): Check => ({
  id,
  ok: mismatches.length === 0,
  mismatches,
});
