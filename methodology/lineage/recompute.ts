/**
 * Recomputes a receipt's numbers from its lineage alone, and compares a lineage with a receipt.
 *
 * Invariant: nothing in a lineage is believed but its call and its facts. The whole lineage is made of them again, by the
 * methodology that it names, and must be the same. A lineage of any shape gives an answer, never an exception.
 */

import { sameJson } from '../documents/digest.ts';
import { findMethodology, type MethodologyId } from '../documents/methodologies.ts';
import type { CallFacts } from '../facts/facts.ts';
import type { Impact } from '../generated/receipt.ts';
import { assess } from '../receipt/assess.ts';
import { brief, type Check, type CheckId, checkOf, Mismatches, type Verification } from './checks.ts';
import { explained } from './lineage.ts';
import { callOf, lineageDigest } from './lineage-digest.ts';
import type { Lineage, LineageStep } from './lineage-form.ts';
import { compareCall, compareNumbers, type Receipt, statesDigest } from './receipt-words.ts';
import { contradiction } from './reread.ts';

export type { Check, CheckId, Verification } from './checks.ts';

/**
 * Takes what was thrown on the way. A lineage of the wrong form throws, and so does a bug: which of both it was the caller can say,
 * who knows where the lineage comes from.
 */
export type OnFault = (fault: unknown) => void;

/** Whether the lineage holds by itself: all checks but those of the receipt. */
export const recompute = (lineage: Lineage, onFault?: OnFault): Verification =>
  verification(lineage, ofLineage, onFault);

/**
 * Whether the lineage holds, is of the call of the receipt, and gives every number of it. `receipt`: its fields; others
 * than those of the call and the calculation are not looked at.
 */
export const verify = (lineage: Lineage, receipt: Receipt, onFault?: OnFault): Verification =>
  verification(lineage, { ...ofLineage, ...ofReceipt(receipt) }, onFault);

/**
 * Compares the numbers of a receipt with those that its facts give, without the steps of a lineage, which take a hundred times as long.
 * Returns what differs. It throws for facts of another form.
 */
export function compareResult(receipt: Receipt, facts: CallFacts, methodology: MethodologyId): readonly string[] {
  const assessment = assess(facts, methodology);
  if (!assessment.ok) return [`facts: no receipt follows from them. ${assessment.explanation}`];
  const found = new Mismatches();
  compareNumbers(found, receipt, assessment.impact, facts.simulated);
  return found.list;
}

/** Compares the digest that a receipt states with that of its call, its facts and its methodology. Throws for another form. */
export function compareDigest(receipt: Receipt, facts: CallFacts): readonly string[] {
  const { lineage_digest: stated, methodology, methodology_hash: hash } = receipt;
  if (!statesDigest(String(methodology)) && stated === undefined) return [];
  const found = new Mismatches();
  const call = callOf(receipt as unknown as Parameters<typeof callOf>[0], facts);
  found.compare('receipt.lineage_digest', stated, lineageDigest(call, facts, String(hash)));
  return found.list;
}

/** The results that follow from the call and the facts that a lineage states. */
interface Recomputed {
  readonly stated: Lineage;
  readonly follows: Lineage;
  readonly impact: Impact;
}
type Compare = (found: Mismatches, recomputed: Recomputed) => void;
type Compares<Id extends CheckId> = Readonly<Record<Id, Compare>>;

const ofLineage: Compares<Exclude<CheckId, 'form' | 'call' | 'receipt'>> = {
  methodology: (found, { stated, follows }) => {
    found.compare('methodology_version', stated.methodology_version, follows.methodology_version);
    found.compare('methodology_hash', stated.methodology_hash, follows.methodology_hash);
  },
  digest: (found, { stated, follows }) => found.compare('digest', stated.digest, follows.digest),
  steps: (found, { stated, follows }) => {
    for (const list of ['inputs', 'factors'] as const) compareNamed(found, list, stated[list], follows[list]);
    compareSteps(found, stated.steps, follows.steps);
  },
  statements: (found, { stated, follows }) => {
    const apart = new Set(['methodology_version', 'methodology_hash', 'digest', 'inputs', 'factors', 'steps']);
    const [ours, theirs] = [new Map(Object.entries(follows)), new Map(Object.entries(stated))];
    for (const name of new Set([...ours.keys(), ...theirs.keys()])) {
      if (!apart.has(name)) found.compare(name, theirs.get(name), ours.get(name));
    }
    const { call, facts, methodology } = follows;
    if (call !== undefined) {
      found.compare('call.created_at', call.created_at, facts.requestedAt);
      found.compare('call.deployment', call.deployment, facts.site.id ?? null);
    }
    const contradicted = statesDigest(methodology) ? contradiction(facts.telemetry ?? null) : null;
    if (contradicted !== null) found.compare('facts.telemetry', facts.telemetry, contradicted.follows);
  },
};

const ofReceipt = (receipt: Receipt): Compares<'call' | 'receipt'> => ({
  call: (found, { follows }) => compareCall(found, receipt ?? {}, follows),
  receipt: (found, { follows, impact }) => compareNumbers(found, receipt ?? {}, impact, follows.simulated),
});

function verification(
  stated: Lineage,
  compares: Readonly<Partial<Record<CheckId, Compare>>>,
  onFault: OnFault | undefined,
): Verification {
  const failed = (...checks: Check[]): Verification => ({
    ok: false,
    checks,
    mismatches: checks.flatMap(({ mismatches }) => mismatches),
  });
  try {
    const recomputed = recomputedFrom(stated);
    if (typeof recomputed === 'string') return failed(checkOf('form', [recomputed]));
    const made = Object.entries(compares).map(([id, compare]) => {
      const found = new Mismatches();
      compare(found, recomputed);
      return checkOf(id as CheckId, found.list);
    });
    const checks = [checkOf('form', []), ...made];
    return checks.every(({ ok }) => ok) ? { ok: true, checks, impact: recomputed.impact } : failed(...checks);
  } catch (fault) {
    onFault?.(fault);
    return failed(checkOf('form', ['lineage: it does not have the form of one']));
  }
}

/** Or why nothing can be recomputed. */
function recomputedFrom(stated: Lineage): Recomputed | string {
  if (stated.object !== 'gw.lineage') return 'object: it is not gw.lineage';
  const method = findMethodology(stated.methodology);
  if (method === null) return `methodology: there is no ${brief(String(stated.methodology))}`;
  if (!stated.facts) return 'facts: there are none';
  const made = explained(stated.facts, method, stated.call ?? null);
  if (!made.ok) return `facts: no receipt follows from them. ${made.explanation}`;
  return { stated, follows: made.lineage, impact: made.impact };
}

function compareNamed(
  found: Mismatches,
  list: 'factors' | 'inputs',
  stated: readonly { readonly name: string }[],
  follows: readonly { readonly name: string }[],
): void {
  found.compare(`${list}.length`, stated.length, follows.length);
  for (const [at, each] of follows.entries()) found.compare(`${list}.${each.name}`, stated[at], each);
}

function compareSteps(found: Mismatches, stated: readonly LineageStep[], follows: readonly LineageStep[]): void {
  found.compare('steps.length', stated.length, follows.length);
  for (const [index, step] of follows.entries()) {
    const other: Partial<LineageStep> = stated[index] ?? {};
    if (sameJson(other, step)) continue;
    for (const field of Object.keys({ ...step, ...other }) as (keyof LineageStep)[]) {
      found.compare(`steps.${step.id}.${field}`, other[field], step[field]);
    }
  }
}
