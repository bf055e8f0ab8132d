/**
 * The methodologies that a receipt can name, each with a version and a hash of all its constants and formulas.
 *
 * Invariant: two receipts with the same hash were computed by the same formulas and constants. The hash is the SHA-256
 * of `document`, whose text can be published and hashed again by anyone.
 */
import { boundPrograms, isFormerBound } from './bound-programs.ts';
import { countingPrograms } from './counting-programs.ts';
import { sha256Of } from './digest.ts';
import { documentTables } from './document-tables.ts';
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
} from './factors.ts';
import type { ModelClass, ModelFacts } from './facts.ts';
import { functionTexts, grammarText } from './formula.ts';
import { programs } from './programs.ts';
import { classEnds, classFactors } from './proxy.ts';
import { decodeSteps, prefillSteps, requestSteps, type Step } from './steps.ts';
import { combinedText } from './uncertainty.ts';

export type MethodologyId = 'gw-1.4' | 'gw-1.3' | 'gw-1.2' | 'gw-1.1' | 'gw-1.0' | 'ecologits-0.11.3';

/** What a receipt is made with unless another methodology is named. */
export const defaultMethodology: MethodologyId = 'gw-1.4';

export interface Methodology {
  readonly id: MethodologyId;
  readonly version: string;
  /** `sha256:` and 64 hexadecimal digits, over the UTF-8 bytes of `document`. */
  readonly hash: string;
  readonly document: string;
  /** Idle Wh per active Wh; null where idle capacity is outside the methodology. */
  readonly idleShare: number | null;
  readonly chargesInput: boolean;
  /** Whether it has a tier for measured energy. */
  readonly measures: boolean;
  /** Whether only a measured grid reading can be `live_window`; an estimate is then at best `fresh`. */
  readonly liveIsMeasured: boolean;
  /** Whether the match follows from the age as the receipt states it, with one decimal, or from the age before rounding. */
  readonly matchesStatedAge: boolean;
  /** The class that measured energy is compared with where the model is not known at all; null: with nothing. */
  readonly ceilingClass: ModelClass | null;
  /** Whether bounds are wider where a token count was estimated from text. */
  readonly widensEstimates: boolean;
  /** Whether a measured total is used where nobody counted the tokens of the call. */
  readonly measuresUncounted: boolean;
  /** Whether such a total has a floor, and a ceiling even if the time of the call is not known. */
  readonly boundsUncounted: boolean;
  /** Whether receipt and lineage state what the grid value counts, its year, and whether it is an estimate. */
  readonly statesGridBasis: boolean;
  /** Whether the match of a value that its source calls an estimate is `forecast`, and never `fresh`. */
  readonly estimatesAreForecasts: boolean;
  /** Whether bounds are combined from the parts with a source each (uncertainty.ts), or one half-width for the tier. */
  readonly combinesBounds: boolean;
  /** Whether measured energy is what somebody measured, and a provider's own estimate is none. */
  readonly measurementsOnly: boolean;
  /** The class below which no measured energy of an unknown model can be, by kind of model; null: nothing is too little. */
  readonly floorClasses: Readonly<Record<ModelFacts['kind'], ModelClass>> | null;
  /** Whether the modelled energy stands beside the measured one, and one too far from the other is not called plausible. */
  readonly statesModelled: boolean;
  /** Whether ranges that stand on their head, more active parameters than all, and weights below a bit are refused. */
  readonly refusesImpossible: boolean;
  /** The formula texts of the document. */
  readonly steps: Readonly<Record<string, Step>>;
}

/** A rule that a version does not have is absent, so that its document stays as it was published. */
type Rules = Pick<Methodology, 'idleShare' | 'chargesInput'> & {
  readonly liveIsMeasured?: true;
  readonly matchesStatedAge?: true;
  readonly ceilingClass?: ModelClass;
  readonly widensEstimates?: true;
  readonly measuresUncounted?: true;
  readonly boundsUncounted?: true;
  readonly statesGridBasis?: true;
  readonly estimatesAreForecasts?: true;
  readonly combinesBounds?: true;
  readonly measurementsOnly?: true;
  readonly floorClasses?: Readonly<Record<ModelFacts['kind'], ModelClass>>;
  readonly statesModelled?: true;
  readonly refusesImpossible?: true;
};

