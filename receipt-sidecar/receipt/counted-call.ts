/** The facts by which the counts of a call are judged, and the claim of its provider. */
import type { TokenUsage } from '@gw/methodology/assess';
import { type PowerUse, powerUse } from '@gw/methodology/power';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import type { Candidate } from '../catalogue/snapshot.ts';
import type { CallIdentity } from './receipt.ts';

export interface EndOfCall {
  /** Seconds from asking the provider to the end of its reply. */
  readonly elapsedS: number;
  /** Whether the reply came to its end; otherwise a count of 0 says only that no word had come yet. */
  readonly isWhole: boolean;
  /** Whether the reply broke off before the answer was whole, so that the provider may have gone on. */
  readonly isCutShort: boolean;
}

/** Facts that bound the counts of a call. */
export interface CountedCall extends EndOfCall {
  readonly request: ParsedRequest;
  /** The context window in tokens; null if the catalogue does not know it. */
  readonly contextWindow: number | null;
  /** Whether the model thinks without showing it, and whether it reads what nobody sent; null if the catalogue does not say. */
  readonly hidesReasoning: boolean | null;
  readonly readsByItself: boolean | null;
  /** Returns the part of what its accelerators draw that the tokens would take; null if that cannot be told, or nothing was computed. */
  readonly powerOf: (usage: TokenUsage) => PowerUse | null;
}

export interface Written {
  /** Null if nothing says it. */
  readonly tokens: number | null;
  readonly isEstimate: boolean;
  readonly outside: number;
  /** The provider's claim; null where that plays no part. */
  readonly claim: WrittenClaim | null;
}

export interface WrittenClaim {
  readonly tokens: number;
  /** Tokens whose text was delivered. */
  readonly visible: number;
  /** Tokens of reasoning that the provider counts outside of the completion. */
  readonly apart: number;
}

/** Where nobody knows who answered (`servedBy` is null), the widest bounds of all that can have hold. */
export function callToCount(
  { request, route }: Pick<CallIdentity, 'request' | 'route'>,
  servedBy: Candidate | null,
  end: EndOfCall,
): CountedCall {
  const models = (servedBy === null ? route.failoverChain : [servedBy]).map((each) => route.modelOf(each));
  const windows = models.map(({ contextWindow }) => contextWindow ?? Number.POSITIVE_INFINITY);
  const window = Math.max(...windows);
  return {
    ...end,
    request,
    contextWindow: Number.isFinite(window) ? window : null,
    hidesReasoning: widest(models.map(({ hiddenReasoning }) => hiddenReasoning)),
    readsByItself: widest(models.map(({ readsByItself }) => readsByItself)),
    // A simulator computes nothing, so it draws no power.
    powerOf: (usage) =>
      servedBy === null || servedBy.deployment.simulated
        ? null
        : powerUse(route.modelOf(servedBy), servedBy.deployment, usage, end.elapsedS),
  };
}

const widest = (facts: readonly (boolean | null)[]): boolean | null =>
  facts.includes(true) ? true : facts.includes(null) ? null : false;
