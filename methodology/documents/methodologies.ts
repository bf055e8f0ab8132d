/**
 * The methodologies that a receipt can name, each with a version and a hash of all its constants and formulas.
 *
 * Invariant: two receipts with the same hash were computed by the same formulas and constants. The hash is the SHA-256
 * of `document`, whose text can be published and hashed again by anyone.
 */

import { functionTexts } from '../language/parse.ts';
import { boundFormulas } from './bound-formulas.ts';
import { sha256Of } from './digest.ts';
import { documentTables } from './document-tables.ts';
import { ecologitsFormulas } from './ecologits-formulas.ts';
import { decodeSteps, requestSteps, type Step } from './ecologits-steps.ts';
import {
  attention,
  classSpans,
  comparison,
  embodied,
  estimatedCounts,
  gridEnds,
  idleShare,
  literatureUncertainty,
  prefill,
  serving,
  spreads,
  standIns,
  telemetryLimits,
  uncountedBounds,
  uncountedCalls,
  worldWaterLPerKwh,
  writing,
} from './factors.ts';
import { formulas } from './formulas.ts';
import { measuredRatios } from './measured-ratios.ts';

export type MethodologyId = 'gw-2.0' | 'ecologits-0.11.3';

/** A receipt is made with this one unless another methodology is named. */
export const defaultMethodology: MethodologyId = 'gw-2.0';

export interface Methodology {
  readonly id: MethodologyId;
  readonly version: string;
  /** `sha256:` and 64 hexadecimal digits, over the UTF-8 bytes of `document`. */
  readonly hash: string;
  readonly document: string;
  /** Idle Wh per active Wh; null where idle capacity is outside the methodology. */
  readonly idleShare: number | null;
  /**
   * False of EcoLogits' own: it charges the output alone and has no measured tier, its bounds are those of the literature, and its
   * receipts say less of the grid and state no digest.
   */
  readonly isOwn: boolean;
  /** The formula texts of the document. */
  readonly steps: Readonly<Record<string, Step>>;
  /** The formula texts that are evaluated: those of the document, or what its texts for readers stand for. */
  readonly formulas: Readonly<Record<string, Step>>;
}

type MethodologyBase = Omit<Methodology, 'hash' | 'document'>;

function methodology(known: MethodologyBase, rules: object, constants: object, explained: object = {}): Methodology {
  const { id, steps, version } = known;
  const { functions, ...tables } = { functions: undefined, ...explained };
  const document = JSON.stringify({ id, version, rules, constants, functions, steps, ...tables });
  return { ...known, document, hash: sha256Of(document) };
}

/** The rules that no formula expresses: what is counted, and which figures are taken. */
const rules = {
  idleShare,
  chargesInput: true,
  liveIsMeasured: true,
  matchesStatedAge: true,
  measuresUncounted: true,
  measurementsOnly: true,
  refusesImpossible: true,
  estimatesAreForecasts: true,
} as const;

const constants = {
  writing,
  prefill,
  attention,
  serving: { serverPowerW: serving.serverPowerW, serverGpus: serving.serverGpus },
  embodied,
  standIns,
  classSpans,
  spreads,
  measuredRatios,
  worldWaterLPerKwh,
  gridEnds,
  telemetry: telemetryLimits,
  estimatedCounts,
  uncountedCalls,
  uncountedBounds,
  comparison,
};

const ownSteps = { ...formulas, ...boundFormulas };

/**
 * Frozen: a published methodology is never changed, so that every receipt can be recomputed with the one that made it. A new
 * constant or formula is a new entry; the tests pin each hash.
 */
const methodologies: Readonly<Record<MethodologyId, Methodology>> = {
  'gw-2.0': methodology(
    { id: 'gw-2.0', version: '2.0.0', idleShare, isOwn: true, steps: ownSteps, formulas: ownSteps },
    rules,
    constants,
    { functions: functionTexts, ...documentTables(ownSteps, { idleShare, isOwn: true }) },
  ),
  'ecologits-0.11.3': methodology(
    {
      id: 'ecologits-0.11.3',
      version: '0.11.3',
      idleShare: null,
      isOwn: false,
      steps: { ...decodeSteps, ...requestSteps },
      formulas: ecologitsFormulas,
    },
    { idleShare: null, chargesInput: false },
    { uncertainty: literatureUncertainty, serving, embodied, standIns },
  ),
};

export function methodologyOf(id: MethodologyId): Methodology {
  return methodologies[id];
}

/** Every methodology, newest first. */
export const methodologyIds = Object.keys(methodologies) as readonly MethodologyId[];

const byHash: ReadonlyMap<string, Methodology> = new Map(Object.values(methodologies).map((each) => [each.hash, each]));

/** The methodology whose document has this hash (`sha256:` and 64 hexadecimal digits), or null. */
export const methodologyOfHash = (hash: string): Methodology | null => byHash.get(hash) ?? null;

/** The methodology that a stored receipt names, or null. */
export function findMethodology(id: string): Methodology | null {
  return methodologyIds.includes(id as MethodologyId) ? methodologies[id as MethodologyId] : null;
}
