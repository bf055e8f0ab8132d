/** Random receipts with their lineages, over all tiers, boundaries and methodologies. */
import fc from 'fast-check';
import { type MethodologyId, methodologyIds } from '../documents/methodologies.ts';
import type { EstimatedCounts } from '../facts/facts.ts';
import { type Lineage, lineageOf } from '../lineage/lineage.ts';
import { recompute, verify } from '../lineage/recompute.ts';
import { assess, type CallFacts, type Impact, type TokenUsage } from '../receipt/assess.ts';
import { leaves, whileChanged } from './changes.ts';
import { calls } from './facts.ts';
import { measuredCalls } from './telemetry.ts';

const signals = fc.record({
  signal: fc.constantFrom('average', 'annual', 'forecast'),
  temporalMatch: fc.constantFrom(null, 'prior_week', 'forecast', 'none'),
  observedAt: fc
    .date({ min: new Date('2026-11-01T00:00:00Z'), max: new Date('2026-11-30T00:00:00Z'), noInvalidDate: true })
    .map((date) => date.toISOString()),
  source: fc.constantFrom('test', 'ember-2023'),
});

/** The counts that are said to be estimated; `none`: nobody counted; `ends`: they can stand for fewer and for more. */
const counts = fc.constantFrom(undefined, undefined, 'prompt', 'completion', 'both', 'none', 'ends');

function withCounts(call: CallFacts, said: EstimatedCounts | 'none' | 'ends' | undefined): CallFacts {
  if (said === undefined || call.usage === null) return call;
  if (said === 'ends') return withEnds(call, call.usage);
  return { ...call, usage: said === 'none' ? null : { ...call.usage, estimated: said } };
}

const withEnds = (call: CallFacts, usage: TokenUsage): CallFacts => ({
  ...call,
  failedAttemptsMostWh: 0.125,
  usage: {
    ...usage,
    promptLeast: Math.floor(usage.promptTokens / 3),
    promptMost: usage.promptTokens * 7 + 1,
    completionLeast: Math.floor(usage.completionTokens / 5),
    completionMost: usage.completionTokens + 4000,
    doubts: ['hidden_unstated', 'parts_uncounted'],
  },
});

const facts: fc.Arbitrary<CallFacts> = fc
  .tuple(fc.oneof(calls, measuredCalls), signals, counts)
  .map(([call, signal, said]) => ({
    ...withCounts(call, said),
    grid: call.grid === null ? null : { ...call.grid, ...signal },
  }));

const methods = fc.constantFrom<MethodologyId>(...methodologyIds);

export interface Sample {
  readonly impact: Impact;
  readonly lineage: Lineage;
}

/** A receipt and its lineage, after a trip through JSON as a store would make it; null where there is no receipt. */
export function sampleOf(call: CallFacts, methodology: MethodologyId): Sample | null {
  const assessment = assess(call, methodology);
  const result = lineageOf(call, methodology);
  if (!assessment.ok) return null;
  if (!result.ok) throw new Error(`No lineage of a receipt: ${JSON.stringify(call)}`);
  return { impact: assessment.impact, lineage: JSON.parse(JSON.stringify(result.lineage)) };
}

export const samples: fc.Arbitrary<Sample> = fc
  .tuple(facts, methods)
  .map(([call, methodology]) => sampleOf(call, methodology))
  .filter((sample) => sample !== null);

export interface Recomputed {
  /** Receipts that their lineages give to the last digit. */
  readonly same: number;
  readonly measured: number;
  /** Paths of single changes, one in every fifth lineage, that nothing told. */
  readonly unseen: readonly string[];
}

/** Recomputes so many random receipts, and every fifth again with one random leaf of its lineage changed. */
export function recomputeMany(count: number): Recomputed {
  let [same, measured] = [0, 0];
  const unseen: string[] = [];
  for (const [{ impact, lineage }, place] of fc.sample(fc.tuple(samples, fc.nat()), count)) {
    const result = recompute(lineage);
    if (result.ok && JSON.stringify(result.impact) === JSON.stringify(impact)) same += 1;
    if (impact.tier === 'telemetry') measured += 1;
    if (place % 5 !== 0) continue;
    const paths = leaves(lineage);
    const path = paths[(place / 5) % paths.length] ?? [];
    if (whileChanged(lineage, path, (changed) => verify(changed, { ...impact }).ok)) unseen.push(path.join('.'));
  }
  return { same, measured, unseen };
}
