/**
 * Completes the facts of a degraded receipt from what is known now.
 *
 * Invariant: what was known of a call stays. Only what was missing is taken from the catalogue, and the names of what
 * was taken are given back. The grid value is one for the time of the call. Who vouches for what was taken comes with it: the first
 * version still says who vouched for the rest.
 */
import type { SnapshotGridReading, SnapshotModel } from '@gw/contract/internal/snapshot';
import type { Receipt } from '@gw/contract/receipt';
import type { ModelFacts } from '@gw/methodology/assess';
import type { TelemetryRefusal } from '@gw/methodology/telemetry/reading';
import type { HeldCatalogue } from '../../catalogue/snapshot/keeper.ts';
import type { StoredFacts } from './revision.ts';

/** Returns the reading of a zone for a moment in the past, or null. Rejects if Postgres is away. */
export type ReadingAt = (zone: string, at: Date) => Promise<SnapshotGridReading | null>;

/** Facts of a call, with what was missing as far as it is known now. */
export interface Completion {
  readonly facts: StoredFacts;
  /** Names of what was taken from the catalogue, such as `model.activeParametersB`. */
  readonly completed: readonly string[];
}

const modelFields = [
  'activeParametersB',
  'totalParametersB',
  'modelClass',
  'quantizationBits',
  'tokensPerS',
  'ttftS',
] as const satisfies readonly (keyof ModelFacts)[];

/** Fills what the facts lack from the catalogue, and the grid value from the history. */
export async function completeFacts(
  facts: StoredFacts,
  receipt: Receipt,
  { snapshot }: Pick<HeldCatalogue, 'snapshot'>,
  readingAt: ReadingAt,
): Promise<Completion> {
  const current = snapshot.models.find(({ id }) => id === receipt.model);
  const missing =
    current === undefined ? [] : modelFields.filter((f) => facts.model[f] === null && current[f] !== null);
  const model = current === undefined ? facts.model : withTaken(facts.model, current, missing);
  const completed = missing.map((field) => `model.${field}`);
  if (facts.grid !== null) return { facts: { ...facts, model }, completed };
  const grid = await gridAt(receipt, snapshot.regions, readingAt);
  return { facts: { ...facts, model, grid }, completed: grid === null ? completed : [...completed, 'grid'] };
}

function withTaken(known: ModelFacts, current: SnapshotModel, missing: readonly (typeof modelFields)[number][]) {
  if (missing.length === 0) return known;
  const { entry: _, ...former } = known;
  const isSized = missing.includes('activeParametersB') || missing.includes('totalParametersB');
  return {
    ...former,
    ...Object.fromEntries(missing.map((field) => [field, current[field]])),
    ...(isSized && { parametersSource: current.parametersSource }),
    ...(current.entry && { entry: current.entry }),
  };
}

/** Tries the zone that the call was in, then the one that its region is in now, since the first one can be wrong. */
async function gridAt(
  { created_at, grid_zone, region }: Receipt,
  regions: HeldCatalogue['snapshot']['regions'],
  readingAt: ReadingAt,
): Promise<SnapshotGridReading | null> {
  const zones = [grid_zone, regions.find(({ code }) => code === region)?.gridZone ?? null];
  for (const zone of new Set(zones)) {
    const reading = zone === null ? null : await readingAt(zone, new Date(created_at));
    if (reading !== null) return reading;
  }
  return null;
}

/** The reading in the facts of a call whose counters gave no samples in time. */
export const nothingCounted: TelemetryRefusal = { source: 'gpu_counters', refused: 'no_samples', raw: null };

/** Returns the facts of a call whose counters are no longer waited for, so that no measured version is promised. */
export function unmeasured(facts: StoredFacts | null): StoredFacts | null {
  if (facts?.telemetryFollows !== true) return facts;
  const { telemetryFollows: _, ...known } = facts;
  return { ...known, telemetry: facts.telemetry ?? nothingCounted };
}

/**
 * Replaces the model and the deployment by what the catalogue says now, for facts that lack nothing and still cannot be
 * calculated with. Null if the catalogue says the same.
 */
export function replaceFacts(
  { completed: before, facts }: Completion,
  receipt: Receipt,
  { snapshot }: Pick<HeldCatalogue, 'snapshot'>,
): Completion | null {
  const id = 'id' in facts.site ? facts.site.id : null;
  const model = snapshot.models.find((each) => each.id === receipt.model) ?? facts.model;
  const site = snapshot.deployments.find((each) => each.id === id) ?? facts.site;
  const differs = (a: object, b: object): boolean => JSON.stringify(a) !== JSON.stringify(b);
  const replaced = [...(differs(model, facts.model) ? ['model'] : []), ...(differs(site, facts.site) ? ['site'] : [])];
  return replaced.length === 0 ? null : { facts: { ...facts, model, site }, completed: [...before, ...replaced] };
}