interface Content {
  readonly constants: object;
  readonly functions?: Readonly<Record<string, string>>;
  readonly steps: Readonly<Record<string, Step>>;
  /** From gw-1.4 on (document-tables.ts). */
  readonly tables?: object;
}

function methodology(id: MethodologyId, version: string, rules: Rules, content: Content): Methodology {
  const { constants, functions, steps, tables } = content;
  const document = JSON.stringify({ id, version, rules, constants, functions, steps, ...tables });
  const hash = sha256Of(document);
  const absent = {
    liveIsMeasured: false,
    matchesStatedAge: false,
    ceilingClass: null,
    widensEstimates: false,
    measuresUncounted: false,
    boundsUncounted: false,
    statesGridBasis: false,
    estimatesAreForecasts: false,
    combinesBounds: false,
    measurementsOnly: false,
    floorClasses: null,
    statesModelled: false,
    refusesImpossible: false,
  };
  return { id, version, hash, document, ...absent, ...rules, measures: 'telemetry' in constants, steps };
}

const shared = { uncertainty: literatureUncertainty, serving, embodied, standIns };
const executable: Content = {
  constants: { ...shared, prefill, telemetry: telemetryLimits },
  functions: functionTexts,
  steps: programs,
};
const rulesOf12 = {
  idleShare,
  chargesInput: true,
  liveIsMeasured: true,
  matchesStatedAge: true,
  ceilingClass: 'frontier',
} as const;

const rulesOf13 = { ...rulesOf12, widensEstimates: true, measuresUncounted: true } as const;
const contentOf13: Content = {
  ...executable,
  constants: { ...executable.constants, estimatedCounts, uncountedCalls },
  steps: { ...programs, ...countingPrograms },
};
/** Formulas that older versions credit to EcoLogits, though they hold a part of ours: idle, reading, an empty output. */
const partlyOurs = ['generation_latency', 'request_it_energy', 'request_embodied_gwp'];
const credited = Object.fromEntries(
  Object.entries(programs)
    .filter(([key]) => !isFormerBound(key))
    .map(([key, step]) => [key, partlyOurs.includes(key) ? { ...step, origin: 'gw' as const } : step]),
);
const stepsOf14 = { ...credited, ...boundPrograms };
const measuringOf14 = {
  boundsUncounted: true,
  measurementsOnly: true,
  floorClasses: { chat: 'small', embedding: 'embedding' },
  statesModelled: true,
  refusesImpossible: true,
} as const;

/**
 * Frozen: a published methodology is never changed or removed, so that every receipt can be recomputed with the one that
 * made it. A new constant or formula is a new entry; the tests pin each hash.
 */
const methodologies: Readonly<Record<MethodologyId, Methodology>> = {
  'gw-1.4': methodology(
    'gw-1.4',
    '1.4.0',
    { ...rulesOf13, ...measuringOf14, statesGridBasis: true, estimatesAreForecasts: true, combinesBounds: true },
    {
      constants: {
        ...{ serving, embodied, standIns, prefill, spreads, attention, worldWaterLPerKwh, gridEnds },
        ...{
          telemetry: { plausibleRatio: telemetryLimits.plausibleRatio },
          estimatedCounts,
          uncountedCalls,
          uncountedBounds,
          comparison,
          ...{ classFactors, classSpans, classEnds },
        },
      },
      functions: { ...functionTexts, ...combinedText, ...grammarText },
      steps: stepsOf14,
      tables: documentTables(stepsOf14, { ...rulesOf13, ...measuringOf14 }),
    },
  ),
  'gw-1.3': methodology('gw-1.3', '1.3.0', rulesOf13, contentOf13),
  'gw-1.2': methodology('gw-1.2', '1.2.0', rulesOf12, executable),
  'gw-1.1': methodology('gw-1.1', '1.1.0', { idleShare, chargesInput: true }, executable),
  'gw-1.0': methodology(
    'gw-1.0',
    '1.0.0',
    { idleShare, chargesInput: true },
    { constants: { ...shared, prefill }, steps: { ...decodeSteps, ...prefillSteps, ...requestSteps } },
  ),
  'ecologits-0.11.3': methodology(
    'ecologits-0.11.3',
    '0.11.3',
    { idleShare: null, chargesInput: false },
    { constants: shared, steps: { ...decodeSteps, ...requestSteps } },
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
