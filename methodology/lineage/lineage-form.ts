/**
 * The form of a lineage, as it is served: plain JSON, with the field names of the receipt.
 *
 * Invariant: unknown is null; every number has its unit beside it, or at the end of its name.
 */

import type { Calculation } from '../choice/calculation.ts';
import type { Factor } from '../documents/named-factors.ts';
import type { Accelerators, CallFacts, GridReading, TemporalMatch } from '../facts/facts.ts';
import type { StatedBasis } from '../facts/grid.ts';
import type { StatedEnergy } from '../facts/telemetry/reading.ts';
import type { Impact } from '../generated/receipt.ts';
import type { GridFactors } from './grid-factors.ts';
import type { StatedCall } from './lineage-digest.ts';
import type { LineageSource } from './sources.ts';

export interface LineageInput {
  /** The name that formulas have for it, with `@min` or `@max` where it is an end of a range. */
  readonly name: string;
  readonly value: number | null;
  readonly unit: string;
  /** Whose fact it is (`sources`). */
  readonly source: string;
  /** Where in `facts` it stands; null: it follows from several facts. */
  readonly fact: string | null;
}

export interface LineageFactor extends Factor {
  readonly name: string;
}

export interface LineageStep {
  /** Ids that EcoLogits has are its own; `@low` and `@high` are the bounds, `@min` and `@max` the parameter range, `@modelled` a comparison. */
  readonly id: string;
  readonly formula: string;
  /** The same formula in the order of its evaluation; absent: the methodology's text is what is evaluated. */
  readonly evaluated_as?: string;
  readonly origin: string;
  /** Tells what each name in the formula stands for, in the order in which it has them first: the id of a step, or the name of an input or a factor. */
  readonly inputs: readonly string[];
  readonly output: { readonly value: number | null; readonly unit: string };
  /** Nine of ten cases lie between them; by EcoLogits' methodology they are scenarios. */
  readonly uncertainty?: {
    readonly low: number | null;
    readonly high: number | null;
    readonly basis: string;
  };
}

export interface LineageTelemetry {
  /** Whether the receipt's energy is this figure. */
  readonly used: boolean;
  readonly energy_source: 'provider_reported' | 'provider_estimated' | 'own_counters' | 'simulated';
  readonly source: string;
  readonly refused: string | null;
  readonly scope: string | null;
  readonly includes_pue: boolean | null;
  readonly duration_s: number | null;
  readonly attribution: string | null;
  readonly interval_s: number | null;
  readonly stated: StatedEnergy | null;
  readonly raw: unknown;
}

export interface LineageGrid extends GridFactors {
  readonly signal: GridReading['signal'];
  readonly stated_match: TemporalMatch | null;
  /** These three are absent by EcoLogits' methodology. */
  readonly basis?: StatedBasis;
  /** The year of a yearly value, else null. */
  readonly vintage?: number | null;
  /** Whether the source itself calls the value an estimate. */
  readonly is_estimated?: boolean;
}

/** Another methodology's numbers for a call. */
export interface BesideOurs
  extends Pick<Impact, 'methodology_version' | 'methodology_hash' | 'energy_wh' | 'carbon_g'> {
  /** Null in the narrow boundary, and where the factors of water are not known. */
  readonly water_ml: number | null;
}

export interface Lineage {
  readonly object: 'gw.lineage';
  readonly methodology: string;
  readonly methodology_version: string;
  readonly methodology_hash: string;
  /** Which call it is of; absent: the facts were assessed by themselves. */
  readonly call?: StatedCall;
  /** Everything that the numbers follow from, beside the methodology (stated-facts.ts). */
  readonly facts: CallFacts;
  readonly sources: readonly LineageSource[];
  readonly calculation: Calculation;
  readonly tier_reason: string;
  readonly boundary_excludes: readonly string[];
  /** Null where nobody counted the tokens of a measured call. */
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly energy_split: Impact['energy_split'];
  readonly uncertainty_basis: string;
  readonly grid: LineageGrid;
  readonly telemetry: LineageTelemetry | null;
  /** The deployment's accelerators; absent if it states none. The model is fitted to H100 and B200. */
  readonly accelerators?: Accelerators;
  /** Wh, modelled, of what was measured, to compare the two; absent: nothing was measured, or nothing of it can be modelled. */
  readonly modelled_energy_wh?: number;
  /** The numbers that EcoLogits' own methodology gives for the same facts; absent: the parameters are not known, or the energy was measured. */
  readonly ecologits?: BesideOurs;
  /** The provider was a simulator: the facts are made up, and the numbers follow from them; absent: it was none. */
  readonly simulated?: true;
  /** The facts that go into the steps, and the methodology's factors and those of the grid. */
  readonly inputs: readonly LineageInput[];
  readonly factors: readonly LineageFactor[];
  readonly steps: readonly LineageStep[];
  /** Over `call`, `facts` and `methodology_hash`, from which all of the above follows (lineage-digest.ts). */
  readonly digest: string;
}
