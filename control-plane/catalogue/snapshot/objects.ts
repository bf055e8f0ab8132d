/** Models and regions as a client sees them, made from the snapshot. */
import type { ModelObject, RegionObject } from '@gw/contract/catalogue';
import { offeredTargets, servesTarget } from '@gw/contract/internal/alias-targets';
import { gridReadingFor } from '@gw/contract/internal/grid-reading';
import type {
  Snapshot,
  SnapshotAlias,
  SnapshotDeployment,
  SnapshotGridReading,
  SnapshotModel,
  SnapshotRegion,
} from '@gw/contract/internal/snapshot';
import type { Receipt } from '@gw/contract/receipt';
import { gridProvenance } from '@gw/methodology/grid';
import { availableTiers, servesTelemetry } from '@gw/methodology/tier';
import type { TroubleOf } from './measured-trouble.ts';
import { regionStatus } from './region-status.ts';

/** The only models that an account can use; null means all. */
export type AllowedModels = readonly string[] | null;

const isAllowed = (allowed: AllowedModels, modelId: string): boolean => allowed === null || allowed.includes(modelId);

/** Returns the models and, behind them, the aliases that the account can use and that some region serves. */
export const modelObjects = (snapshot: Snapshot, allowed: AllowedModels): ModelObject[] => [
  ...plainModels(snapshot, allowed),
  ...snapshot.aliases.flatMap((alias) => (isAllowed(allowed, alias.id) ? (aliasObject(snapshot, alias) ?? []) : [])),
];

/** The names of both APIs whose clients list models. */
const named = (id: string, created: number) => ({
  id,
  object: 'model' as const,
  type: 'model' as const,
  display_name: id,
  created,
  created_at: new Date(created * 1000).toISOString(),
});

/** Nobody has made an alias but whoever runs the gateway. */
const ownerOfAliases = 'gw';

/** Returns null while nothing serves it, or if a start of the gateway has brought a model of that id. */
function aliasObject(snapshot: Snapshot, { created, id, targets }: SnapshotAlias): ModelObject | null {
  const offered = offeredTargets(snapshot.deployments, targets);
  const served = targets.flatMap((target, at) => {
    const model = snapshot.models.find((each) => each.id === target.model);
    const deployments = offered[at] ?? [];
    return model && deployments.length > 0 ? { model, deployments } : [];
  });
  const [first] = served;
  if (first === undefined || snapshot.models.some((model) => model.id === id)) return null;
  const windows = served.map(({ model }) => model.contextWindow);
  const regions = new Set(served.flatMap(({ deployments }) => deployments.map(({ region }) => region)));
  const tiers = new Set(served.flatMap(({ deployments, model }) => tiersOf(model, deployments)));
  return {
    ...named(id, created),
    owned_by: ownerOfAliases,
    kind: first.model.kind,
    context_window: windows.reduce((least, each) => (least === null || each === null ? null : Math.min(least, each))),
    modalities: first.model.modalities.filter((each) => served.every(({ model }) => model.modalities.includes(each))),
    regions: snapshot.regions.flatMap(({ code }) => (regions.has(code) ? code : [])),
    tiers: tierNames.filter((tier) => tiers.has(tier)),
    targets: targets.map(({ model, provider }) => ({ model, ...(provider !== undefined && { provider }) })),
  };
}

function plainModels(snapshot: Snapshot, allowed: AllowedModels): ModelObject[] {
  return snapshot.models.flatMap((model) => {
    const regions = regionsServing(snapshot, model.id);
    if (!isAllowed(allowed, model.id) || regions.length === 0) return [];
    return {
      ...named(model.id, model.created),
      owned_by: model.ownedBy,
      kind: model.kind,
      context_window: model.contextWindow,
      modalities: model.modalities,
      regions,
      tiers: tiersOf(model, snapshot.deployments.filter(servesTarget({ model: model.id }))),
    };
  });
}

const tierNames = ['proxy', 'parametric', 'telemetry'] as const satisfies ModelObject['tiers'];

/** Returns the tiers of receipts that a model has in the comprehensive boundary where these deployments serve it. */
function tiersOf(model: SnapshotModel, deployments: readonly SnapshotDeployment[]): ModelObject['tiers'] {
  const isMeasured = deployments.some(({ telemetry }) => servesTelemetry(telemetry, 'comprehensive'));
  return isMeasured ? [...availableTiers(model), 'telemetry'] : [...availableTiers(model)];
}

function regionsServing(snapshot: Snapshot, modelId: string): string[] {
  const codes = snapshot.deployments.filter((each) => Object.hasOwn(each.models, modelId)).map((each) => each.region);
  return snapshot.regions.filter((region) => codes.includes(region.code)).map((region) => region.code);
}

/** Shows a region with its carbon intensity (gCO2e/kWh) at `requestedAt`, null if it is not known. */
export function regionObject(
  snapshot: Snapshot,
  region: SnapshotRegion,
  allowed: AllowedModels,
  { requestedAt, troubleOf }: { readonly requestedAt: Date; readonly troubleOf: TroubleOf },
): RegionObject {
  const served = new Set(
    snapshot.deployments.filter((each) => each.region === region.code).flatMap((each) => Object.keys(each.models)),
  );
  return {
    code: region.code,
    object: 'region',
    name: region.name,
    country: region.country,
    grid_zone: region.gridZone,
    ...regionStatus(snapshot, region, troubleOf, (id) => isAllowed(allowed, id)),
    models: snapshot.models.map((model) => model.id).filter((id) => served.has(id) && isAllowed(allowed, id)),
    ...gridFields(gridReadingFor(snapshot, region.gridZone, requestedAt), requestedAt),
  };
}

type GridFields = Pick<
  Receipt,
  | 'grid_intensity_g_per_kwh'
  | 'grid_intensity_source'
  | 'grid_intensity_observed_at'
  | 'grid_intensity_requested_at'
  | 'grid_intensity_age_minutes'
  | 'grid_temporal_match'
>;

function gridFields(reading: SnapshotGridReading | null, requestedAt: Date): GridFields {
  const provenance = reading ? gridProvenance(reading, requestedAt.toISOString()) : null;
  return {
    grid_intensity_g_per_kwh: reading?.gPerKwh ?? null,
    grid_intensity_source: reading?.source ?? null,
    grid_intensity_observed_at: provenance?.observedAt ?? null,
    grid_intensity_requested_at: requestedAt.toISOString(),
    grid_intensity_age_minutes: provenance?.ageMinutes ?? null,
    grid_temporal_match: provenance?.temporalMatch ?? 'none',
  };
}
