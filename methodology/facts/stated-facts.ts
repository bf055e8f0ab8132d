/**
 * The facts of a call as a lineage states them: what the calculation reads, and who vouches for it.
 *
 * Invariant: assessing the stated facts gives what the facts themselves give. What else a catalogue says of a model or a
 * deployment (addresses, names of credentials) is no fact of the calculation and is left out, so it is never shown.
 */
import type { CallFacts, GridReading, ModelFacts, SiteFacts } from './facts.ts';

type Fields<T> = Readonly<Record<keyof T, true>>;

const modelFields: Fields<ModelFacts> = {
  kind: true,
  activeParametersB: true,
  totalParametersB: true,
  modelClass: true,
  quantizationBits: true,
  tokensPerS: true,
  ttftS: true,
  parametersSource: true,
  entry: true,
};
const siteFields: Fields<SiteFacts> = {
  id: true,
  pue: true,
  wueOnsiteLPerKwh: true,
  accelerators: true,
  typicalConcurrency: true,
  pueEvidence: true,
  wueEvidence: true,
  entry: true,
  regionEntry: true,
};
const gridFields: Fields<GridReading> = {
  zone: true,
  gPerKwh: true,
  source: true,
  signal: true,
  periodStart: true,
  periodEnd: true,
  observedAt: true,
  temporalMatch: true,
  waterLPerKwh: true,
  basis: true,
  isEstimated: true,
  waterSource: true,
  fetchedAt: true,
  replySha256: true,
  edition: true,
};
const callFields: Fields<Omit<CallFacts, 'model' | 'site' | 'grid'>> = {
  requestedTier: true,
  boundary: true,
  requestedAt: true,
  usage: true,
  upstreamLatencyS: true,
  telemetry: true,
  isCutShort: true,
  failedAttemptsMostWh: true,
  telemetryFollows: true,
  simulated: true,
};

function picked<T extends object>(from: T, fields: object): T {
  return Object.fromEntries(
    Object.entries(from).filter(([name, value]) => Object.hasOwn(fields, name) && value !== undefined),
  ) as T;
}

export const statedModel = (model: ModelFacts): ModelFacts => picked(model, modelFields);

export function statedSite(site: SiteFacts): SiteFacts {
  const { accelerators, ...stated } = picked(site, siteFields);
  // Only these two: what else a catalogue says of them is as little a fact of the calculation.
  return accelerators ? { ...stated, accelerators: { model: accelerators.model, count: accelerators.count } } : stated;
}

export const statedGrid = (grid: GridReading | null): GridReading | null =>
  grid === null ? null : picked(grid, gridFields);

/** A call's own facts, without the parts that it shares with others. */
export const statedCallFacts = ({ model: _m, site: _s, grid: _g, ...own }: CallFacts) => picked(own, callFields);

export function statedFacts(facts: CallFacts): CallFacts {
  return {
    ...statedCallFacts(facts),
    model: statedModel(facts.model),
    site: statedSite(facts.site),
    grid: statedGrid(facts.grid),
  };
}
