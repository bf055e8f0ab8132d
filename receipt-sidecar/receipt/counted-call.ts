/** The facts by which the counts of a call are judged, and the claim of its provider. */
import type { SnapshotDeployment, SnapshotModel } from '@gw/contract/internal/snapshot';
import type { TokenUsage } from '@gw/methodology/assess';
import { type PowerUse, powerUse } from '@gw/methodology/power';
import type { ParsedRequest } from '../api/port/parsed-request.ts';

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

/** `site`: null if it is not known who answered. */
export const callToCount = (
  request: ParsedRequest,
  model: SnapshotModel,
  site: SnapshotDeployment | null,
  end: EndOfCall,
): CountedCall => ({
  ...end,
  request,
  contextWindow: model.contextWindow,
  hidesReasoning: model.hiddenReasoning,
  readsByItself: model.readsByItself,
  // A simulator computes nothing, so it draws no power.
  powerOf: (usage) => (site === null || site.simulated ? null : powerUse(model, site, usage, end.elapsedS)),
});
